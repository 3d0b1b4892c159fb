"""Raters under new numbers, in an order that only the study's secret gives."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable

import pandas as pd

from relstudy.common.errors import RelstudyError


class NewCodes:
    """New codes of raters: rater-01 and so on, the same each time, and not to be told from the old ones.

    Parameters
    ----------
    raters : their codes in the study
    secret : the study's own; who does not have it cannot compute the order

    Examples
    --------
    >>> codes = NewCodes(["RA", "RB"], b"secret")
    >>> sorted(codes.new.values())
    ['rater-1', 'rater-2']
    """

    def __init__(self, raters: Iterable[str], secret: bytes) -> None:
        def place(rater: str) -> bytes:
            return hmac.new(secret, b"archive:" + rater.encode(), hashlib.sha256).digest()

        ordered = sorted(set(raters), key=place)
        width = len(str(len(ordered)))
        self.new = {rater: f"rater-{number:0{width}d}" for number, rater in enumerate(ordered, start=1)}

    def renamed(self, table: pd.DataFrame, name: str) -> pd.DataFrame:
        """A table with the new codes, in the order of these: the order of its rows said who came first.

        Raises
        ------
        RelstudyError
            where it holds a rater whom the ratings do not: one who was removed since, or of another study
        """
        codes = table["rater_id"].astype("str")
        unknown = sorted(set(codes) - self.new.keys())
        if unknown:
            raise RelstudyError(
                f"{name}: rater {unknown[0]} is not among the ratings (removed since, or of another study); run "
                "`relstudy export` and `relstudy calibrate` again, then make the archive"
            )
        renamed = table.assign(rater_id=codes.map(self.new))
        order = [column for column in ("rater_id", "query_id", "result_id", "study_block") if column in renamed]
        return renamed.sort_values(order, kind="stable").reset_index(drop=True)

    def in_text(self, text: str) -> str:
        """A text (of a figure) with the new codes in place of the old ones."""
        if not self.new:
            return text
        names = "|".join(sorted(map(re.escape, self.new), key=len, reverse=True))
        return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda match: self.new[match[0]], text)
