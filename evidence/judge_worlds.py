"""Collections of which people judged every pair, for evidence/judges.py and evidence/judge_rounds.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.pairwise_accuracy import SameQuery
from relstudy.analysis.indices.precision_recall import SHARES, Retrieval, thresholds_at
from relstudy.analysis.judges.several import mean_of_judges
from relstudy.analysis.judges.table import JudgeTable, read_judge
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import inclusion_probabilities, systematic_sample
from relstudy.common.tables.formats.table_files import read_table

PAIR = ["query_id", "result_id"]
SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
SEED = 11
MEANS: dict[str, int | None] = {"mean of the best five": 5, "mean of all": None}


@dataclass(frozen=True, eq=False)
class World:
    """A collection of which people judged every pair.

    Parameters
    ----------
    pairs : query_id, result_id, judgment (0 to 1), relevant_share, score (the system's)
    judges : each judge's grade of every pair, NaN if there is no answer, -inf where it was not given the pair
    queries, results : how many a study draws
    several : names of the judges that a mean may be of
    decided : what was decided of the data, one sentence each
    """

    pairs: pd.DataFrame
    judges: Mapping[str, np.ndarray]
    queries: int
    results: int
    several: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()

    @cached_property
    def tables(self) -> dict[str, JudgeTable]:
        """Each judge's table."""
        return {name: self.table(name, grades) for name, grades in self.judges.items()}

    def table(self, name: str, grades: np.ndarray) -> JudgeTable:
        """The table of a judge that gives these grades."""
        return read_judge(self.pairs[PAIR].assign(rating=grades)[~np.isneginf(grades)], name)

    def judged_by(self, name: str, pairs: JudgedPairs) -> JudgeTable:
        """The table of a judge, or of the mean of several in the light of the judged pairs."""
        if name not in MEANS:
            return self.tables[name]
        mean, _ = mean_of_judges([self.tables[each] for each in self.several], pairs, MEANS[name])
        return read_judge(mean, name)

    @property
    def names(self) -> list[str]:
        """All judges, those that are means of several too."""
        return [*self.judges, *(MEANS if self.several else [])]

    @cached_property
    def ids(self) -> tuple[np.ndarray, np.ndarray]:
        """query_id and result_id of every pair."""
        query, result = (self.pairs[name].to_numpy(dtype=object) for name in PAIR)
        return query, result

    @cached_property
    def by_query(self) -> list[np.ndarray]:
        """The rows of each query."""
        codes, names = pd.factorize(self.pairs["query_id"])
        order = np.argsort(codes, kind="stable")
        return np.split(order, np.searchsorted(codes[order], np.arange(1, len(names))))

    def truth(self) -> dict[str, float]:
        """Every index over the whole collection."""
        relevance, score, judgment = (self.pairs[each].to_numpy() for each in ("relevant_share", "score", "judgment"))
        ones, row = np.ones(len(score)), np.zeros(len(score), dtype=np.int64)
        whole = Retrieval(row, relevance, np.ones((1, 1)))
        figures = {name: each.value for name, each in whole.indices(score, ones).items()}
        query, names = pd.factorize(self.pairs["query_id"])
        figures["same_query"] = SameQuery(query, len(names), score, relevance, ones).value
        at = whole.at_thresholds(score, ones, np.array(SHARES), thresholds_at(score, ones, SHARES))
        fifth = SHARES.index(0.2)
        figures |= {"precision_at_0.2": at.precision[fifth].value, "recall_at_0.2": at.recall[fifth].value}
        correlation = CorrelationBootstrap(row, judgment, np.ones((1, 1))).correlate(score, ("pearson",))
        return figures | {"relevant_share": float(relevance.mean()), "pearson": correlation["pearson"].value}

    def study(self, random: np.random.Generator) -> np.ndarray:
        """Rows drawn and their probabilities given the query, float [2, pairs]."""
        score = self.pairs["score"].to_numpy()
        rows, given = [], []
        for query in random.choice(len(self.by_query), self.queries, replace=False):
            of_query = self.by_query[query]
            rank = np.argsort(np.argsort(-score[of_query])) + 1
            probability = inclusion_probabilities(1 / (rank + 9.0), self.results)
            drawn = systematic_sample(probability, random)
            rows.append(of_query[drawn])
            given.append(probability[drawn])
        return np.stack([np.concatenate(rows), np.concatenate(given)])


def special_judges(best: np.ndarray, relevance: np.ndarray, score: np.ndarray) -> dict[str, np.ndarray]:
    """Judges that are no good, or good and wrong, made of the best one."""
    random = np.random.default_rng(SEED)
    refuses = random.random(len(best)) < (0.15 + 0.7 * relevance) * (1 / 3) / (0.15 + 0.7 * relevance).mean()
    return {
        "noise": random.integers(0, 4, len(best)).astype(float),
        "upside down": best.max() - best,
        "refuses a third": np.where(refuses, np.nan, best),
        "circular": score,
    }


def diras(folder: Path, copies: int = 20) -> World:
    """Questions and paragraphs; relevant where the two annotators' mean is at least "partially"."""
    ratings = pd.read_csv(folder / "diras_chatreport" / "ratings.csv").groupby(PAIR)["rating"].mean().reset_index()
    judges = pd.read_csv(folder / "diras_chatreport" / "judges.csv").fillna({"gpt4_confidence": 0})
    pairs = judges.merge(ratings, on=PAIR)
    share = (pairs["rating"] >= 2) * 1.0
    pairs = pairs.assign(judgment=share, relevant_share=share, score=pairs["embedding_cosine"])
    sure = np.where(pairs["gpt4_guess"] == "yes", pairs["gpt4_confidence"], 1 - pairs["gpt4_confidence"])
    by_name = {"gpt-4": np.digitize(sure, [0.15, 0.5, 0.85]).astype(float), "gpt-4 score": sure}
    by_name |= special_judges(by_name["gpt-4"], share.to_numpy(), pairs["score"].to_numpy())
    many = pd.concat([pairs.assign(query_id=pairs["query_id"] + f"/{copy}") for copy in range(copies)])
    return World(many.reset_index(drop=True), {name: np.tile(each, copies) for name, each in by_name.items()}, 12, 12)


def viescore(folder: Path) -> World:
    """Prompts and pictures; relevant as far as people gave the highest rating."""
    ratings = pd.read_csv(folder / "viescore_judges" / "ratings.csv")
    grouped = ratings.assign(best=(ratings["rating"] > 0.75) * 1.0).groupby(PAIR)
    pairs = grouped.agg(judgment=("rating", "mean"), relevant_share=("best", "mean")).reset_index()
    judges = pd.read_csv(folder / "viescore_judges" / "judges.csv").pivot_table("rating", PAIR, "judge")
    judges = judges.reindex(pd.MultiIndex.from_frame(pairs[PAIR]))
    system = judges["llava_0shot"].fillna(-1).to_numpy()
    pairs["score"] = system + np.random.default_rng(SEED).uniform(0, 1, len(system))
    by_name = {str(name): judges[name].to_numpy() for name in judges}
    best = np.nan_to_num(by_name["gpt4o_0shot"], nan=5.0)
    by_name |= special_judges(best, pairs["relevant_share"].to_numpy(), pairs["score"].to_numpy())
    return World(pairs, by_name, 40, 3, tuple(map(str, judges)))


def passages(folder: Path) -> World:
    """Made up: four grades, relevant from the third on; a system whose scores are tied; judges of every quality."""
    random = np.random.default_rng(SEED)
    queries, depth = 250, 120
    query = np.repeat(np.arange(queries), depth)
    truth = random.normal(size=queries * depth) + 0.7 * random.normal(size=queries)[query]
    grade = np.digitize(truth, [0.3, 1.2, 2.0]).astype(float)
    ids = {"query_id": [f"q{k:03d}" for k in query], "result_id": [f"p{k:05d}" for k in range(len(query))]}
    score = np.round(0.6 * truth + 0.8 * random.normal(size=len(truth)), 1)
    pairs = pd.DataFrame({**ids, "judgment": grade / 3, "relevant_share": (grade >= 2) * 1.0, "score": score})
    judges = {}
    for number, noise in enumerate(np.geomspace(0.3, 6, 33), start=1):
        lean = 0.5 * random.normal(size=queries)[query] + random.uniform(0, 0.5) * score
        seen = truth + lean + noise * random.normal(size=len(truth))
        judges[f"judge {number}"] = np.digitize(seen, np.quantile(seen, [0.4, 0.7, 0.9])).astype(float)
    # given half of the queries, those that are richer
    rich = np.bincount(query, grade)[query] > np.median(np.bincount(query, grade))
    judges |= {"the same of everything": np.ones(len(truth))}
    judges["no answer for half of the queries"] = np.where(query % 2 == 0, judges["judge 5"], np.nan)
    judges["given the richer half of the queries"] = np.where(rich, judges["judge 5"], -np.inf)
    special = special_judges(judges["judge 5"], pairs["relevant_share"].to_numpy(), score)
    several = tuple(name for name in judges if name.removeprefix("judge ").isdigit())
    return World(pairs, judges | special, 25, 15, several)


def of_folder(folder: Path, system: str | None, relevant: float | None, queries: int, results: int) -> World:
    """Judged pairs of one's own; twenty copies of them if there are not ten times as many queries as are drawn."""
    rated, judged = read_table(folder / "ratings.csv"), read_table(folder / "judges.csv")
    rated.require(*PAIR, "rating")
    judged.require("judge", *PAIR, "rating")
    ratings, grades = (
        pd.DataFrame({name: each.texts(name) for name in PAIR} | {"rating": each.numbers("rating", empty=empty)})
        for each, empty in ((rated, False), (judged, True))
    )
    grades["judge"] = judged.texts("judge")
    judged.add(grades.duplicated(["judge", *PAIR]), "result_id", "a judge says one thing of a pair")
    rated.raise_faults()
    judged.raise_faults()
    low, high = ratings["rating"].min(), ratings["rating"].max()
    cut = (low + high) / 2 + 1e-9 if relevant is None else relevant
    said = ratings.assign(
        judgment=(ratings["rating"] - low) / max(high - low, 1e-9), relevant_share=ratings["rating"] >= cut
    )
    pairs = said.groupby(PAIR)[["judgment", "relevant_share"]].mean().reset_index()
    by_judge = grades.pivot(index=PAIR, columns="judge", values="rating").reindex(pd.MultiIndex.from_frame(pairs[PAIR]))
    by_name = {str(name): by_judge[name].to_numpy() for name in by_judge if by_judge[name].notna().any()}
    if not 0 < pairs["relevant_share"].mean() < 1:
        raise RelstudyError(f"{rated.file}: with --relevant {cut:g} every pair is relevant, or none is")
    if not by_name:
        raise RelstudyError(f"{judged.file}: no judge gave a grade for a pair that people rated")
    if system not in by_name:
        raise RelstudyError(f"--system takes one of the judges for the system that is scored: {', '.join(by_name)}")
    own = by_name[system]
    step = np.diff(np.unique(own[np.isfinite(own)])).min(initial=1.0)
    pairs["score"] = np.nan_to_num(own, nan=np.nanmin(own) - step) + np.random.default_rng(SEED).uniform(
        0, step, len(own)
    )
    others = {name: grades for name, grades in by_name.items() if name != system}
    explains = {name: pd.Series(each).corr(pairs["relevant_share"]) ** 2 for name, each in others.items()}
    best = max(explains, key=lambda name: np.nan_to_num(explains[name])) if others else str(system)
    special = special_judges(
        np.nan_to_num(by_name[best], nan=np.nanmin(by_name[best])),
        pairs["relevant_share"].to_numpy(),
        pairs["score"].to_numpy(),
    )
    known = pairs["query_id"].nunique()
    copies = 1 if known >= 10 * queries else 20
    drawn = min(queries, copies * known)
    decided = (
        f"A rating of {cut:g} or more is relevant"
        + (", more than the middle of the ratings (--relevant)." if relevant is None else "."),
        f"{len(pairs):,} pairs of {known} queries have ratings, {ratings.groupby(PAIR).size().mean():.1f} each; "
        f"{len(grades) - int(by_judge.notna().to_numpy().sum()):,} rows of judges are of other pairs or have no grade.",
        f"A pair that a judge gave no grade counts as refused; {system}, whose ties are broken by chance, takes one "
        "without a grade for its worst.",
        f"Noise aside, judges that are no good are made of {best}, which explains most of people's judgments.",
    )
    if copies > 1:
        decided += (
            f"The collection is {copies} copies of these queries, so that a study of {drawn} can draw one of them more "
            "than once: 95 % is then of samples from so many more queries like these.",
        )
    many = pd.concat([pairs.assign(query_id=pairs["query_id"] + f"/{copy}") for copy in range(copies)])
    tiled = {name: np.tile(each, copies) for name, each in (others | special).items()}
    several = tuple(others) if len(others) > 5 else ()
    return World(many.reset_index(drop=True), tiled, drawn, results, several, decided)


WORLDS: dict[str, Callable[[Path], World]] = {"diras": diras, "viescore": viescore, "passages": passages}
