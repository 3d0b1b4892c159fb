"""People's figures with an automatic judge's help: bias, coverage and width, beside the ways it is usually done.

    python evidence/judges.py diras [--data ../shared/data] [--studies 300]
    python evidence/judges.py viescore [--studies 100]
    python evidence/judges.py passages [--studies 200] [--seed 12] [--without pearson]
    python evidence/judges.py FOLDER --system NAME [--relevant 2] [--queries 12] [--results 12]

`diras`: 11 questions x 60 paragraphs (two annotators, GPT-4, an embedding whose cosine is the system that is scored).
A study draws 12 questions with replacement and 12 paragraphs of each, likelier where the system ranks them high; to
have each question as often as it is drawn, the collection is twenty copies of it. `viescore`: 376 prompts x 5 or 9
pictures (three people, 16 vision-language models; `llava_0shot` stands for the system). A study draws 40 prompts and 3
pictures of each. `passages`: made up, of another shape: 250 queries x 120 passages on four grades, a system with tied
scores, 33 judges from good to useless, one that says the same of everything, one that answers for half of the queries
only, one that was given the richer half of them; a study draws 25 queries and 15 passages of each. FOLDER: judged
pairs of your own, people's in ratings.csv (query_id, result_id, rating; a row per rater) and judges' in judges.csv
(judge, query_id, result_id, rating, empty if there is no answer). A pair is relevant as far as its raters gave
--relevant or more; --system names the judge whose grades, ties broken by chance, stand for the system that is scored.

Judges: those of the data; the mean of all, and of the five that explain most of each study's judgments; noise; the best
one upside down; one that refuses a third of the pairs, mostly those that people like; one that is the system itself
(circular). Each judged the whole collection, or (with --sampled) the drawn queries alone, or (with --share .02 .05) the
judged pairs and such a share of all others; with --budget 144 ways to part money are held against each other. Two
tables: coverage of 95 % intervals and mean width against people alone, by judge and index; and for the relevant share
bias, the same over the standard deviation, coverage and width of every way. Ways beside ours: the mean of ppi_py
(Angelopoulos, Duchi and Zrnic 2023), weighted by design or not; the judge alone, its grades read as shares; and its
grades instead of their worth, with weight one. ppi_py comes with `pip install ppi-python`.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import assist_scores
from relstudy.analysis.judges.table import JudgeTable
from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.judging.judge_budget import best_split

sys.path.append(str(Path(__file__).parent))  # last, since files here have the names of libraries
from judge_worlds import PAIR, SEED, SHARED, WORLDS, World, of_folder

INDICES = (
    *("relevant_share", "precision_at_0.2", "recall_at_0.2", "average_precision", "normalised_rank", "same_query"),
    "pearson",
)
NORMAL = float(special.ndtri(0.975))
Ends = tuple[float, ...]
PPI_PY = importlib.util.find_spec("ppi_py") is not None


def rivals(
    y: np.ndarray, rows: np.ndarray, query: np.ndarray, weight: np.ndarray, grades: np.ndarray
) -> dict[str, tuple[float, float]]:
    """Estimates of the relevant share and half the widths of their 95 % intervals."""
    lowest, highest = np.nanmin(grades), np.nanmax(grades)
    # a refusal as grade 0, as tools have it
    m = np.nan_to_num((grades - lowest) / max(highest - lowest, 1e-9), nan=0.0)
    residual = weight * (y - m[rows])
    by_query = np.bincount(query, residual - weight * residual.sum() / weight.sum())
    clusters = len(by_query)
    raw = np.sqrt(clusters / (clusters - 1) * np.sum((by_query / weight.sum()) ** 2))
    library = {
        "ppi_py, by design": prediction_powered(y, m[rows], m, weight / weight.mean()),
        "ppi_py, unweighted": prediction_powered(y, m[rows], m, None),
    } if PPI_PY else {}  # fmt: skip
    return library | {
        "judge alone": (float(m.mean()), NORMAL * float(m.std(ddof=1) / np.sqrt(len(m)))),
        "raw grades, weight one": (float(m.mean() + residual.sum() / weight.sum()), NORMAL * float(raw)),
    }


def prediction_powered(
    y: np.ndarray, m: np.ndarray, everywhere: np.ndarray, weight: np.ndarray | None
) -> tuple[float, float]:
    """The mean that ppi_py gives, and half the width of its interval."""
    from ppi_py import ppi_mean_ci

    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = (float(end[0]) for end in ppi_mean_ci(y, m, everywhere, alpha=0.05, w=weight))
    return (low + high) / 2, (high - low) / 2


@dataclass(frozen=True, eq=False)
class Study:
    """What a study drew: the same for every judge.

    Parameters
    ----------
    rows, probability : of the drawn pairs, int64 and float [pairs]
    pairs : as people judged them
    system : the system that is scored, its `scores` of all pairs
    """

    rows: np.ndarray
    probability: np.ndarray
    pairs: JudgedPairs
    system: Candidate
    scores: pd.DataFrame
    options: ScoringOptions

    @classmethod
    def drawn(cls, world: World, random: np.random.Generator, replicates: int) -> Study:
        """Draw one from a collection."""
        drawn, probability = world.study(random)
        rows = drawn.astype(np.int64)
        judged = world.pairs.iloc[rows].reset_index(drop=True)[[*PAIR, "judgment", "relevant_share"]]
        columns = {"inclusion_probability": probability, "relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 1.0}
        pairs = JudgedPairs.of(judged.assign(**columns))
        options = ScoringOptions(replicates=replicates, measures=(), method="none", directions={"*": "higher"})
        scores = world.pairs[[*PAIR, "score"]]
        return cls(rows, probability, pairs, candidate_of(pairs, "system", scores, options), scores, options)


def of_share(judge: JudgeTable, study: Study, share: float, random: np.random.Generator) -> JudgeTable:
    """A judge that was given the judged pairs, and this share of the others by lot."""
    certain = np.zeros(len(judge), dtype=bool)
    row = judge.rows_of(study.pairs.query_id, study.pairs.result_id)
    certain[row[row >= 0]] = True
    given = certain | (random.random(len(judge)) < share)
    columns = {name: getattr(judge, name)[given] for name in (*PAIR, "rating", "status")}
    return replace(judge, **columns, probability=np.where(certain, 1.0, share)[given])


def one_study(
    world: World, study: Study, name: str, sampled: bool, share: float = 1.0, random: np.random.Generator | None = None
) -> dict[str, dict[str, Ends]]:
    """Value and ends of every index by way: "people", "with the judge", and the rivals."""
    judge = world.judged_by(name, study.pairs)
    if share < 1:
        judge = of_share(judge, study, share, np.random.default_rng() if random is None else random)
    grades = world.judges[name] if name in world.judges else judge.rating[judge.rows_of(*world.ids)]
    if sampled:
        judge = judge.without(set(judge.query_id) - set(study.pairs.queries))
    helped = assist_scores(
        Universe.of(study.pairs, judge, study.options), [study.system], {"system": study.scores}, INDICES
    )
    ends: dict[str, dict[str, Ends]] = defaultdict(dict)
    for index in INDICES:
        figure = helped.systems["system"][index]
        for way, each in (("people alone", figure.people), ("relstudy", figure.estimate)):
            ends[way][index] = tuple(np.nan if v is None else v for v in (each.value, each.low, each.high))
    if share < 1:
        return ends
    people = world.pairs["relevant_share"].to_numpy()[study.rows]
    given = np.where(np.isneginf(grades), np.nan, grades)
    for way, (value, half) in rivals(people, study.rows, study.pairs.query, 1 / study.probability, given).items():
        ends[way]["relevant_share"] = (value, value - half, value + half)
    return ends


def simulate(
    world: World, names: Sequence[str], studies: int, replicates: int, sampled: bool = False, seed: int = SEED
) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    """By judge, every way's values and ends, float [studies, 3] by way and index; every judge meets the same studies
    and the same replicates of them."""
    random = np.random.default_rng(seed)
    runs: dict[str, list[dict[str, dict[str, Ends]]]] = {name: [] for name in names}
    for _ in progress(range(studies), "studies"):
        study = Study.drawn(world, random, replicates)
        for name in names:
            runs[name].append(one_study(world, study, name, sampled))
    return {
        name: {
            way: {index: np.array([run[way][index] for run in of_judge]) for index in of_judge[0][way]}
            for way in of_judge[0]
        }
        for name, of_judge in runs.items()
    }


def one_by_share(job: tuple[World, str, Sequence[float], int, tuple[int, int]]) -> dict[str, dict[str, Ends]]:
    """The indices of one study by share of the collection that the judge was given."""
    world, name, shares, replicates, seed = job
    random = np.random.default_rng(seed)
    study = Study.drawn(world, random, replicates)
    figures = {}
    for share in (*shares, 1.0):
        ends = one_study(world, study, name, False, share, random)
        figures |= {f"{share:g}": ends["relstudy"], "people alone": ends["people alone"]}
    return figures


def by_share(world: World, name: str, given: argparse.Namespace) -> list[list[str]]:
    """Coverage and width against people alone by share of the collection that the judge was given."""
    truth = world.truth()
    jobs = [(world, name, given.share, given.replicates, (given.seed, each)) for each in range(given.studies)]
    with ProcessPoolExecutor(given.workers, get_context("fork")) as pool:
        runs = list(pool.map(one_by_share, jobs))
    ends = {label: {index: np.array([run[label][index] for run in runs]) for index in INDICES} for label in runs[0]}
    rows = []
    for label in ("people alone", *(f"{share:g}" for share in (*given.share, 1.0))):
        figures = [told(truth[index], ends[label][index], ends["people alone"][index]) for index in INDICES]
        rows.append([name, label, *(f"{covered:.3f}, {width:.2f}" for *_, covered, width in figures)])
    return rows


def one_by_split(job: tuple[World, str, float, int, tuple[int, int]]) -> dict[str, Ends]:
    """The indices of one study of this size, with the judge's help unless its share is 0."""
    world, name, share, replicates, seed = job
    random = np.random.default_rng(seed)
    ends = one_study(world, Study.drawn(world, random, replicates), name, False, share or 0.05, random)
    return ends["relstudy" if share else "people alone"]


def by_split(world: World, name: str, given: argparse.Namespace) -> list[list[str]]:
    """Error and width of ways to part one budget between people and a judge, against all of it on people."""
    truth, candidates = world.truth(), len(world.pairs)
    grades, relevance = world.judges[name], world.pairs["relevant_share"]
    worth = relevance.groupby(pd.Series(grades).fillna(-1.0)).transform("mean")
    explains = float(np.corrcoef(worth, relevance)[0, 1] ** 2)
    rule = best_split(given.budget, 1.0, given.question, explains, candidates)
    halves = {f"{share:.0%} on people": (share * given.budget, (1 - share) * given.budget) for share in (0.75, 0.5)}
    ways = {"people alone": (given.budget, 0.0), **halves, "the rule": (rule.people, rule.questions * given.question)}
    print(f"{name} explains {explains:.2f}; the rule: {rule}")
    rows, alone = [], {}
    for way, (people, money) in ways.items():
        queries, questions = max(2, round(people / world.results)), min(candidates, money / given.question)
        share = max(0.0, (questions - people) / (candidates - people))
        sized = replace(world, queries=queries)
        jobs = [(sized, name, share, given.replicates, (given.seed, each)) for each in range(given.studies)]
        with ProcessPoolExecutor(given.workers, get_context("fork")) as pool:
            runs = list(pool.map(one_by_split, jobs))
        cells = []
        for index in INDICES:
            value, low, high = np.array([run[index] for run in runs]).T
            error, width = np.sqrt(np.nanmean((value - truth[index]) ** 2)), np.nanmean(high - low)
            first = alone.setdefault(index, (error, width))
            covered = np.mean((low <= truth[index]) & (truth[index] <= high))
            cells.append(f"{error / first[0]:.2f}, {width / first[1]:.2f}, {covered:.2f}")
        rows.append([way, str(queries * world.results), f"{questions if money else 0:.0f}", *cells])
    return rows


def told(truth: float, ends: np.ndarray, people: np.ndarray) -> tuple[float, str, float, float]:
    """Bias, the same over the standard deviation, coverage, and mean width against people alone."""
    value, low, high = ends.T
    covered = np.mean((low <= truth) & (truth <= high))
    width = np.nanmean(high - low) / np.nanmean(people[:, 2] - people[:, 1])
    bias, spread = np.nanmean(value) - truth, np.nanstd(value)
    over = f"{bias / spread:+.2f}" if spread > 1e-9 else "–"
    return float(bias), over, float(covered), float(width)


def with_and_without(
    world: World, people: np.ndarray, truth: float, seed: int
) -> list[tuple[str, str, str, str, str, str]]:
    """How people alone do at an index in studies that drew a query of the data and in those that did not.

    Parameters
    ----------
    people : float [studies, 3], values and ends

    Returns
    -------
    By query, all of its copies together: the share of studies without it, coverage with it and without, mean value
    with it and without
    """
    queries = world.pairs["query_id"].str.partition("/")[0].to_numpy(dtype=object)
    random = np.random.default_rng(seed)
    drawn = [set(queries[world.study(random)[0].astype(np.int64)]) for _ in people]
    value, low, high = people.T
    covered, rows = (low <= truth) & (truth <= high), []
    for query in sorted(set(queries)):
        has = np.array([query in each for each in drawn])
        if has.any() and not has.all():
            figures = (f"{each[part].mean():.3f}" for each in (covered, value) for part in (has, ~has))
            rows.append((query, f"{(~has).mean():.2f}", *figures))
    return rows


def world_of(given: argparse.Namespace) -> World:
    """What the command line asks for.

    Raises
    ------
    RelstudyError
        if there is no such collection, judge or file
    """
    if given.world in WORLDS:
        world = WORLDS[given.world](given.data)
    elif Path(given.world).is_dir():
        world = of_folder(Path(given.world), given.system, given.relevant, given.queries, given.results)
    else:
        raise RelstudyError(f"{given.world}: there is no such folder; there are: {', '.join(WORLDS)}")
    absent = sorted(set(given.judge or []) - set(world.names))
    if absent:
        raise RelstudyError(f"--judge {absent[0]}: there is no such judge; there are: {', '.join(world.names)}")
    return world


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", help=f"{', '.join(WORLDS)}, or a folder of your own")
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--sampled", action="store_true", help="the judge judged the drawn queries alone")
    parser.add_argument(
        "--share", type=float, nargs="+", help="only: the judge was given so much, and the judged pairs"
    )
    parser.add_argument("--judge", action="append", help="only this judge; may be repeated")
    parser.add_argument("--seed", type=int, default=SEED, help="of the studies that are drawn")
    parser.add_argument("--without", choices=INDICES, help="coverage of this index with and without each query")
    parser.add_argument("--system", help="FOLDER alone: the judge that stands for the system that is scored")
    parser.add_argument("--relevant", type=float, help="FOLDER alone: the rating from which a pair is relevant")
    parser.add_argument("--queries", type=int, default=12, help="FOLDER alone: how many a study draws")
    parser.add_argument("--results", type=int, default=12, help="FOLDER alone: pairs of each")
    parser.add_argument("--budget", type=float, help="only: so much for people, of price 1, and the judge together")
    parser.add_argument("--question", type=float, default=0.02, help="price of a question to the judge")
    parser.add_argument("--workers", type=int, default=2, help="processes, with --share or --budget")
    given = parser.parse_args()
    try:
        world = world_of(given)
    except RelstudyError as error:
        parser.exit(1, f"judges.py: {error}\n")
    truth = world.truth()
    for sentence in world.decided:
        print(sentence)
    print("truth:", ", ".join(f"{index} {truth[index]:.3f}" for index in INDICES))
    print(
        f"{given.studies} studies of {world.queries} queries x {world.results} pairs, {given.replicates} replicates, "
        f"seed {given.seed}. Coverage, and width against people alone:"
    )
    if given.budget:
        header = ["way", "people's pairs", "questions", *(index.replace("_", " ") for index in INDICES)]
        for name in given.judge or world.names:
            rows = by_split(world, name, given)
            print("Root mean square error and width, both against people alone, and coverage:")
            print_table(rows, header)
        return
    brief, rows = [], []
    names = given.judge or world.names
    if given.share:
        for name in names:
            brief += by_share(world, name, given)
        print_table(brief, ["judge", "share", *(index.replace("_", " ") for index in INDICES)])
        return
    for name, by_way in simulate(world, names, given.studies, given.replicates, given.sampled, given.seed).items():
        people = by_way["people alone"]
        for way, label in (("people alone", "people alone"), ("relstudy", name)):
            figures = [told(truth[index], by_way[way][index], people[index]) for index in INDICES]
            line = [label, *(f"{covered:.3f}, {width:.2f}" for *_, covered, width in figures)]
            if line not in brief:
                brief.append(line)
        for way, by_index in by_way.items():
            bias, over, covered, width = told(
                truth["relevant_share"], by_index["relevant_share"], people["relevant_share"]
            )
            rows.append([name, way, f"{bias:+.3f}", over, f"{covered:.3f}", f"{width:.2f}"])
    print_table(brief, ["judge", *(index.replace("_", " ") for index in INDICES)])
    print("\nThe relevant share:")
    print_table(rows, ["judge", "way", "bias", "bias/SD", "coverage", "width"])
    if given.without:
        rows = with_and_without(world, people[given.without], truth[given.without], given.seed)
        print(f"\nPeople alone, {given.without.replace('_', ' ')}, by query of the data, all its copies together:")
        print_table(rows, ["query", "not drawn", "coverage with it", "without", "mean estimate with it", "without"])
    if not PPI_PY:
        print("Without the rows of ppi_py, which is not installed: pip install ppi-python")


if __name__ == "__main__":
    main()
