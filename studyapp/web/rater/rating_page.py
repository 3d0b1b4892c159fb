"""A rating page: what the rater sees of a page of their sequence."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from flask import request

from relstudy.common.tables.meaning.scales import Scale, show_value
from relstudy.studyapp.assignment.answers import read_answers
from relstudy.studyapp.assignment.catalogue import PairRow
from relstudy.studyapp.assignment.enrolment import Rater
from relstudy.studyapp.assignment.sequence import Assignment, RaterPage, count_answered
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.collection.kinds import PLAYED
from relstudy.studyapp.collection.markup import words_to_mark
from relstudy.studyapp.config.study_parts import NOT_SHOWN, Block, was_shown
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rater.expected_duration import seconds_per_page
from relstudy.studyapp.web.rendering import choices, item_view, rating_guide
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import FurtherView, ItemView, RatingPage, ResultView

Field = tuple[str, str]
"""A field of the page: a pair, and the id of a further question, empty for the block's own."""


def build_rating_page(
    page: RaterPage,
    assignment: Assignment,
    chosen: Mapping[Field, str],
    *,
    form: str = "",
    message: str = "",
    errors: Mapping[Field, str] | None = None,
) -> RatingPage:
    """The page as its template is given it; `chosen` (what the fields hold) and `errors` are by field."""
    site = current_site()
    served, rater = site.served, page.rater
    items = served.version.items
    block = site.study.block(assignment.block)
    problems = errors or {}
    query = items[page.shown[0].query_id]
    marked = words_to_mark(query.title or query.text) if block.highlight == "query" and query.kind == "text" else ()
    earlier = assignment.answered_at is not None
    upcoming = _files(items, page.upcoming)
    return RatingPage(
        number=assignment.position,
        total=max(assignment.position, served.planned_pages(rater.rater_group) + rater.extra_pages),
        answered=_answered(page, assignment),
        pace=seconds_per_page(),
        practice=assignment.kind == "practice",
        question=block.question,
        choices=choices(with_words(block)),
        undecided=block.scale.undecided,
        query=item_view(query),
        results=tuple(
            ResultView(
                number,
                f"rating-{number}",
                _shown(items, (sides := pair.sides(rater.seed))[0], marked),
                chosen.get((pair.pair_id, ""), ""),
                problems.get((pair.pair_id, ""), ""),
                tuple(
                    FurtherView(
                        f"rating-{number}-{question.id}",
                        question.text,
                        () if question.scale is None else choices(question.scale),
                        question.scale is not None and question.scale.undecided,
                        question.required,
                        chosen.get((pair.pair_id, question.id), ""),
                        problems.get((pair.pair_id, question.id), ""),
                    )
                    for question in block.questions
                ),
                None if len(sides) < 2 else _shown(items, sides[1], marked),
            )
            for number, pair in enumerate(page.shown, start=1)
        ),
        form=form or site.signer.form(session.name(rater), assignment.id, asked_on(assignment.block, page.shown)),
        action=f"/rate/{assignment.position}",
        earlier=earlier,
        back=f"/rate/{assignment.position - 1}" if _may_go_back(assignment, rater) else "",
        onward="/rate" if earlier else "",
        preload=tuple([url for url, is_played in upcoming if not is_played]),
        preload_media=tuple([url for url, is_played in upcoming if is_played]),
        message=message,
        not_shown=block.not_shown,
        played=block.played,
        examples=() if block.is_comparison else rating_guide([block.scale]),
    )


def _shown(items: DisplayedItems, item_id: str, marked: tuple[str, ...]) -> ItemView:
    """A result, or a list with the results in it."""
    view = item_view(items[item_id], marked)
    members = tuple(item_view(items[name], marked) for name in items[item_id].members)
    return replace(view, members=members) if members else view


def with_words(block: Block) -> Scale:
    """The scale of a block; the answers to which of two is better in the words of the page's language."""
    texts, scale = current_site().texts, block.scale
    names = ("which.left", "which.equal", "which.right")
    return (
        replace(scale, labels=dict(zip(scale.values, map(texts, names), strict=True))) if block.is_comparison else scale
    )


def _may_go_back(assignment: Assignment, rater: Rater) -> bool:
    return assignment.position > rater.locked_to + 1 and session.has_given()


def can_be_shown(block_name: str, pairs: Sequence[PairRow]) -> bool:
    """True if the study still has what a page asks: of an answered one, its block and its items may be gone."""
    version = current_site().served.version
    has_items = all(version.items.by_id.keys() >= set(version.items.whole(pair.item_ids)) for pair in pairs)
    return has_items and any(block.name == block_name for block in version.study.blocks)


def asked_on(block_name: str, pairs: Sequence[PairRow]) -> str:
    """Short mark of a page's question: a form holds for it as long as it is the same, in whichever version of the
    study.

    "3-1f0c9a2b77aa" is the third version, and a hash of query, results, question and scale.
    """
    site = current_site()
    version = site.served.version
    block = version.study.block(block_name)
    looks = [version.items[item_id].look for pair in pairs for item_id in version.items.whole(pair.item_ids)]
    words = [block.question, repr(block.scale.values), repr(block.scale.labels), str(block.scale.undecided)]
    words += ["slider"] if block.scale.continuous else []
    words += [repr(block.questions)] if block.questions else []
    words += [block.highlight, block.played] if (block.highlight, block.played) != ("no", "any") else []
    asked = "\x1f".join([*(pair.pair_id for pair in pairs), *looks, *words])
    keyed = hmac.digest(site.secret, b"asked:" + asked.encode(), "sha256")  # so that no page can be told by it
    return f"{version.number}-{keyed.hex()[:12]}"


def read_choices(assignment: Assignment) -> dict[Field, str]:
    """The rater's answers on a page that count, as its fields send them."""
    with current_site().store.read_one() as connection:
        answers, further = read_answers(connection, assignment)
    choices = {(pair_id, ""): _as_sent(value) for pair_id, value in answers.items()}
    for pair_id, given in further.items():
        if not was_shown(given):
            choices[pair_id, ""] = NOT_SHOWN
        choices |= {(pair_id, name): _as_sent(value) for name, value in given.items() if name != NOT_SHOWN}
    return choices


def _as_sent(value: float | str | None) -> str:
    return value if isinstance(value, str) else "undecided" if value is None else show_value(value)


def _answered(page: RaterPage, assignment: Assignment) -> int:
    """Number of pages that the rater has answered."""
    if assignment.answered_at is None:
        return assignment.position - 1
    with current_site().store.read_one() as connection:
        return count_answered(connection, page.rater)


def _files(items: DisplayedItems, pairs: Iterable[PairRow]) -> list[tuple[str, bool]]:
    """The address of each file that some pairs show, and whether it is a sound or a film."""
    shown = [items[name] for name in items.whole(each for pair in pairs for each in pair.item_ids)]
    root = request.script_root
    return [(root + item_view(item).url, item.kind in PLAYED) for item in shown if item.path]
