"""How often `relstudy judge-check` names a system that a judge does not favour, and how often one that it does.

    python scripts/judge_favouring.py [demo viescore diras] [--judges 200] [--systems 2 5 20]

Of each study one judge of each kind grades every pair of its queries, fair but for what its row says: one that says the
same of everything, one that is off by noise (standard deviation in grades), and one that adds so much of a grade to the
fifth of the pairs which the first system ranks highest, on top of noise of half a grade, before it rounds to a grade of
the scale. `viescore` and `diras` are the collections of scripts/judges.py, where the judge sees what people said on
average; `demo` is that of `relstudy demo`, where a study's people are three raters with noise of .6 points and the
judge sees the true relevance, which is finer than what they said. Systems follow people's judgments more or less
closely. Printed: of the judges without a lean, the share of those for whom any system is named; of the leaning ones,
the share for whom the first system is named as favoured, first of all.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.judges.favouritism import biases, favoured
from relstudy.analysis.judges.table import JudgeTable
from relstudy.analysis.judges.universe import Universe
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.console import print_table
from relstudy.studyapp.rendered.collection import make_collection

sys.path.append(str(Path(__file__).parent))  # last, since files here have the names of libraries
from judge_worlds import PAIR, SHARED, World, diras, viescore


def demo(_: Path) -> tuple[World, np.ndarray, int]:
    """The demo's collection, three raters a pair; the judge sees true relevance on five grades."""
    collection = make_collection(100, seed=0)
    names = np.array(collection.picture_ids, dtype=object)
    query, result = (each.ravel() for each in np.indices(collection.truth.shape))
    other = query != result
    truth = collection.truth[query[other], result[other]]
    noise = 0.6 * np.random.default_rng(1).normal(size=(3, len(truth)))
    said = np.clip(np.round(truth + noise), 1, 5)
    score = truth + np.random.default_rng(2).normal(size=len(truth))
    ids = {"query_id": names[query[other]], "result_id": names[result[other]]}
    figures = {"judgment": said.mean(axis=0), "relevant_share": (said >= 4).mean(axis=0), "score": score}
    return World(pd.DataFrame(ids | figures), {}, 40, 12), truth - 1, 5


def of_diras(folder: Path) -> tuple[World, np.ndarray, int]:
    """Two annotators on three grades, their mean is what the judge sees."""
    world, graded = diras(folder), pd.read_csv(folder / "diras_chatreport" / "ratings.csv")
    mean = graded.groupby(PAIR)["rating"].mean()
    query = world.pairs["query_id"].str.partition("/")[0]
    level = mean.reindex(pd.MultiIndex.from_arrays([query, world.pairs["result_id"]])).to_numpy()
    steps = int(graded["rating"].max() - graded["rating"].min())
    level = level - graded["rating"].min()
    return replace(world, pairs=world.pairs.assign(judgment=level / steps)), level, steps + 1


def of_viescore(folder: Path) -> tuple[World, np.ndarray, int]:
    """Three people on three grades, their mean is what the judge sees."""
    world = viescore(folder)
    return world, 2 * world.pairs["judgment"].to_numpy(), 3


COLLECTIONS = {"demo": demo, "viescore": of_viescore, "diras": of_diras}
JUDGES = {"the same of everything": (0.0, 0.0), "noise .5": (0.5, 0.0), "noise 1": (1.0, 0.0), "noise 2": (2.0, 0.0)}
JUDGES |= {f"leans by {lean:g}": (0.5, lean) for lean in (0.25, 0.5, 1.0)}


def systems_of(level: np.ndarray, number: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Scores that correlate with what people said by .2 to .8, in an order of chance."""
    centred = (level - level.mean()) / level.std()
    close = random.permutation(np.linspace(0.2, 0.8, number))
    noise = random.normal(size=(number, len(level)))
    return {f"system {k + 1}": a * centred + np.sqrt(1 - a * a) * noise[k] for k, a in enumerate(close)}


def graded(universe: Universe, rating: np.ndarray) -> Universe:
    """The same pairs, draws and people with another judge's grades; all else need not be made anew."""
    every = [copy(universe), copy(universe.left_out)]
    for each in every:
        assert each is not None
        each.judge = replace(universe.judge, rating=rating)
        each.__dict__ = {name: value for name, value in each.__dict__.items() if name not in ("worth", "_residuals")}
    other, left_out = every
    assert other is not None and left_out is not None
    left_out.__dict__["worth"] = other.worth
    other.__dict__["left_out"] = left_out
    return other


def named(
    world: World, level: np.ndarray, grades: int, number: int, seed: int, options: ScoringOptions
) -> dict[str, list[str]]:
    """By judge, the systems that are named beside one study, with a sign before each: + where it is favoured."""
    random = np.random.default_rng([seed, number])
    rows, probability = world.study(random)
    drawn = rows.astype(np.int64)
    within = np.sort(np.concatenate([each for each in world.by_query if np.isin(drawn, each).any()]))
    systems = systems_of(level[within], number, random)
    first = systems["system 1"]
    judged = world.pairs.iloc[drawn].reset_index(drop=True)[[*PAIR, "judgment", "relevant_share"]]
    scale = {"relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 5.0}
    pairs = JudgedPairs.of(judged.assign(inclusion_probability=probability, **scale))
    ids = [each[within] for each in world.ids]
    ok, certain = np.full(len(within), "ok", dtype=object), np.ones(len(within))
    table = JudgeTable("judge", *ids, level[within], ok, certain)
    universe = Universe.of(pairs, table, options)
    said = {}
    for judge, (noise, lean) in JUDGES.items():
        seen = level[within] + noise * random.normal(size=len(within)) + lean * (first >= np.quantile(first, 0.8))
        rating = np.clip(np.round(seen), 0, grades - 1) if noise else np.ones(len(within))
        figures = biases(graded(universe, rating), systems)
        said[judge] = [f"{'+' if figures[name].value > 0 else '-'}{name}" for name in favoured(figures, options.level)]
    return said


@cache
def collection(name: str, data: Path) -> tuple[World, np.ndarray, int]:
    """A collection, made once a process."""
    return COLLECTIONS[name](data)


def one(job: tuple[argparse.Namespace, str, int, int]) -> dict[str, list[str]]:
    """The systems that are named beside one study."""
    given, name, number, seed = job
    options = ScoringOptions(replicates=given.replicates, measures=(), method="none", directions={"*": "higher"})
    return named(*collection(name, given.data), number, seed, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", nargs="*", default=list(COLLECTIONS), metavar="COLLECTION")
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--judges", type=int, default=200, help="of a cell, each beside another study")
    parser.add_argument("--systems", type=int, nargs="+", default=[2, 5, 20])
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2, help="processes")
    given = parser.parse_args()
    seeds = range(given.judges)
    jobs = [(given, name, number, seed) for name in given.collection for number in given.systems for seed in seeds]
    with ProcessPoolExecutor(given.workers, get_context("fork")) as pool:
        runs = dict(zip((job[1:] for job in jobs), pool.map(one, jobs, chunksize=20), strict=True))
    rows = []
    for name in given.collection:
        for judge, (_, lean) in JUDGES.items():
            cells = []
            for number in given.systems:
                said = [runs[name, number, seed][judge] for seed in seeds]
                hits = [each[:1] == ["+system 1"] if lean else bool(each) for each in said]
                cells.append(f"{100 * np.mean(hits):.1f}")
            rows.append([name, judge, "found" if lean else "false", *cells])
    error = 100 * np.sqrt(0.05 * 0.95 / given.judges)
    print(f"Percent of {given.judges} judges a cell (standard error {error:.1f} points at 5 %):")
    print_table(rows, ["collection", "judge", "", *(f"{number} systems" for number in given.systems)])


if __name__ == "__main__":
    main()
