"""Ends of a visit but completion: the words of each, and the studies in which it is possible.

A new one is an entry here, and the rule by which it comes about (`assignment.eligibility`, or where a visit ends).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from relstudy.studyapp.config.study_parts import Entry, Qualification, Question


class Rules(Protocol):
    """Of a study: what raters may fail, and how they may leave."""

    @property
    def screening(self) -> tuple[Question, ...]: ...
    @property
    def qualification(self) -> Qualification | None: ...
    @property
    def entry(self) -> Entry: ...
    @property
    def withdrawal(self) -> str: ...


@dataclass(frozen=True)
class Outcome:
    """An end of a visit.

    Parameters
    ----------
    name : in [entry.outcomes] of study.toml, in the database and in exports
    heading, text : of the last page; empty for who rated to the end, and sees the page of thanks
    admin : what the researcher's pages call it; empty where it is kept of nobody
    preview : what the preview calls the page of thanks
    possible : in which studies it is
    """

    name: str
    heading: str = ""
    text: str = ""
    admin: str = ""
    preview: str = ""
    possible: Callable[[Rules], bool] = lambda study: True

    @property
    def with_thanks(self) -> bool:
        """True where raters who end so may have rated, and are thanked."""
        return bool(self.preview)

    def texts(self) -> dict[str, str]:
        """Its texts of the interface by name.

        Examples
        --------
        >>> Outcome("asleep", preview="The end: nobody answered", admin="asleep").texts()
        {'preview.asleep': 'The end: nobody answered', 'admin.outcome.asleep': 'asleep'}
        """
        named = {
            f"{self.name}.heading": self.heading,
            f"{self.name}.text": self.text,
            f"preview.{self.name}": self.preview,
            f"admin.outcome.{self.name}": self.admin,
        }
        return {name: text for name, text in named.items() if text}


_ALL = (
    Outcome(
        "no_consent",
        "You are not taking part",
        "Nothing about you has been stored. Thank you for your interest.",
    ),
    Outcome(
        "screened_out",
        "Thank you for your interest",
        "This study needs people who answer its first questions differently. Your answers to them are not kept.",
        admin="screened out",
        possible=lambda study: bool(study.screening),
    ),
    Outcome(
        "failed_practice",
        "Thank you for trying",
        "In the practice fewer of your answers were as expected than this study needs, so it ends here for you.",
        admin="practice not passed",
        possible=lambda study: study.qualification is not None,
    ),
    Outcome(
        "failed_checks",
        admin="failed checks",
        preview="The end: attention checks failed",
        possible=lambda study: study.entry.failed_checks_allowed is not None,
    ),
    Outcome(
        "set_aside",
        "Your part has ended",
        "The people who run this study have ended your part in it. What you sent before is saved. Thank you.",
        admin="excluded",
    ),
    Outcome(
        "full",
        "The study is full",
        "This study has as many people or ratings as it needs. Thank you for your interest.",
        admin="nothing left to rate",
        preview="The end: nothing was left to rate",
    ),
    Outcome(
        "undecided",
        admin="too often undecided",
        preview="The end: too little was decided",
        possible=lambda study: bool(study.entry.code_needs_decided),
    ),
    Outcome(
        "withdrew",
        "You have withdrawn",
        "You get nothing more to rate. Thank you for your time.",
        admin="withdrew",
        possible=lambda study: bool(study.withdrawal),
    ),
    Outcome("paused", "The study is paused", "Please come back later; your ratings so far are saved."),
    Outcome("closed", "The study is closed", "This study takes no more ratings. Thank you for your interest."),
)
OUTCOMES = {outcome.name: outcome for outcome in _ALL}
