"""Two results side by side: by keyboard, on a phone, right to left, without barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


OF_PICTURES = ("c0,q0,r0,r1,image,a,0.5,base", "c1,q1,r2,r3,image,a,0.5,base")
WITH_A_TEXT = "c2,w1,r0,essay,text,a,0.5,base"


def with_couples(served: Served, rows: Sequence[str] = (*OF_PICTURES, WITH_A_TEXT)) -> None:
    """Put these couples into the study."""
    file = served.folder / "pairs.csv"
    head = "pair_id,query_id,result_id,other_id,paradigm,source,inclusion_probability,block\n"
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


def test_each_picture_of_a_couple_is_shown_large_under_the_name_of_its_own_side(
    serve_study: Callable[..., Served], new_page: Callable[..., Page]
) -> None:
    served = serve_study(WHICH.replace("LANGUAGE", ""))
    with_couples(served, OF_PICTURES)
    page = new_page()
    Rater(page, served.names).enter(served.link())
    for place, side in enumerate(("Left", "Right")):
        page.locator(".couple [data-enlarge]").nth(place).click()
        assert page.locator("dialog figcaption").last.text_content() == side
        page.keyboard.press("Escape")


@pytest.mark.parametrize(("scheme", "size", "code"), LOOKS[::2], ids=str)
def test_whole_lists_stand_side_by_side_in_their_order_without_barriers(
    serve_study: Callable[..., Served], new_page: Callable[..., Page], scheme: str, size: tuple[int, int], code: str
) -> None:
    served = serve_study(WHICH.replace("LANGUAGE", f'language = "{code}"').replace('"which"', '"which-list"'))
    lists = {"A": ("q0", "r0 r1 r2"), "B": ("q0", "r2 r0 r3"), "C": ("w1", "r0 essay r1"), "D": ("w1", "essay r3 r2")}
    rows = [
        f"{name},{query},s{name},{rank},{result}"
        for name, (query, results) in lists.items()
        for rank, result in enumerate(results.split(), start=1)
    ]
    (served.folder / "lists.csv").write_text("\n".join(["list_id,query_id,system,rank,result_id", *rows]) + "\n")
    head = "pair_id,query_id,result_id,other_id,paradigm,source,inclusion_probability,block\n"
    couples = "l0,q0,A,B,image,sA;sB,0.5,base\nl1,w1,C,D,text,sC;sD,0.5,base\n"
    (served.folder / "pairs.csv").write_text(head + couples, encoding="utf-8")
    prepare(served.folder, served.store)
    page = new_page(*size, color_scheme=scheme, reduced_motion="reduce")
    tour, rater = Tour(page), Rater(page, served.names)
    rater.enter(served.link())
    for key in ("1", "3"):
        tour.look(key)
        columns = page.locator(".whole-list").all()
        left, right = (column.bounding_box() or {} for column in columns)
        assert left["x"] + left["width"] <= right["x"] and abs(left["y"] - right["y"]) < 1
        keys = [
            [each.get_attribute("data-item") for each in column.locator("li [data-item]").all()] for column in columns
        ]
        shown = [[served.names[key or ""] for key in of_column] for of_column in keys]
        assert all(" ".join(results) in {text for _, text in lists.values()} for results in shown)
        page.keyboard.press(key)
        before = page.url
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, before=before: url != before)
    assert served.export()["rating"].tolist() == [-1, 1]
    assert tour.found == []


def test_a_study_of_ratings_has_no_couple_on_any_page(serve_study: Callable[..., Served]) -> None:
    served = serve_study(PLAIN)
    assert "other_id" not in served.export()
