"""Does what is said of two systems depend on who else is scored? Every subset of a study's systems, by the verdict.

    python evidence/company.py data/example demo

Two systems alone have the paired interval of their difference: where it does not hold 0, one is ahead and the other is
out. Among more, a system is out where its largest lag is beyond what chance makes of the largest of several. Printed is
each two of which one is ahead alone and the other is of the best set all the same in some subset that holds both, with
how far they are apart in standard errors (t), how far they have to be alone, and by Bonferroni among all rivals.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import special

import relstudy as rs
from relstudy.analysis.resampling.best_set import PairedStatistics, ranks_of
from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.common.runtime.console import print_table


@dataclass(frozen=True)
class Company:
    """What every subset of some systems says of the best.

    Parameters
    ----------
    subsets : how many there are of two systems or more
    turned : two systems of which the first is ahead alone, and in how many subsets with both the second may be the best
    """

    subsets: int
    turned: dict[tuple[str, str], int]


def paired_of(result: ScoreResult) -> PairedStatistics:
    """The differences of every two systems in the index that decides, as the verdict takes them.

    Raises
    ------
    ValueError
        where some score pairs that others do not: their differences rest on the pairs that both score
    """
    if any(each.coverage.scored < each.coverage.judged for each in result.systems):
        raise ValueError("every system must score every judged pair")
    index = result.primary.index
    figures = [each.figures[index.name] for each in result.systems]
    differences = [(one - other).over_raters() for one, other in combinations(figures, 2)]
    queries = len(set(result.query_id))
    spreads = [each.spread(DIFFERENCE, queries) for each in differences]
    return PairedStatistics.of(
        index.sign * np.array([each.value for each in differences]),
        np.array([each.standard_error for each in spreads]),
        np.array([each.degrees for each in spreads]),
        index.sign * np.stack([each.replicates for each in differences]),
        queries,
    )


def subset_of(paired: PairedStatistics, chosen: list[int]) -> PairedStatistics:
    """The same of some systems alone."""
    part = np.ix_(chosen, chosen)
    of_systems = {name: getattr(paired, name)[part] for name in ("statistic", "freedom", "replicates", "blur")}
    return replace(paired, **of_systems)


def company(result: ScoreResult) -> Company:
    """Every subset of a result's systems."""
    names, paired, level = [each.name for each in result.systems], paired_of(result), result.options.level
    alone, turned, subsets = paired.surely_better(level), {}, 0
    for number in range(2, len(names) + 1):
        for chosen in map(list, combinations(range(len(names)), number)):
            subsets += 1
            best = [chosen[k] for k in np.flatnonzero(ranks_of(subset_of(paired, chosen), level).best)]
            for a in chosen:
                for b in best:
                    if alone[b, a]:
                        turned[names[a], names[b]] = turned.get((names[a], names[b]), 0) + 1
    return Company(subsets, turned)


def rows_of(result: ScoreResult) -> Iterator[list[str]]:
    """A row for each two systems that some subset turns."""
    names, paired = [each.name for each in result.systems], paired_of(result)
    tail = (1 - result.options.level) / 2
    for (a, b), often in company(result).turned.items():
        at = names.index(b), names.index(a)
        bounds = [-float(special.stdtrit(paired.freedom[at], each)) for each in (tail, tail / (len(names) - 1))]
        shown = [f"{each:.2f}" for each in (paired.statistic[at], *bounds)]
        yield [a, b, *shown, f"{often} of {2 ** (len(names) - 2)}"]


def scored(folder: Path) -> rs.Scores:
    """All systems of a study's folder."""
    files = {path.stem: path for path in sorted((folder / "scores").glob("*.csv"))}
    return rs.score(files, folder / "judgments.csv", mappings=folder / "mappings", measures=())


def main(folders: list[str]) -> None:
    """Print what turns in each folder."""
    for folder in map(Path, folders):
        result = scored(folder).result
        rows = [*rows_of(result)]
        systems, subsets = len(result.systems), company(result).subsets
        print(f"{folder.name}: {systems} systems, {subsets} subsets; two systems turned by others: {len(rows)}")
        if rows:
            print_table(rows, ["ahead alone", "of", "t", "bound alone", "Bonferroni", "subsets with both"])


if __name__ == "__main__":
    main(sys.argv[1:] or ["data/example"])
