"""A rating page: what the rater sees of a page of their sequence."""

from __future__ import annotations

from collections.abc import Mapping

from relstudy.common.scales import show_value
from relstudy.studyapp.assignment.answers import read_answers
from relstudy.studyapp.assignment.sequence import Assignment, RaterPage, count_answered
from relstudy.studyapp.web import session
from relstudy.studyapp.web.rendering import choices, item_view
from relstudy.studyapp.web.site import Site, current_site
from relstudy.studyapp.web.views import RatingPage, ResultView


def build_rating_page(
    page: RaterPage,
    assignment: Assignment,
    chosen: Mapping[str, str],
    *,
    form: str = "",
    message: str = "",
    errors: Mapping[str, str] | None = None,
) -> RatingPage:
    """The page as its template is given it; `chosen` and `errors` are by pair."""
    here = current_site()
    rater = page.rater
    block = here.study.block(assignment.block)
    pairs = [here.catalogue.pairs[pair_id] for pair_id in assignment.pair_ids]
    query = here.items[pairs[0].query_id]
    earlier = assignment.answered_at is not None
    return RatingPage(
        number=assignment.position,
        total=max(assignment.position, here.planned_pages + rater.extra_pages),
        answered=_answered(page, assignment),
        practice=assignment.kind == "practice",
        paradigm=query.kind,
        question=block.question,
        scale=block.scale.name,
        choices=choices(block.scale),
        undecided=block.scale.undecided,
        query=item_view(query),
        results=tuple(
            ResultView(
                number,
                f"rating-{number}",
                item_view(here.items[pair.result_id]),
                chosen.get(pair.pair_id, ""),
                (errors or {}).get(pair.pair_id, ""),
            )
            for number, pair in enumerate(pairs, start=1)
        ),
        form=form or here.signer.form(session.name(rater), assignment.id),
        action=f"/rate/{assignment.position}",
        earlier=earlier,
        back=f"/rate/{assignment.position - 1}" if assignment.position > rater.locked_to + 1 else "",
        onward="/rate" if earlier else "",
        preload=_pictures(here, page.upcoming or []),
        message=message,
    )


def read_choices(assignment: Assignment) -> dict[str, str]:
    """What counts as the rater's answers on a page, by pair, as its buttons send them."""
    with current_site().store.read_one() as connection:
        answers = read_answers(connection, assignment)
    return {pair_id: "undecided" if value is None else show_value(value) for pair_id, value in answers.items()}


def _answered(page: RaterPage, assignment: Assignment) -> int:
    """How many pages the rater has answered."""
    if assignment.answered_at is None:
        return assignment.position - 1
    with current_site().store.read_one() as connection:
        return count_answered(connection, page.rater)


def _pictures(here: Site, pair_ids: list[str]) -> tuple[str, ...]:
    shown = [here.catalogue.pairs[pair_id] for pair_id in pair_ids]
    ids = [*(pair.query_id for pair in shown[:1]), *(pair.result_id for pair in shown)]
    return tuple(item_view(here.items[item_id]).url for item_id in ids if here.items[item_id].kind == "image")
