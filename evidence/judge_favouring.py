"""How often `relstudy judge check` names a system that a judge does not favour, and how often one that it does.

    python evidence/judge_favouring.py [demo large viescore diras] [--judges 100] [--systems 5]

Of each study one judge of each kind grades every pair that people judged, with noise of half a grade unless its row
says otherwise, rounded to a grade of the scale. Fair ones are of no system: the same of everything; noise (standard
deviation in grades); one grade more in the second half of the queries (drifts), or for the first third of each query's
results as they stand in the collection (by place); up to a grade more or less by a property of the result that no
system looks at (by length); upside down; no answer for most of what is relevant (refuses). Others add so much to the
best fifth or the first ten results of the first system, give these the highest grade, or give the first system's own
order in place of a grade (copies). `viescore` and `diras` are the collections of evidence/judges.py, where the judge
sees what people said on average; `demo` is that of `relstudy demo`, where one rater a pair has noise of .6 points and
the judge sees the true relevance; `large` has ten times its ratings. Systems follow people's judgments more or less
closely, and all together choose the pairs. Printed: the share of judges beside which the first system is named as
favoured, and of those beside which any other one is named, or the first as one that the judge is hard on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.judges.favouritism import leanings
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.table import JudgeTable
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.console import print_table
from relstudy.common.sampling.probability_draws import inclusion_probabilities, systematic_sample
from relstudy.studyapp.example_pictures.collection import make_collection

sys.path.append(str(Path(__file__).parent))  # last, since files here have the names of libraries
from judge_worlds import PAIR, SHARED, World, diras, viescore

Collection = tuple[World, np.ndarray, int]
"""What people said of every pair, what the judge sees of it, and the number of grades."""


def of_pictures(pictures: int, queries: int) -> Collection:
    """The demo's collection, one rater a pair; the judge sees true relevance on five grades."""
    collection = make_collection(pictures, seed=0)
    names = np.array(collection.picture_ids, dtype=object)
    query, result = (each.ravel() for each in np.indices(collection.truth.shape))
    other = query != result
    truth = collection.truth[query[other], result[other]]
    said = np.clip(np.round(truth + 0.6 * np.random.default_rng(1).normal(size=len(truth))), 1, 5)
    ids = {"query_id": names[query[other]], "result_id": names[result[other]]}
    figures = {"judgment": said, "relevant_share": (said >= 4) * 1.0, "score": truth}
    return World(pd.DataFrame(ids | figures), {}, queries, 20), truth - 1, 5


def of_diras(folder: Path) -> Collection:
    """Two annotators on three grades, their mean is what the judge sees."""
    world, graded = diras(folder), pd.read_csv(folder / "diras_chatreport" / "ratings.csv")
    mean = graded.groupby(PAIR)["rating"].mean()
    query = world.pairs["query_id"].str.partition("/")[0]
    level = mean.reindex(pd.MultiIndex.from_arrays([query, world.pairs["result_id"]])).to_numpy()
    steps = int(graded["rating"].max() - graded["rating"].min())
    level = level - graded["rating"].min()
    return replace(world, pairs=world.pairs.assign(judgment=level / steps)), level, steps + 1


def of_viescore(folder: Path) -> Collection:
    """Three people on three grades, their mean is what the judge sees."""
    world = viescore(folder)
    return world, 2 * world.pairs["judgment"].to_numpy(), 3


COLLECTIONS: dict[str, Callable[[Path], Collection]] = {
    "demo": lambda _: of_pictures(320, 100),
    "large": lambda _: of_pictures(1000, 1000),
    "viescore": of_viescore,
    "diras": of_diras,
}
FAIR = ("the same of everything", "noise .5", "noise 1", "noise 2", "noise alone", "drifts", "by place", "by length")
FAIR += ("upside down", "refuses")
LEANING = {"best fifth, .5": (0, 0.5), "best fifth, 1": (0, 1.0)}
LEANING |= {f"first ten, {lean}": (10, float(lean)) for lean in (".5", "1", "2")}
LEANING |= {"first ten, highest": (10, 9.0)}
COPIES = "copies"
JUDGES = (*FAIR, *LEANING, COPIES)


def systems_of(level: np.ndarray, number: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Scores that correlate with what people said by .2 to .8, in an order of chance."""
    centred = (level - level.mean()) / level.std()
    close = random.permutation(np.linspace(0.2, 0.8, number))
    noise = random.normal(size=(number, len(level)))
    return {f"system {k + 1}": a * centred + np.sqrt(1 - a * a) * noise[k] for k, a in enumerate(close)}


def places_in(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The place of each result in its query, whose rows stand together and begin at `starts`."""
    return np.concatenate([np.argsort(np.argsort(-each)) + 1 for each in np.split(scores, starts[1:])])


def seen_by(
    judge: str, level: np.ndarray, grades: int, place: np.ndarray, query: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """A judge's grades of pairs, float, NaN where it gives no answer.

    Parameters
    ----------
    place : by the first system
    query : number of each pair's query, in its order
    """
    noise = {"noise 1": 1.0, "noise 2": 2.0}.get(judge, 0.5) * random.normal(size=len(level))
    in_query = np.arange(len(level)) - np.searchsorted(query, query)
    length = np.bincount(query)[query]
    more = np.zeros(len(level))
    if judge in LEANING:
        depth, lean = LEANING[judge]
        more = lean * (place <= (depth or length / 5))
    elif judge == "drifts":
        more = (query >= query.max() / 2) * 1.0
    elif judge == "by place":
        more = (in_query < length / 3) * 1.0
    elif judge == "by length":
        more = 2 * in_query / length - 1
    seen = np.clip(np.round(level + noise + more), 0, grades - 1)
    if judge == "the same of everything":
        return np.ones(len(level))
    if judge == "noise alone":
        return random.integers(0, grades, len(level)).astype(float)
    if judge == COPIES:
        return np.ceil(grades * (1 - place / length))
    if judge == "upside down":
        return grades - 1 - seen
    if judge == "refuses":
        return np.where((level >= 0.75 * (grades - 1)) & (random.random(len(level)) < 0.6), np.nan, seen)
    return seen


def named(
    world: World, level: np.ndarray, grades: int, number: int, seed: int, options: ScoringOptions
) -> dict[str, list[str]]:
    """By judge, the systems that are named beside one study, with a sign before each: + where it is favoured."""
    random = np.random.default_rng([seed, number])
    chosen = random.choice(len(world.by_query), world.queries, replace=False)
    rows = np.concatenate([world.by_query[each] for each in chosen])
    query = np.repeat(np.arange(world.queries), [len(world.by_query[each]) for each in chosen])
    starts = np.searchsorted(query, np.arange(world.queries))
    systems = systems_of(level[rows], number, random)
    places = {name: places_in(scores, starts) for name, scores in systems.items()}
    wanted = np.mean([1 / (place + 4.0) for place in places.values()], axis=0)
    given = [inclusion_probabilities(each, world.results) for each in np.split(wanted, starts[1:])]
    drawn = np.concatenate([start + systematic_sample(each, random) for start, each in zip(starts, given, strict=True)])
    judged = world.pairs.iloc[rows[drawn]].reset_index(drop=True)[[*PAIR, "judgment", "relevant_share"]]
    scale = {"relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 5.0}
    pairs = JudgedPairs.of(judged.assign(inclusion_probability=np.concatenate(given)[drawn], **scale))
    ids = [each[rows[drawn]] for each in world.ids]
    first, said = next(iter(places.values())), {}
    for judge in JUDGES:
        rating = seen_by(judge, level[rows], grades, first, query, random)[drawn]
        status = np.where(np.isnan(rating), "refused", "ok").astype(object)
        universe = Universe.of(pairs, JudgeTable(judge, *ids, rating, status, np.ones(len(drawn))), options)
        of_drawn = [{name: each[drawn] for name, each in of.items()} for of in (systems, places)]
        found = leanings(universe, *of_drawn, options.level)
        said[judge] = [f"{'+' if each.judged_alike > 0 else '-'}{each.system}" for each in found]
    return said


@cache
def collection(name: str, data: Path) -> Collection:
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
    parser.add_argument("--judges", type=int, default=100, help="of a cell, each beside another study")
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2, help="processes")
    given = parser.parse_args()
    jobs = [(given, name, given.systems, seed) for name in given.collection for seed in range(given.judges)]
    with ProcessPoolExecutor(given.workers, get_context("fork")) as pool:
        runs = dict(zip((job[1:] for job in jobs), pool.map(one, jobs, chunksize=5), strict=True))
    rows = []
    for judge in JUDGES:
        cells = []
        for name in given.collection:
            said = [runs[name, given.systems, seed][judge] for seed in range(given.judges)]
            first = ["+system 1" in each for each in said]
            others = [bool({*each} - {"+system 1"}) for each in said]
            cells.append(f"{100 * np.mean(first):.0f} / {100 * np.mean(others):.0f}")
        rows.append([judge, *cells])
    error = 100 * np.sqrt(0.05 * 0.95 / given.judges)
    print(f"First system / others named, percent of {given.judges} judges (standard error {error:.1f} at 5 %):")
    print_table(rows, ["judge", *given.collection])


if __name__ == "__main__":
    main()
