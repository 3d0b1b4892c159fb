"""Judgments of several interfaces in one table, on the scale of the first, those of couples by the pairs also rated."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.linking.link import ScaleLink, link_scales
from relstudy.calibration.tables.drawn_pairs import with_design
from relstudy.calibration.tables.judgments import COLUMNS, Judgments, write_judgments
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import file_names
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.table_files import pair_keys
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR, PROBABILITIES
from relstudy.mapping.scored_pairs import FitSettings

SAME = 1e-9

ODDS = "log_odds"
"""Column of judgments that have mean 0 in every query, as `relstudy calibrate preferences` writes them."""


@dataclass(frozen=True, eq=False)
class Joined:
    """Result of joining.

    Parameters
    ----------
    judgments : one row per pair, in the order of the tables; `interface` names the table a judgment is from, and
        `judgment_given` is what it was there. A pair that several have judged keeps the first's
    links : interface -> its link to the first
    notes : what a person should know, one sentence each
    """

    judgments: Judgments
    links: dict[str, ScaleLink]
    notes: tuple[str, ...]

    def write(self, folder: Path) -> list[Path]:
        """Write judgments.csv, and each map to the first scale as NAME.json; gives the files."""
        files = map_files(folder, self.links)
        write_judgments(self.judgments, folder / "judgments.csv")
        for name, link in self.links.items():
            link.mapping.write(files[name])
        return [folder / "judgments.csv", *files.values()]

    def as_json(self) -> dict[str, Any]:
        """As plain JSON, without the judgments."""
        return {
            "scale": self.judgments.scale.as_json(),
            "pairs": len(self.judgments),
            "links": {name: link.as_json() for name, link in self.links.items()},
            "notes": list(self.notes),
        }


def map_files(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """The file in `folder` of each scale's map to the first, by the scale's name."""
    return {name: folder / f"{file}.json" for name, file in file_names(list(names)).items()}


def join_judgments(
    tables: Mapping[str, Judgments],
    pairs: str | os.PathLike[str] | Checked | None = None,
    settings: FitSettings | None = None,
    progress: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> Joined:
    """Map every table's judgments to the scale of the first, and put them in one table.

    A mapped judgment is what one expects on the first scale of a pair judged so on its own; its standard error is the
    root mean squared error out of fold, which counts the noise of the first table's judgments too and so is on the safe
    side. Its `relevant_share` is mapped likewise.

    Parameters
    ----------
    tables : interface -> judgments, at least two; the first gives the scale
    pairs : the pairs table that all of them were drawn by, for inclusion probabilities; without it those of the tables
        are kept where the tables agree on every common pair, and else left empty, because a pair's chance of being
        judged at all then takes both designs
    settings : folds and seed of the maps
    progress : wraps the names of the tables to map, to show how far it is

    Raises
    ------
    RelstudyError
        if there is one table only, or two share too few pairs
    """
    if len(tables) < 2:
        raise RelstudyError("joining takes judgments on two scales or more, and there is one table")
    first_name, *others = tables
    first = tables[first_name]
    # judgments of couples compare results of one query; the queries' levels come from the first table
    tables = {
        name: with_levels(first, each) if name != first_name and ODDS in each.frame else each
        for name, each in tables.items()
    }
    links = {name: link_scales(first, tables[name], (first_name, name), settings) for name in progress(others)}
    frames = [_plain(first, first_name).assign(judgment_given=first.frame["judgment"].to_numpy())]
    frames += [_mapped(_plain(tables[name], name), link, first) for name, link in links.items()]
    stacked = pd.concat(frames, ignore_index=True)
    # where no table says it, an empty column would be read back as text
    stacked = stacked.drop(
        columns=[n for n in ("relevant_share", "relevance_cut") if n in stacked and stacked[n].isna().all()]
    )
    frame = stacked[~stacked.duplicated(PAIR)].reset_index(drop=True).assign(**first.scale.scale.columns())
    judgments = Judgments(frame, first.scale)
    if pairs is not None:
        judgments, drawn = with_design(judgments, pairs)
        notes = [drawn.response.sentence(), judgments.probability_note()]
    elif apart := _designs_apart(tables):
        judgments = replace(judgments, frame=frame.drop(columns=[n for n in PROBABILITIES if n in frame]))
        notes = [apart]
    else:
        notes = [judgments.probability_note()]
    repeated = len(stacked) - len(frame)
    counts = frame["interface"].value_counts()
    notes.append(f"{repeated} judgments of pairs that an earlier table holds are left out" if repeated else None)
    notes.append("judgments by table: " + ", ".join(f"{name} {counts.get(name, 0)}" for name in tables))
    of_tables = [f"{name}: {note}" for name, each in tables.items() for note in each.all_notes]
    return Joined(judgments, links, (*of_tables, *(note for note in notes if note is not None)))


def _plain(judgments: Judgments, name: str) -> pd.DataFrame:
    kept = [column for column in (*COLUMNS, "paradigm") if column in judgments.frame]
    return judgments.frame[kept].assign(interface=name).reset_index(drop=True)


def _mapped(frame: pd.DataFrame, link: ScaleLink, first: Judgments) -> pd.DataFrame:
    given = frame["judgment"].to_numpy(dtype=float)
    return frame.assign(
        judgment=link.mapping.predict(given),
        judgment_given=given,
        standard_error=link.error.value,
        relevant_share=np.nan if link.relevant is None else link.relevant.predict(given),
        relevance_cut=first.frame["relevance_cut"].iloc[0] if "relevance_cut" in first.frame else np.nan,
    )


def _designs_apart(tables: Mapping[str, Judgments]) -> str | None:
    """The reason why the tables' inclusion probabilities are not those of the joined table; None where they are."""
    (first_name, first), *others = tables.items()
    probabilities = pd.Series(first.probability, pair_keys(first.frame))
    for name, other in others:
        beside = pd.DataFrame({"one": probabilities, "other": pd.Series(other.probability, pair_keys(other.frame))})
        common = beside.loc[probabilities.index.intersection(pair_keys(other.frame))]
        differing = int((~np.isclose(common["one"], common["other"], rtol=SAME, atol=0, equal_nan=True)).sum())
        if differing:
            return (
                f"inclusion probabilities are left empty: {first_name} and {name} have different ones for {differing} "
                f"of {len(common)} common pairs, and a pair's chance to be judged in either takes both designs; where "
                f"all were drawn as one, {option('pairs', 'pairs.csv')} gives them"
            )
    return None


def with_levels(first: Judgments, other: Judgments) -> Judgments:
    """Judgments of couples on a straight line to the first table's scale, each query at its own level.

    A rating is level + slope * log odds: the slope is that within queries, and the level of a query the mean of what is
    left, drawn towards the mean of all levels as far as so few pairs make it uncertain. The level of a pair that is in
    both tables is made without its own rating, so that these pairs can still tell how well the way works.
    """
    odds = other.frame[ODDS].to_numpy(dtype=float)
    rated = other.frame[PAIR].merge(first.frame[[*PAIR, "judgment"]], on=PAIR, how="left")["judgment"].to_numpy(float)
    query, names = pd.factorize(other.frame["query_id"])
    common = np.isfinite(rated)
    x, y, q = odds[common], rated[common], query[common]
    count = np.bincount(q, minlength=len(names)).astype(float)
    at_least = np.maximum(count, 1)

    def within(values: np.ndarray) -> np.ndarray:
        return np.asarray(values - (np.bincount(q, values, len(names)) / at_least)[q])

    length = float(within(x) @ within(x))
    slope = float(within(x) @ within(y)) / length if length > 0 else 0.0
    left = y - slope * x
    freedom = max(len(y) - int((count > 0).sum()) - 1, 1)
    noise = float(within(left) @ within(left)) / freedom
    mean = float(left.mean()) if len(left) else 0.0
    sums = np.bincount(q, left - mean, len(names))
    spread = max(float(np.sum(sums**2 - count * noise)) / max(float(np.sum(count**2)), 1.0), 0.0)

    def level(total: np.ndarray, number: np.ndarray) -> np.ndarray:
        share = spread / np.maximum(number * spread + noise, 1e-12)
        return np.asarray(mean + share * total)

    residual = np.zeros(len(odds))
    residual[common] = left - mean
    judgment = level(sums[query] - residual, count[query] - common) + slope * odds
    return replace(other, frame=other.frame.assign(judgment=judgment), scale=first.scale)
