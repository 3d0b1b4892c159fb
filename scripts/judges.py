"""People's figures with an automatic judge's help: bias, coverage and width, beside the ways it is usually done.

    python scripts/judges.py diras [--data ../shared/data] [--studies 300]
    python scripts/judges.py viescore [--studies 100]
    python scripts/judges.py passages [--studies 200] [--seed 12]

`diras`: 11 questions x 60 paragraphs (two annotators, GPT-4, an embedding whose cosine is the system that is scored).
A study draws 12 questions with replacement and 12 paragraphs of each, likelier where the system ranks them high; to
have each question as often as it is drawn, the collection is twenty copies of it. `viescore`: 376 prompts x 5 or 9
pictures (three people, 16 vision-language models; `llava_0shot` stands for the system). A study draws 40 prompts and 3
pictures of each. `passages`: made up, of another shape: 250 queries x 120 passages on four grades, a system with tied
scores, 33 judges from good to useless, one that says the same of everything, one that answers for half of the queries
only, one that was given the richer half of them; a study draws 25 queries and 15 passages of each.

Judges: those of the data; noise; the best one upside down; one that refuses a third of the pairs, mostly those that
people like; one that is the system itself (circular). Each judged the whole collection, or (with --sampled) the drawn
queries alone. Two tables: coverage of 95 % intervals and mean width against people alone, by judge and index; and for
the relevant share bias, the same over the standard deviation, coverage and width of every way. Ways beside ours: the
mean of ppi_py (Angelopoulos, Duchi and Zrnic 2023), weighted by design or not; the judge alone, its grades read as
shares; and its grades instead of their worth, with weight one. ppi_py comes with `pip install ppi-python`.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import SHARES, Retrieval, thresholds_at
from relstudy.analysis.judges.run import assist_scores
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.console import print_table, progress
from relstudy.studyapp.sampling.drawing import inclusion_probabilities, systematic_sample

PAIR = ["query_id", "result_id"]
SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
INDICES = ("relevant_share", "precision_at_0.2", "recall_at_0.2", "average_precision", "normalised_rank", "pearson")
NORMAL = float(special.ndtri(0.975))
SEED = 11
PPI_PY = importlib.util.find_spec("ppi_py") is not None


@dataclass(frozen=True, eq=False)
class World:
    """A collection of which people judged every pair.

    Parameters
    ----------
    pairs : query_id, result_id, judgment (0 to 1), relevant_share, score (the system's)
    judges : each judge's grade of every pair, NaN where there is no answer, -inf where it was not given the pair
    queries, results : how many a study draws
    """

    pairs: pd.DataFrame
    judges: Mapping[str, np.ndarray]
    queries: int
    results: int

    def truth(self) -> dict[str, float]:
        """Every index over the whole collection."""
        relevance, score, judgment = (self.pairs[each].to_numpy() for each in ("relevant_share", "score", "judgment"))
        ones, row = np.ones(len(score)), np.zeros(len(score), dtype=np.int64)
        whole = Retrieval(row, relevance, np.ones((1, 1)))
        figures = {name: each.value for name, each in whole.indices(score, ones).items()}
        at = whole.at_thresholds(score, ones, np.array(SHARES), thresholds_at(score, ones, SHARES))
        fifth = SHARES.index(0.2)
        figures |= {"precision_at_0.2": at.precision[fifth].value, "recall_at_0.2": at.recall[fifth].value}
        correlation = CorrelationBootstrap(row, judgment, np.ones((1, 1))).correlate(score, ("pearson",))
        return figures | {"relevant_share": float(relevance.mean()), "pearson": correlation["pearson"].value}

    def study(self, random: np.random.Generator) -> np.ndarray:
        """Rows drawn and their probabilities given the query, float [2, pairs]."""
        codes, names = pd.factorize(self.pairs["query_id"])
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
        score = self.pairs["score"].to_numpy()
        rows, given = [], []
        for query in random.choice(len(names), self.queries, replace=False):
            of_query = order[ends[query] : ends[query + 1]]
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
    return World(pairs, by_name, 40, 3)


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
    return World(pairs, judges | special_judges(judges["judge 5"], pairs["relevant_share"].to_numpy(), score), 25, 15)


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


def one_study(
    world: World, grades: np.ndarray, random: np.random.Generator, replicates: int, sampled: bool
) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Value and ends of every index by way: "people", "with the judge", and the rivals."""
    drawn, given = world.study(random)
    rows = drawn.astype(np.int64)
    judged = world.pairs.iloc[rows].reset_index(drop=True)
    columns = {"inclusion_probability": given, "relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 1.0}
    pairs = JudgedPairs.of(judged[[*PAIR, "judgment", "relevant_share"]].assign(**columns))
    options = ScoringOptions(replicates=replicates, measures=(), method="none", directions={"*": "higher"})
    scores = world.pairs[[*PAIR, "score"]]
    candidate = candidate_of(pairs, "system", scores, options)
    table = world.pairs[PAIR].assign(rating=grades)[~np.isneginf(grades)]
    grades = np.where(np.isneginf(grades), np.nan, grades)
    if sampled:
        table = table[table["query_id"].isin(pairs.queries)]
    helped = assist_scores(pairs, [candidate], {"system": scores}, read_judge(table), options, INDICES)
    ends: dict[str, dict[str, tuple[float, float, float]]] = defaultdict(dict)
    for index in INDICES:
        figure = helped.systems["system"][index]
        for way, each in (("people alone", figure.people), ("relstudy", figure.estimate)):
            ends[way][index] = tuple(np.nan if v is None else v for v in (each.value, each.low, each.high))
    for way, (value, half) in rivals(judged["relevant_share"].to_numpy(), rows, pairs.query, 1 / given, grades).items():
        ends[way]["relevant_share"] = (value, value - half, value + half)
    return ends


def simulate(
    world: World, grades: np.ndarray, studies: int, replicates: int, sampled: bool = False, seed: int = SEED
) -> dict[str, dict[str, np.ndarray]]:
    """Every way's values and ends, float [studies, 3] by way and index; every judge meets the same studies."""
    random = np.random.default_rng(seed)
    runs = [one_study(world, grades, random, replicates, sampled) for _ in range(studies)]
    return {way: {index: np.array([run[way][index] for run in runs]) for index in runs[0][way]} for way in runs[0]}


def told(truth: float, ends: np.ndarray, people: np.ndarray) -> tuple[float, str, float, float]:
    """Bias, the same over the standard deviation, coverage, and mean width against people alone."""
    value, low, high = ends.T
    covered = np.mean((low <= truth) & (truth <= high))
    width = np.nanmean(high - low) / np.nanmean(people[:, 2] - people[:, 1])
    bias, spread = np.nanmean(value) - truth, np.nanstd(value)
    over = f"{bias / spread:+.2f}" if spread > 1e-9 else "–"
    return float(bias), over, float(covered), float(width)


WORLDS: dict[str, Callable[[Path], World]] = {"diras": diras, "viescore": viescore, "passages": passages}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=list(WORLDS))
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--sampled", action="store_true", help="the judge judged the drawn queries alone")
    parser.add_argument("--judge", action="append", help="only this judge; may be repeated")
    parser.add_argument("--seed", type=int, default=SEED, help="of the studies that are drawn")
    given = parser.parse_args()
    world = WORLDS[given.world](given.data)
    truth = world.truth()
    print("truth:", ", ".join(f"{index} {truth[index]:.3f}" for index in INDICES))
    print(
        f"{given.studies} studies of {world.queries} queries x {world.results} pairs, {given.replicates} replicates, "
        f"seed {given.seed}. Coverage, and width against people alone:"
    )
    brief, rows = [], []
    for name in progress(given.judge or list(world.judges), "judges"):
        by_way = simulate(world, world.judges[name], given.studies, given.replicates, given.sampled, given.seed)
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
    if not PPI_PY:
        print("Without the rows of ppi_py, which is not installed: pip install ppi-python")


if __name__ == "__main__":
    main()
