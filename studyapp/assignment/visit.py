"""A rater's request while it is answered: what every step of handing out and taking in needs."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.raters import Rater
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block


@dataclass(frozen=True)
class Visit:
    """One rater at work on one study, inside one transaction.

    Parameters
    ----------
    connection : a transaction of `Store.write`
    study : the study
    catalogue : its pages and pairs
    rater : the rater, as read (and held) in this transaction
    now : the time, in seconds since 1970
    version : number of the version of the study; 0 where nobody counts
    """

    connection: Connection
    study: Study
    catalogue: Catalogue
    rater: Rater
    now: float
    version: int = 0

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that this rater is given."""
        return self.study.blocks_of(self.rater.rater_group)
