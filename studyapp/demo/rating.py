"""The panel rates: every simulated rater goes through the real pages, from the personal link to the completion code."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.common.pairs_table import read_pairs
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.collection.displayed import item_key
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.demo.panel import SimulatedPanel
from relstudy.studyapp.demo.server import serving
from relstudy.studyapp.demo.show import Stages
from relstudy.studyapp.demo.visit import Answer, visit_all


def rate(
    folder: Path, panel: SimulatedPanel, show: Stages, whom: Sequence[int] | None = None
) -> tuple[dict[str, int], int]:
    """The panel rates the last round through the real pages.

    Parameters
    ----------
    whom : indices of the raters who take part, who have not done so before; None for all

    Returns
    -------
    rater_id -> index in the panel, and how many ratings there were
    """
    whom = range(len(panel.raters)) if whom is None else whom
    study = Study.load(folder)
    pairs = read_pairs(folder / "pairs.csv")
    base = pairs["block"] == "base"
    per_pair = max(block.ratings_per_pair for block in study.blocks if block.unique)
    new = int((~base & (pairs["round"] == pairs["round"].max())).sum())
    expected = int(base.sum()) * len(whom) + new * per_pair
    command = f"relstudy invite {folder} -n {len(whom)}; relstudy serve {folder}"
    with (
        show.stage("The panel rates in the web app", command=command, units=expected) as stage,
        serving(folder) as address,
        contextlib.closing(_Database(folder)) as database,
    ):
        invitations = invite(database.store, study, len(whom))
        secret = read_secret(folder)
        items = {item_key(secret, item): item for item in panel.collection.query_ids}
        answers = [_answers(panel, index, items) for index in whom]
        ends = visit_all(address, [invitation.path for invitation in invitations], answers, stage.advance)
        unfinished = [
            invitation.rater_id
            for invitation, end in zip(invitations, ends, strict=True)
            if invitation.completion_code not in end
        ]
        if unfinished:
            raise RelstudyError(f"simulated rater {unfinished[0]} reached the end without a completion code")
        stage.outcome = f"{len(whom)} raters, {expected:,} ratings, each from consent to completion code"
    return {invitation.rater_id: index for index, invitation in zip(whom, invitations, strict=True)}, expected


class _Database:
    """The study's database, closed at the end."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.of_study(folder)

    def close(self) -> None:
        self.store.dispose()


def _answers(panel: SimulatedPanel, rater: int, items: dict[str, str]) -> Answer:
    def answer(query: str, result: str, offered: list[str]) -> str:
        values = [float(value) for value in offered if value != "undecided"]
        rating = panel.answer(rater, items[query], items[result], values)
        return "undecided" if rating is None else next(text for text in offered if text == f"{rating:g}")

    return answer
