"""What a further round gains that asks people where a judge leaves most open (`relstudy sample --next --judge`).

    python evidence/judge_rounds.py diras [--studies 100] [--judge gpt-4]
    python evidence/judge_rounds.py passages --judge "judge 5"
    python evidence/judge_rounds.py diras --rounds 4 12 --aim average_precision    a running study

The collections are those of evidence/judges.py. A study draws its queries and 8 pairs of each, likelier where the
system ranks them high, and then as many new pairs of the same queries in three ways: with the probabilities of the
first round; in proportion to the root of the judge's expected squared residual; and times the derivative of the index
aimed at, as the command does. By index: the bias, the root mean square error of the estimate and the mean width of its
interval, with the judge's help, against as many pairs drawn as before; the width that was announced, against that
announced for these; and coverage. With --rounds the new pairs come in so many rounds while the study runs: each rests
on what the judge's grades were worth in all rounds before it, and its pairs join people's pages with known probability.
With as many rounds as the round has pages (12 of 8 pairs for 12 queries) each page is drawn where it then tells most.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.judges.allocation import expected_square, residual, sizes
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import assist_scores
from relstudy.analysis.judges.study import JudgedStudy
from relstudy.analysis.judges.table import JudgeTable, read_judge
from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.console import print_table
from relstudy.common.sampling.probability_draws import inclusion_probabilities, systematic_sample
from relstudy.studyapp.sampling.judge_round import candidates_for

PAIR = ["query_id", "result_id"]
FLOOR = 0.2
WAYS = ("as before", "residual alone", "aimed")


def worlds() -> ModuleType:
    """evidence/judges.py."""
    spec = importlib.util.spec_from_file_location("judges", Path(__file__).with_name("judges.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there for their annotations
    spec.loader.exec_module(module)
    return module


class Study:
    """A first round, and what a second one can be drawn from.

    Parameters
    ----------
    world : a World of evidence/judges.py
    judge : its table
    results : pairs of a query in either round
    """

    def __init__(
        self, world: object, judge: JudgeTable, results: int, random: np.random.Generator, options: ScoringOptions
    ) -> None:
        self.pairs, self.judge, self.random, self.options = world.pairs, judge, random, options  # type: ignore[attr-defined]
        codes, names = pd.factorize(self.pairs["query_id"])
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
        score = self.pairs["score"].to_numpy()
        self.rows, self.first, self.taken = [], [], []
        for query in random.choice(len(names), world.queries, replace=False):  # type: ignore[attr-defined]
            rows = order[ends[query] : ends[query + 1]]
            rank = np.argsort(np.argsort(-score[rows])) + 1
            probability = inclusion_probabilities(1 / (rank + 9.0), results)
            self.rows.append(rows)
            self.first.append(probability)
            self.taken.append(systematic_sample(probability, random))
        self.wanted = len(self.rows) * results

    def judged(self, taken: list[np.ndarray], probability: list[np.ndarray]) -> tuple[JudgedPairs, Candidate, dict]:
        """The pairs that people judged, and the system."""
        rows = np.concatenate([rows[drawn] for rows, drawn in zip(self.rows, taken, strict=True)])
        given = np.concatenate([each[drawn] for each, drawn in zip(probability, taken, strict=True)])
        scale = {"relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 1.0}
        judged = self.pairs.iloc[rows].reset_index(drop=True)[[*PAIR, "judgment", "relevant_share"]]
        pairs = JudgedPairs.of(judged.assign(inclusion_probability=given, **scale))
        scores = self.pairs[[*PAIR, "score"]]
        return pairs, candidate_of(pairs, "system", scores, self.options), {"system": scores}

    def universe(self, pairs: JudgedPairs) -> tuple[Universe, list[np.ndarray]]:
        """The judge beside judged pairs, and where each query's candidates are among those of the judged queries."""
        universe = Universe.of(pairs, self.judge, self.options)
        row = [
            universe.judge.rows_of(part["query_id"].to_numpy(), part["result_id"].to_numpy())
            for part in (self.pairs.iloc[rows] for rows in self.rows)
        ]
        return universe, [np.searchsorted(universe.sampled, each) for each in row]

    def second(
        self,
        size: list[np.ndarray],
        share: float = 1.0,
        before: tuple[list[np.ndarray], list[np.ndarray]] | None = None,
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Draw new pairs in proportion to sizes: the pairs of all rounds, and their probabilities.

        Parameters
        ----------
        share : of the new pairs that are wanted in all
        before : pairs and probabilities of the rounds so far; None: of the first
        """
        already, so_far = (self.taken, self.first) if before is None else before

        def more(factor: float) -> list[np.ndarray]:
            return [np.minimum(1, factor * each) for each in size]

        wanted = share * self.wanted
        low, high = 0.0, wanted / min(each.min() for each in size)
        for _ in range(60):
            middle = (low + high) / 2
            new = sum(np.delete(each, old).sum() for each, old in zip(more(middle), already, strict=True))
            low, high = (middle, high) if new < wanted else (low, middle)
        second = more(high)
        taken = [
            np.union1d(old, systematic_sample(each, self.random)) for old, each in zip(already, second, strict=True)
        ]
        return taken, [1 - (1 - a) * (1 - b) for a, b in zip(so_far, second, strict=True)]


def while_it_runs(study: Study, index: str, rounds: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The pairs of a study whose new pairs come in several rounds, each shaped by what is known so far."""
    so_far = (study.taken, study.first)
    for _ in range(rounds):
        universe, at = study.universe(study.judged(*so_far)[0])
        ranking = study.pairs["score"].to_numpy()[universe.judge.rows_of(*study.pairs[PAIR].to_numpy().T)]
        size = sizes(expected_square(universe, index, ranking)[None])
        so_far = study.second(mixed(size, at), 1 / rounds, so_far)
    return so_far


def mixed(size: np.ndarray, at: list[np.ndarray]) -> list[np.ndarray]:
    """Sizes of each query's candidates, FLOOR of the round drawn from all alike."""
    return [(1 - FLOOR) * size[each] / size.mean() + FLOOR for each in at]


def running(rounds: int) -> str:
    """What a study in so many rounds is called."""
    return f"aimed, in {rounds} rounds"


def one_study(
    study: Study, indices: tuple[str, ...], rounds: Sequence[int] = ()
) -> dict[tuple[str, str], tuple[float, ...]]:
    """Value, ends, and the width announced, by way and index."""
    pairs, system, scores = study.judged(study.taken, study.first)
    known = JudgedStudy(study.judge, pairs, [system], scores, None, ())
    universe, at = study.universe(pairs)
    ranking = study.pairs["score"].to_numpy()[universe.judge.rows_of(*study.pairs[PAIR].to_numpy().T)]
    found = {}

    def on_rows(probability: list[np.ndarray]) -> np.ndarray:
        values = np.full(len(universe.sampled), np.nan)
        for each, of_query in zip(at, probability, strict=True):
            values[each] = of_query
        return values

    as_before = study.second(study.first)
    for index in indices:
        candidates = candidates_for(known, study.options, index)
        by_way = {
            "as before": as_before,
            "residual alone": study.second(mixed(residual(universe, index)[universe.sampled], at)),
            "aimed": study.second(mixed(sizes(expected_square(universe, index, ranking)[None]), at)),
        }
        by_way |= {running(each): while_it_runs(study, index, each) for each in rounds}
        for way, (taken, probability) in by_way.items():
            after, same, table = study.judged(taken, probability)
            helped = assist_scores(Universe.of(after, study.judge, study.options), [same], table, (index,))
            figure = helped.systems["system"][index].estimate
            announced = candidates.width("system", on_rows(study.first), on_rows(probability))
            ends = (figure.value, figure.low, figure.high, announced)
            found[way, index] = tuple(np.nan if each is None else each for each in ends)
    return found


def forked(run: Callable[[int], Any], studies: int, workers: int) -> list[Any]:
    """What each study gives, over processes that know the world already."""
    global _RUN
    _RUN = run
    with ProcessPoolExecutor(workers, get_context("fork")) as pool:
        return list(pool.map(_run, range(studies)))


_RUN: Callable[[int], Any] | None = None


def _run(number: int) -> Any:
    assert _RUN is not None
    return _RUN(number)


def main() -> None:
    module = worlds()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=list(module.WORLDS))
    parser.add_argument("--data", type=Path, default=module.SHARED)
    parser.add_argument("--judge", default="gpt-4")
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--replicates", type=int, default=150)
    parser.add_argument("--results", type=int, default=8, help="pairs of a query in either round")
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--rounds", type=int, nargs="+", default=[], help="the new pairs in so many rounds, too")
    parser.add_argument("--aim", action="append", help="only this index; may be repeated")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    given = parser.parse_args()
    world = module.WORLDS[given.world](given.data)
    truth, indices = world.truth(), tuple(given.aim or module.INDICES)
    judge = read_judge(world.pairs[PAIR].assign(rating=world.judges[given.judge]), given.judge)
    options = ScoringOptions(replicates=given.replicates, measures=(), method="none", directions={"*": "higher"})

    def run(number: int) -> dict[tuple[str, str], tuple[float, ...]]:
        study = Study(world, judge, given.results, np.random.default_rng([given.seed, number]), options)
        return one_study(study, indices, given.rounds)

    runs = forked(run, given.studies, given.workers)
    ways = (*WAYS, *map(running, given.rounds))
    print(
        f"{given.studies} studies of {world.queries} queries x {given.results} pairs and as many more, judge "
        f"{given.judge}, seed {given.seed}; against as many drawn as before:"
    )
    rows = []
    for index in indices:
        by_way = {way: np.array([run[way, index] for run in runs], dtype=float) for way in ways}
        error = {way: np.sqrt(np.nanmean((each[:, 0] - truth[index]) ** 2)) for way, each in by_way.items()}
        width = {way: np.nanmean(each[:, 2] - each[:, 1]) for way, each in by_way.items()}
        told = {way: np.nanmean(each[:, 3]) for way, each in by_way.items()}
        for way, each in by_way.items():
            covered = np.mean((each[:, 1] <= truth[index]) & (truth[index] <= each[:, 2]))
            ratios = (by_what[way] / by_what["as before"] for by_what in (error, width, told))
            bias = np.nanmean(each[:, 0]) - truth[index]
            rows.append([index, way, f"{bias:+.3f}", *(f"{ratio:.2f}" for ratio in ratios), f"{covered:.2f}"])
    print_table(rows, ["aim", "second round", "bias", "error", "width", "width announced", "coverage"])


if __name__ == "__main__":
    main()
