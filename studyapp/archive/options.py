"""The choices behind an archive: where it goes, and what only a person can say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.errors import RelstudyError


def _day(text: str) -> str:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError:
        raise RelstudyError(f"a day is needed, such as 2026-01-31, not {text!r}") from None


def _described(texts: Sequence[str]) -> dict[str, str]:
    """The meaning of each column, from texts of the form NAME=MEANING."""
    meanings = {}
    for text in texts:
        name, equals, meaning = text.partition("=")
        if not (name.strip() and equals and meaning.strip()):
            raise RelstudyError(f'{text!r} is not understood; category="what is sold" would be right')
        meanings[name.strip()] = meaning.strip()
    return meanings


@dataclass(frozen=True, kw_only=True)
class ArchiveOptions(CommandOptions):
    """Options of `relstudy admin archive`."""

    output: Path | None = option(
        None, "A .zip file, or a folder that is new.", flags=("-o", "--out"), shown="FOLDER/study.zip"
    )
    authors: tuple[str, ...] = option(
        (), 'For the citation, as "Family, Given"; once for each.', flags=("--author",), metavar="TEXT"
    )
    licence: str = option("", "An SPDX name such as CC-BY-4.0, or an address.", flags=("--license",))
    url: str = option("", "Where the archive will be found.")
    date: str | None = option(None, "Date of publication.", metavar="YYYY-MM-DD", shown="today", read=_day)
    columns: Mapping[str, str] = option(
        dict,
        "Keep a column of your own tables, and what it means; once for each.",
        flags=("--column",),
        metavar="NAME=MEANING",
        read=_described,
    )

    @property
    def published(self) -> str:
        """Day of publication, today where none is stated."""
        return self.date or date.today().isoformat()

    def missing(self) -> list[str]:
        """The options that would say what Croissant requires and only a person can."""
        said = {"--license": self.licence, "--url": self.url, "--author": self.authors}
        return [name for name, value in said.items() if not value]
