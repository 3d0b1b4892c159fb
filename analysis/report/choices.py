"""The choices of a study's page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageChoices:
    """Choices of a study's page beside its figures.

    Parameters
    ----------
    by : a column of the judgments or the pairs whose values are also scored apart, such as paradigm
    with_pictures : whether thumbnails of the collection's pictures are put into the page

    Examples
    --------
    >>> PageChoices(by="paradigm").as_arguments()
    ['--by', 'paradigm']
    """

    by: str | None = None
    with_pictures: bool = True

    def as_arguments(self) -> list[str]:
        """The words of a command line that choose the same; none for what is so by default."""
        return [
            *([] if self.with_pictures else ["--no-pictures"]),
            *([] if self.by is None else ["--by", self.by]),
        ]
