"""Two results side by side: by keyboard, on a phone, right to left, without barriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from relstudy.studyapp.assignment.synchronisation import prepare
from tests.browser.sessions import PLAIN, Rater, Served
from tests.browser.test_accessible import Tour

WHICH = """
[study]
id = "which"
title = "Pictures"
LANGUAGE

[entry]
rules = ["personal"]

[[blocks]]
name = "which"
pairs = "base"
ask = "which"
"""
LOOKS: list[Any] = [("light", (1280, 900), "en"), ("dark", (360, 740), "en"), ("light", (360, 740), "ar")]


def with_couples(served: Served) -> None:
    """Put two couples of pictures and one of a picture and a text into the study."""
    file = served.folder / "pairs.csv"
    head = "pair_id,query_id,result_id,other_id,paradigm,source,inclusion_probability,block\n"
    rows = ["c0,q0,r0,r1,image,a,0.5,base", "c1,q1,r2,r3,image,a,0.5,base", "c2,w1,r0,essay,text,a,0.5,base"]
    file.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    prepare(served.folder, served.store)


@pytest.mark.parametrize(("scheme", "size", "code"), LOOKS, ids=str)
def test_couples_are_compared_by_keyboard_without_barriers(
    serve_study: Callable[..., Served],
    new_page: Callable[..., Page],
    scheme: str,
    size: tuple[int, int],
    code: str,
) -> None:
    served = serve_study(WHICH.replace("LANGUAGE", f'language = "{code}"'))
    with_couples(served)
    page = new_page(*size, color_scheme=scheme, reduced_motion="reduce")
    tour, rater = Tour(page), Rater(page, served.names)
    rater.enter(served.link())
    shown = {}
    for key, answer in (("1", -1), ("2", 0), ("3", 1)):
        tour.look(key)
        boxes = [box.bounding_box() for box in page.locator(".couple > div").all()]
        left, right = (box for box in boxes if box is not None)
        assert left["x"] + left["width"] <= right["x"] and abs(left["y"] - right["y"]) < 1
        name = served.names[page.locator(".couple [data-item]").first.get_attribute("data-item") or ""]
        shown[name] = answer
        first, last = (page.locator(f".scale input[value='{value}']").bounding_box() for value in ("-1", "1"))
        assert first is not None and last is not None and first["x"] < last["x"]
        page.keyboard.press(key)
        before = page.url
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, before=before: url != before)
    table = served.export()
    assert dict(zip(table["left"], table["rating"], strict=True)) == shown
    assert tour.found == []


def test_a_study_of_ratings_has_no_couple_on_any_page(serve_study: Callable[..., Served]) -> None:
    served = serve_study(PLAIN)
    assert "other_id" not in served.export()
