"""Practice: the result of a page, shown before the next; and of the whole, where raters have to qualify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import Blueprint, redirect
from flask.typing import ResponseReturnValue

from relstudy.common.tables.meaning.scales import Scale, show_value
from relstudy.studyapp.assignment.catalogue import PairRow
from relstudy.studyapp.assignment.eligibility import PracticeResult, begin_again
from relstudy.studyapp.assignment.next_page import open_attempt
from relstudy.studyapp.config.study_parts import NOT_SHOWN, Between
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rater.rating_page import Field, read_choices, with_words
from relstudy.studyapp.web.rater.steps import locked_visit, rater_of_form, rater_of_page
from relstudy.studyapp.web.rendering import item_view, show
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import AgainPage, Feedback, PracticePage

blueprint = Blueprint("practice", __name__)
NO_NUMBER = ("", "undecided", NOT_SHOWN)
"""Answers that are no value of a scale."""


@blueprint.get("/practice/<int(max=1000000):position>")
def practice(position: int) -> ResponseReturnValue:
    """The result of a practice page."""
    page = session.rater_page(position)
    if page is None:
        return redirect("/consent")
    assignment = page.assignment
    if assignment is None or assignment.kind != "practice" or assignment.answered_at is None:
        return redirect("/rate")
    if session.given_elsewhere(assignment):
        return redirect("/rate")
    return show("practice.html", feedback_page(page.shown, read_choices(assignment), "/rate"), page.rater)


def feedback_page(shown: Sequence[PairRow], chosen: Mapping[Field, str], onward: str) -> PracticePage:
    """The results of a practice page's answers.

    Parameters
    ----------
    shown : the pairs on the page
    chosen : what was answered, by field, as the page sends it
    onward : where the page leads
    """
    site = current_site()
    practice_pairs = known_pair_ids(site.study)
    feedback = []
    for pair in shown:
        entry = practice_pairs.get(pair.pair_id)
        if entry is None:
            continue
        block = site.study.block(entry.block)
        asked = [("", with_words(block), entry.expected)]
        for question in block.questions:
            if question.scale is not None and question.id in entry.also:
                asked.append((question.id, question.scale, entry.also[question.id]))
        item = item_view(site.items[entry.result_id])
        other = item_view(site.items[entry.other_id]) if entry.other_id else None
        for name, scale, values in asked:
            given = chosen.get((pair.pair_id, name), "")
            words = tuple(_in_words(scale, show_value(value)) for value in values)
            if isinstance(values, Between):
                words = (" … ".join(words),)
            is_right = given not in NO_NUMBER and float(given) in values
            about = block.question_called(name)
            what = entry.feedback if not name else about.text if about is not None else ""
            feedback.append(Feedback(item, _in_words(scale, given), words, is_right, what, other))
    query = item_view(site.items[shown[0].query_id])
    return PracticePage(query, tuple(feedback), onward)


@blueprint.get("/again")
def again() -> ResponseReturnValue:
    """The result of the practice, and another attempt."""
    rater = rater_of_page()
    with locked_visit(rater.id) as visit:
        result = open_attempt(visit)
    if result is None:
        return redirect("/rate")
    return show("again.html", again_page(result), rater)


def again_page(result: PracticeResult) -> AgainPage:
    """The result of the practice as a whole, and the number of attempts left."""
    texts = current_site().texts
    text = texts("again.text", right=result.right, total=result.total, needed=result.needed)
    return AgainPage(text, texts("again.left", attempts=result.attempts_left))


@blueprint.post("/again")
def begin_anew() -> ResponseReturnValue:
    """Begin the practice again, if there is another attempt, and go on to its first page."""
    rater = rater_of_form()
    with locked_visit(rater.id) as visit:
        if open_attempt(visit) is not None:
            begin_again(visit)
    return redirect("/rate", 303)


def _in_words(scale: Scale, chosen: str) -> str:
    """An answer as its button has it: the study's word for undecided, a value with its label."""
    if chosen in NO_NUMBER:
        return current_site().texts("rate.not_shown" if chosen == NOT_SHOWN else "rate.undecided")
    label = scale.labels.get(float(chosen), "")
    if scale.low < 0:  # a side, of which the number says nothing
        return label or chosen
    return f"{chosen} – {label}" if label else chosen
