"""Practice: how a page went, told before the next."""

from __future__ import annotations

from flask import Blueprint, redirect
from flask.typing import ResponseReturnValue

from studyapp import visitor
from studyapp.pages import Feedback, PracticePage
from studyapp.pairs import known_pair_ids
from studyapp.rating_page import chosen_before
from studyapp.show import item_view, show
from studyapp.site import site
from studyapp.study_parts import show_value

blueprint = Blueprint("practice", __name__)


@blueprint.get("/practice/<int(max=1000000):position>")
def practice(position: int) -> ResponseReturnValue:
    """How a practice page went."""
    held = visitor.held_page(position)
    if held is None:
        return redirect("/consent")
    assignment = held.assignment
    if assignment is None or assignment.kind != "practice" or assignment.answered_at is None:
        return redirect("/rate")
    here = site()
    with here.store.read() as connection:
        chosen = chosen_before(connection, assignment)
    known = known_pair_ids(here.study)
    feedback = []
    for pair_id in assignment.pair_ids:
        entry = known.get(pair_id)
        if entry is None:
            continue
        expected = tuple(map(show_value, entry.expected))
        item = item_view(here.items[entry.result_id])
        feedback.append(Feedback(item, chosen[pair_id], expected, chosen[pair_id] in expected, entry.feedback))
    query = item_view(here.items[here.catalogue.pairs[assignment.pair_ids[0]].query_id])
    return show("practice.html", PracticePage(query, tuple(feedback), "/rate"), held.rater)
