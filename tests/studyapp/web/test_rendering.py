"""What all studies of a process share when pages are rendered, and what is each study's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from jinja2 import Environment

from tests.studyapp.studies import TOML, Made


@pytest.mark.slow
def test_a_template_is_compiled_once_for_all_studies_and_each_has_its_own_words(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_local(), make_local(TOML.replace("A test study", "Another one"))
    assert "A test study" in first.app.test_client().get("/consent").text
    monkeypatch.setattr(Environment, "compile", lambda *_: pytest.fail("compiled again"))
    page = second.app.test_client().get("/consent").text
    assert "Another one" in page and "A test study" not in page


def test_texts_that_are_compiled_into_a_template_are_those_of_the_study_and_escaped(
    make_local: Callable[..., Made],
) -> None:
    plain, own = make_local(), make_local(TOML + '[texts]\n"page.skip" = "Zum <Inhalt>"\n')
    pages = [made.app.test_client().get("/consent").text for made in (plain, own, plain)]
    assert ["Zum &lt;Inhalt&gt;" in page for page in pages] == [False, True, False]
    assert ["Skip to" in page for page in pages] == [True, False, True]
