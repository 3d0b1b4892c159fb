"""A slider: any number between two ends, kept as given; without script a field for a number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.status import study_status
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made

SCALE = """
[scales.slider]
values = [0, 100]
continuous = true
labels = { 0 = "poor", 50 = "fair", 100 = "good" }
"""
SLIDER = TOML.replace('name = "base"\n', 'name = "base"\nscale = "slider"\n') + SCALE


def sent(browser: Browser, *answers: str | list[str]) -> None:
    """Send the page's form with an answer for each result."""
    form = browser.page.form(browser.address)
    fields = {f"rating-{number}": answer for number, answer in enumerate(answers, start=1)}
    browser.post(browser.address, {**form.fields, **fields})


def html_of(browser: Browser) -> str:
    """The page shown, as it came."""
    assert browser.response is not None
    return browser.response.text


@pytest.mark.slow
def test_numbers_between_the_ends_are_kept_and_anything_else_is_refused_with_what_was_typed(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(SLIDER)
    browser = joined(made.app)
    assert browser.address == "/rate/1"
    for wrong in ("101", "-1", "much", "1e1", "nan", ["40", "undecided"]):
        sent(browser, "12.5", "0", "100", wrong)
        assert browser.status == 422, wrong
        assert "This is not a value of the scale." in browser.page.text
        assert 'value="12.5"' in html_of(browser)
    sent(browser, "12.5", "0", "100", "")
    assert browser.status == 422 and "Please rate every result" in browser.page.text
    sent(browser, "12,5", ["", "undecided"], "100", ["0.333333333", ""])
    assert browser.address == "/rate/2"
    table = ratings_table(made.store, Study.load(made.folder)).sort_values("place")
    assert table["rating"].tolist()[0::2] == [12.5, 100]
    assert table["rating"].isna().tolist() == [False, True, False, False]
    assert table["rating"].iloc[3] == 0.333333
    assert table[["scale", "scale_low", "scale_high"]].drop_duplicates().to_numpy().tolist() == [["slider", 0, 100]]
    assert table["scale_step"].isna().all()
    counted = study_status(made.store, Study.load(made.folder)).blocks[0]
    assert counted.distribution == {"10": 2, "30": 0, "50": 0, "70": 0, "90": 1}
    browser.get("/rate/1")
    assert 'value="12.5"' in html_of(browser) and "Save the change" in browser.page.text


def test_a_page_never_holds_a_value_that_nobody_gave(make_study: Callable[..., Made]) -> None:
    browser = joined(make_study(SLIDER).app)
    assert html_of(browser).count('type="number"') == 4
    assert html_of(browser).count('inputmode="decimal"') == html_of(browser).count('value=""></div>') == 4
    assert 'type="range"' in html_of(browser) and 'type="range" value' not in html_of(browser)


@pytest.mark.slow
def test_practice_and_checks_on_a_slider_name_a_stretch_of_right_answers(make_study: Callable[..., Made]) -> None:
    known = '\n[[practice]]\nquery_id = "q0"\nresult_id = "q0"\nexpected = [60, 100]\n'
    browser = joined(make_study(SLIDER + known).app)
    sent(browser, "59.9")
    assert browser.address == "/practice/1" and "We would have answered differently" in browser.page.text
    assert "60 … 100 – good" in browser.page.text
    browser = joined(make_study(SLIDER + known).app)
    sent(browser, "60")
    assert "Your answer is one of those expected" in browser.page.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[0, 100]", "[0, 50, 100]"), "a continuous scale has its own name and two ends"),
        (("50 =", "101 ="), "a text for a value from 0 to 100 is allowed, not for 101"),
        (("[scales.slider]", "[scales.1-5]"), "a continuous scale has its own name"),
    ],
)
def test_a_slider_that_cannot_be_shown_is_refused(change: tuple[str, str], message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        Study.parse(SLIDER.replace(*change))


@pytest.mark.parametrize("expected", ["[60]", "[100, 60]", "[60, 101]", '["60", "100"]'])
def test_right_answers_that_are_no_stretch_of_the_slider_are_refused(expected: str) -> None:
    known = f'\n[[attention]]\nquery_id = "q0"\nresult_id = "q0"\nexpected = {expected}\n'
    with pytest.raises(RelstudyError, match="the lowest and the highest right answer are needed, within 0 to 100"):
        Study.parse(SLIDER + known)
