"""Inputs of the paper's page: the study's queries by image and by text apart, and other interfaces' ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.report.inputs import PageTables
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.scoring.groups import Grouping
from relstudy.analysis.verdict.within_groups import groups_of_run
from relstudy.calibration.tables.ratings import Ratings, read_ratings
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

PARADIGM, IMAGE, TEXT = "paradigm", "image", "text"


def paper_study(
    run: ScoringRun,
    tables: PageTables,
    others: Sequence[Path] = (),
    author: str | None = None,
    with_pictures: bool = True,
) -> PaperStudy:
    """The study as the paper's tables take it: queries by image, with those by text apart where both were asked.

    Each paradigm is mapped and scored on its own pairs alone, as in the paper, whose tables 5.3 to 5.10 are of queries
    by image.

    Parameters
    ----------
    others, author, with_pictures : as `interfaces_of` and `PaperStudy` take them

    Raises
    ------
    RelstudyError
        where one of the other folders has no calibrated.csv
    """
    interfaces = interfaces_of(tables, others)
    column = tables.pair_column(PARADIGM)
    asked = set() if column is None else set(column)
    if column is None or not {IMAGE, TEXT} <= asked:
        return PaperStudy(tables, run.result, interfaces, author, with_pictures)
    within = run.within
    if within is None or (within.column, within.apart) != (PARADIGM, True):
        within = groups_of_run(run.pairs, run.candidates, Grouping(PARADIGM, column, apart=True), run.result)
    if IMAGE not in within.results:
        return PaperStudy(tables, within.results[TEXT], interfaces, author, with_pictures, TEXT)
    by_text = None
    if TEXT in within.results:
        by_text = PaperStudy(tables, within.results[TEXT], interfaces, author, with_pictures, TEXT)
    return PaperStudy(tables, within.results[IMAGE], interfaces, author, with_pictures, IMAGE, by_text)


def interfaces_of(tables: PageTables, others: Sequence[Path] = ()) -> dict[str, Ratings]:
    """Calibrated ratings by interface: the study's own, apart by image and text queries, then those of other folders.

    Parameters
    ----------
    others : folders that `relstudy calibrate` wrote for other interfaces, each with calibrated.csv

    Raises
    ------
    RelstudyError
        where one of the folders has none
    """
    named: list[tuple[str, Ratings]] = []
    if tables.ratings is not None:
        named += _by_paradigm(tables.ratings, tables.pairs)
    for folder in others:
        file = folder / "calibrated.csv"
        if not file.is_file():
            raise RelstudyError(f"{file}: file not found; `relstudy calibrate` of that interface writes it")
        ratings = read_ratings(file, trust_raters=True)
        ratings.frame["calibrated"] = pd.to_numeric(ratings.frame["calibrated"], errors="coerce")
        scale = ratings.scale.scale.name
        prefix = "" if folder.name == scale else f"{folder.name}, "
        named += [(prefix + name, part) for name, part in _by_paradigm(ratings, tables.pairs)]
    return _apart(named)


def _by_paradigm(ratings: Ratings, pairs: pd.DataFrame | None) -> list[tuple[str, Ratings]]:
    scale = ratings.scale.scale.name
    if pairs is None:
        return [(scale, ratings)]
    paradigm = ratings.frame[PAIR].merge(pairs.drop_duplicates(PAIR)[[*PAIR, "paradigm"]], on=PAIR, how="left")
    words = paradigm["paradigm"].fillna("").to_numpy()
    paradigms = [word for word in ("image", "text") if (words == word).any()]
    if not paradigms:
        return [(scale, ratings)]
    return [
        (f"query by {word}, {scale}", replace(ratings, frame=ratings.frame[words == word].reset_index(drop=True)))
        for word in paradigms
    ]


def _apart(named: Sequence[tuple[str, Ratings]]) -> dict[str, Ratings]:
    apart: dict[str, Ratings] = {}
    for name, ratings in named:
        number = 1
        while (unused := name if number == 1 else f"{name} ({number})") in apart:
            number += 1
        apart[unused] = ratings
    return apart
