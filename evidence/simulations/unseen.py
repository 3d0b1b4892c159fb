"""What no other table tries: each method in worlds of another shape, with seeds and sizes that nothing was tuned to.

    python evidence/coverage.py unseen [--studies 100] [--only null couples ...]

A row is a figure of one method: how often it holds (an interval, a probability) or rejects (a test of equal systems),
beside what it should be, and the standard error over studies. Every world has another shape than the method assumes:

    plan         no pilot: power said by `plan` for normal values, against studies of `calibrate` and `score` where
                 values are lognormal, queries exponential, and one rater in ten does not look
    null         two equal systems on 6 or 10 queries, lognormal values; scores in full, or in four steps (tied)
    measures     statAP, nDCG and P from a sample, and infAP's strata: queries of 1 to 80 relevant results, heavy tails
    assisted     the other systems' scores as help, where values come in two lumps and errors are skewed
    rounds       two rounds of the same queries, people alone, in the world of `assisted`; and the error of five looks
                 at two equal systems, with further rounds by mappings or by a judge who squeezes the upper half
    bands        90 % bands of mappings at nine scores: a plateau and a hockey stick, skewed noise, unequal queries
    curve        95 % intervals of precision and recall at shares of the collection, in the world of `assisted`
    changes      change points drawn from the prior of `bayes`: its 90 % band, its place in the posterior, and how far
                 the sampler's and PyMC's mean curves are from the exact one, in posterior standard deviations
    rasch        severities and worths of skewed pairs, raters who discriminate unequally
    classes      dawid-skene, glad, mace: judgments of two panels of the same pairs, each within the other's error; and
                 the consensus right as often as its probability says
    g-theory     worths in two lumps, lognormal raters, Weibull noise
    couples      preferences by normal errors with heavy tails, raters who each see something else in part
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import special

import relstudy as rs
from evidence import sampled_measures
from evidence.simulations import assisted, generalizability, loop
from relstudy.analysis.planning.options import Assumptions, PlanOptions
from relstudy.analysis.planning.power import plan_study
from relstudy.analysis.planning.simulated_worlds import Collection, Drawing, People, World
from relstudy.analysis.planning.sources import assumed_studies
from relstudy.calibration.methods.bradley_terry import Couples, fit_preferences
from relstudy.calibration.methods.rasch import rasch
from relstudy.calibration.panel import Panel
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share
from relstudy.mapping.changepoint.mapping import BayesMapping
from relstudy.mapping.methods import make_mapping

SEED, REPLICATES = 811_204, 200
INDICES = ("pearson", "average_precision", "same_query", "normalised_rank")
Study = Callable[[int], dict[str, float]]
"""Of one study, by figure, the share that holds."""
Row = tuple[str, str, float, float, float]
"""The world, the figure, what it should be, what it is, and the standard error."""


def summed(world: str, should: float, study: Study, number: int) -> Iterator[Row]:
    """Rows of a world's figures; a figure that a study withholds is not counted."""
    found: dict[str, list[float]] = defaultdict(list)
    for seed in progress(range(number), world, number):
        for name, share in study(seed).items():
            if not np.isnan(share):
                found[name].append(share)
    for name, shares in found.items():
        spread = max(float(np.std(shares)), np.sqrt(should * (1 - should)) if len(set(shares)) < 2 else 0.0)
        yield world, f"{name} ({len(shares)})", should, float(np.mean(shares)), spread / np.sqrt(len(shares))


def lumps(random: np.random.Generator, size: int, high: float = 0.12) -> np.ndarray:
    """Values in two lumps: most about 0 with Laplace's tails, the others about 2.5."""
    return np.where(random.random(size) < high, 2.5, 0.0) + random.laplace(size=size) / 2


def skewed_collection(queries: int, skills: Sequence[float], random: np.random.Generator) -> Collection:
    """40 to 120 results a query, lognormal values, exponential queries; errors are skewed and have a common part."""
    query = np.repeat(np.arange(queries), random.integers(40, 121, queries))
    value = np.exp(0.9 * random.normal(size=len(query))) / 2 + 0.4 * random.exponential(size=queries)[query]
    value = value / value.std()
    common = random.exponential(size=len(query)) - 1
    scores = {}
    for number, skill in enumerate(skills):
        error = 0.5 * common + np.sqrt(0.75) * random.standard_t(4, len(query)) / np.sqrt(2)
        scores[f"system {number + 1}"] = skill * value + np.sqrt(1 - skill**2) * error
    return Collection(query, value - value.mean(), scores)


# plan


def plan(studies: int) -> Iterator[Row]:
    assumed = Assumptions(correlations=(0.6, 0.35), ratings_each=1, base=20, results=10, candidates=80, exponent=0.5,
                          floor=0.4, relevant_share=0.3, query_sd=0.4)  # fmt: skip
    source = assumed_studies(assumed, raters=10)[0]
    for index in ("pearson", "average_precision"):
        options = PlanOptions(index=index, studies=60, seed=SEED, base=20, raters=10)
        promised = float(plan_study(source, options, [20, 34, 50]).power_at(34))
        yield from summed(f"plan: {index}", promised, partial(_planned, source, index), studies)


def _planned(source: object, index: str, seed: int) -> dict[str, float]:
    """Whether a study finds the better system."""
    random = np.random.default_rng([SEED, 1, seed])
    world = source.world(34, random)  # type: ignore[attr-defined]
    made = skewed_collection(34, (0.6, 0.35), random)
    people = replace(world.people, careless=0.1, noise=0.75)
    study = replace(world, collection=replace(made, value=np.hypot(0.4, 1.0) * made.value), people=people, torn_at=None,
                    reach_of_query=None).draw(34, random)  # fmt: skip
    tested = _tests(study.ratings, study.pairs, study.scores, seed)
    p, lead = tested[index]
    return {"power": float(p is not None and p < 0.05 and lead > 0)}


def _tests(
    ratings: pd.DataFrame, pairs: pd.DataFrame, scores: pd.DataFrame, seed: int
) -> dict[str, tuple[float | None, float]]:
    """p and the first system's lead by index, of the first two systems."""
    panel = rs.calibrate(ratings, pairs=pairs)
    options = {"method": "none", "measures": [], "direction": "higher", "replicates": REPLICATES, "seed": seed}
    result = rs.score(scores, panel, **options).result
    first, second = (system.name for system in result.systems[:2])
    return {each.index: (each.p_value, each.difference.value or 0.0) for each in result.comparisons
            if (each.first, each.second) == (first, second)}  # fmt: skip


# tests of two equal systems


def null(studies: int) -> Iterator[Row]:
    for queries in (6, 10):
        for tied in (False, True):
            how = "scores in four steps" if tied else "lognormal values"
            yield from summed(f"null: {queries} queries, {how}", 0.05, partial(_equal, queries, tied), studies)


def _equal(queries: int, tied: bool, seed: int) -> dict[str, float]:
    """Whether each index tells two systems apart that are equal in the collection: half of its queries are the other
    half with the scores swapped."""
    random = np.random.default_rng([SEED, 2, queries, int(tied), seed])
    half = skewed_collection(60, (0.55, 0.55), random)
    one, two = half.scores.values()
    if tied:
        one, two = (np.digitize(each, np.quantile(each, [0.5, 0.75, 0.9])).astype(float) for each in (one, two))
    scores = {"system 1": np.r_[one, two], "system 2": np.r_[two, one]}
    collection = Collection(np.r_[half.query, half.query + 60], np.tile(half.value, 2), scores)
    people = People(raters=6, ratings_each=2, base=10, leniency=0.4, noise=0.6, relevant=0.3)
    study = World(collection, Drawing(results=30, exponent=0.5, floor=0.5), people).draw(queries, random)
    tested = _tests(study.ratings, study.pairs, study.scores, seed)
    return {name: np.nan if tested[name][0] is None else float(tested[name][0] < 0.05) for name in INDICES}


# measures of a sample


class UnevenWorld(sampled_measures.World):
    """Queries of 1 to 80 relevant results, and systems whose errors have heavy tails."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        shape = (sampled_measures.QUERIES, sampled_measures.RESULTS)
        truth = random.standard_t(4, shape) / np.sqrt(2)
        relevant = np.exp(random.uniform(0, np.log(80), shape[0])).round().astype(int)
        place = np.argsort(np.argsort(-truth, axis=1), axis=1)
        shares = (1.0, 0.5, 0.2)
        self.gain = sum((place < np.maximum(1, share * relevant[:, None]).round()) * 1.0 for share in shares)
        noise = [random.standard_t(4, shape) / np.sqrt(2) for _ in range(3)]
        skills = (0.75, 0.6, 0.65)
        self.score = [r * truth + np.sqrt(1 - r * r) * each for r, each in zip(skills, noise, strict=True)]
        self.score.append(self.score[0])
        self.rank = [shape[1] - each.argsort(axis=1).argsort(axis=1) for each in self.score]


def measures(studies: int) -> Iterator[Row]:
    world = UnevenWorld(SEED)
    designs = [each for each in sampled_measures.DESIGNS if each.name in ("1, 0.05", "0.5, 0.2", "strata")]
    for design in designs:
        if design.number == 6:
            continue
        for row in sampled_measures.rows(world, design, studies, SEED):
            name, drawn, who, _, figure, *_, given, held, _ = row
            if not figure.startswith(("estimated", "by strata")) or held.startswith("["):
                continue
            number = round(int(given.rstrip("%")) / 100 * studies)
            error = np.sqrt(0.95 * 0.05 / max(number, 1))
            where = f"measures: {name}, {drawn} results, {who}"
            yield where, f"{figure} ({number})", 0.95, int(held.rstrip("%")) / 100, error


# help of the systems' scores, rounds of the same queries, and precision and recall


def lumpy_world(rounds: int) -> assisted.World:
    """The collection of `assisted` in another shape, of six systems, in one round of draws or two."""
    random = np.random.default_rng([SEED, 4, rounds])
    number = random.integers(50, 251, assisted.QUERIES)
    query = np.repeat(np.arange(assisted.QUERIES), number)
    value = lumps(random, len(query)) + 0.5 * random.standard_t(5, assisted.QUERIES)[query]
    middle = 1 + 4 * special.expit(1.6 * (value - 1.6))
    seen = (value - value.mean()) / value.std()
    common = random.exponential(size=len(query)) - 1
    score = {}
    names = ("one", "two", "new 1", "new 2", "useless", "upside down")
    for name, skill in zip(names, (0.6, 0.55, 0.5, 0.3, 0.0, -0.4), strict=True):
        error = 0.5 * common + np.sqrt(0.75) * random.laplace(size=len(query)) / np.sqrt(2)
        score[name] = skill * seen + np.sqrt(1 - skill**2) * error
    given = np.empty((rounds, len(query)))
    for begin, end in zip(np.r_[0, np.cumsum(number)[:-1]], np.cumsum(number), strict=True):
        for each, named in zip(given, (names[:2], names[2:4]), strict=False):
            size = np.mean([rank_share(score[name][begin:end], 0.8)[0] for name in named], axis=0)
            each[begin:end] = inclusion_probabilities(0.75 * size + 0.25 / (end - begin), 16 // rounds)
    return assisted.World(query, middle, score, tuple(given), middle)


def _assisted(rounds: int, queries: int, studies: int, which: int, wanted: Sequence[str]) -> Iterator[Row]:
    tallies = assisted.run_cell(lumpy_world(rounds), queries, studies, "plain")["systems"]
    for name in ("one", "new 1", "one - new 1"):
        for index in wanted:
            tally = tallies.get((name, index))
            if tally is None or not tally.rows:
                continue
            share = tally.coverage[which]
            error = np.sqrt(0.95 * 0.05 / len(tally.rows))
            yield f"{queries} queries, {name}", f"{index} ({len(tally.rows)})", 0.95, share, error


def assisted_by_systems(studies: int) -> Iterator[Row]:
    for queries in (15, 80):
        for world, *rest in _assisted(1, queries, studies, 0, [*INDICES[:2], INDICES[3]]):
            yield f"assisted: {world}", *rest  # type: ignore[misc]


def curve(studies: int) -> Iterator[Row]:
    wanted = [each for each in assisted.INDICES if "_at_" in each]
    for world, *rest in _assisted(1, 40, studies, 1, wanted):
        if " - " not in world:
            yield f"curve: {world}", *rest  # type: ignore[misc]


def rounds(studies: int) -> Iterator[Row]:
    for world, *rest in _assisted(2, 30, studies, 1, [*INDICES[:2], INDICES[3]]):
        yield f"rounds: {world}", *rest  # type: ignore[misc]
    for way in ("rounds by mappings", "rounds by judge"):
        yield from summed(f"rounds: five looks, {way}", 0.05, partial(_looked, way), studies)


def _looked(way: str, seed: int) -> dict[str, float]:
    """Whether two equal systems get a winner; half of the queries are the other half with the scores swapped."""
    random = np.random.default_rng([SEED, 5, seed])
    shape = (150, loop.CANDIDATES)
    value = lumps(random, shape[0] * shape[1]).reshape(shape) + 0.4 * random.exponential(size=(shape[0], 1))
    rating = np.clip(np.round(1.6 + value + 0.5 * random.standard_t(4, shape)), 1, 5)
    grade = np.clip(np.round(np.minimum(1.6 + value + 0.5 * random.normal(size=shape), 3 + value / 8)), 1, 5)
    score = value + random.laplace(size=(2, *shape)) + 0.7 * random.exponential(size=shape)
    both = [np.concatenate([each, each]) for each in (rating, grade)]
    world = loop.World(*both, np.concatenate([score, score[::-1]], axis=1))
    return {"winner": float(loop.looked_at(way, world, 5, (SEED, 6, seed))[0] != 0)}


# mappings

CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "plateau": lambda x: 2 + special.expit(8 * (x + 0.8)) + 1.2 * special.expit(8 * (x - 1)),
    "hockey stick": lambda x: 1.5 + 2 * np.maximum(x, 0) ** 1.3,
}


def bands(studies: int) -> Iterator[Row]:
    for method in ("bagged", "bayes"):
        for name in CURVES:
            yield from summed(f"bands: {method}, {name}", 0.9, partial(_banded, method, name), studies)


def _banded(method: str, name: str, seed: int) -> dict[str, float]:
    random = np.random.default_rng([SEED, 7, list(CURVES).index(name), seed])
    size = 1 + random.geometric(1 / 14, 60)
    query = np.repeat(np.arange(60), size)
    score = 0.7 * random.standard_t(6, 60)[query] + random.laplace(size=len(query)) / 2
    lift = 0.4 * (random.exponential(size=60) - 1)
    noise = (0.4 + 0.3 * special.expit(score)) * (random.gamma(2, size=len(query)) - 2) / np.sqrt(2)
    judgment = CURVES[name](score) + lift[query] + noise
    at = np.quantile(score, np.linspace(0.1, 0.9, 9))
    low, high = make_mapping(method, increasing=True).fit(score, judgment, groups=query).mapping_.predict_band(at)
    true = CURVES[name](at)
    return {"band": float(np.mean((low <= true) & (true <= high)))}


def changes(studies: int) -> Iterator[Row]:
    yield from summed("changes: drawn from the prior", 0.9, _from_prior, studies)
    for engine, number in (("sampler", max(studies // 5, 2)), ("pymc", max(studies // 33, 1))):
        yield from summed(f"changes: {engine} beside exact", 0.0, partial(_engines, engine), number)


def _steps(seed: int, sigma: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, judgments and the true curve of 40 scores, five judgments each, drawn from the prior of `bayes`."""
    random = np.random.default_rng([SEED, 8, seed])
    prior = BayesMapping(scale=(0, 1))._prior(None, np.zeros(1))  # type: ignore[arg-type]
    count = np.exp(prior.log_count(40))
    levels = 1 + random.choice(len(count), p=count / count.sum())
    begins = np.sort(random.choice(39, levels - 1, replace=False)) + 1
    value = np.sort(random.choice(prior.levels, levels, replace=False))
    curve_ = value[np.searchsorted(begins, np.arange(40), side="right")]
    while sigma is None or sigma < prior.step:
        sigma = abs(float(random.normal(0, prior.sigma_scale)))
    score = np.repeat(np.arange(40.0), 5)
    return score, np.repeat(curve_, 5) + sigma * random.normal(size=200), curve_


def _from_prior(seed: int) -> dict[str, float]:
    score, judgment, true = _steps(seed, None)
    fit = BayesMapping(scale=(0, 1), increasing=True).fit(score, judgment)
    low, high = fit.mapping_.predict_band(np.arange(40.0))
    step = fit.levels_[1] - fit.levels_[0]
    drawn = fit.draw(200, seed)
    below = (drawn < true - step / 2).mean(axis=0) + (abs(drawn - true) < step / 2).mean(axis=0) / 2
    held = (low - step / 2 <= true) & (true <= high + step / 2)
    return {"90 % band": float(held.mean()), "between the 5th and 95th draw": float(np.mean(abs(below - 0.5) <= 0.45))}


def _engines(engine: str, seed: int) -> dict[str, float]:
    """The largest distance of mean curves and of the chance of each change point."""
    score, judgment, _ = _steps(seed, 0.15)
    exact = BayesMapping(prior="conjugate", increasing=True).fit(score, judgment)
    other = BayesMapping(engine=engine, increasing=True, seed=seed).fit(score, judgment)
    at = np.arange(40.0)
    low, high = exact.mapping_.predict_band(at)
    apart = abs(exact.predict(at) - other.predict(at)) / np.maximum((high - low) / 3.29, 1e-3)
    return {
        "mean curve apart": float(apart.mean()),
        "chance of a change apart": float(abs(exact.changes_ - other.changes_).max()),
    }


# models of raters


def rasch_model(studies: int) -> Iterator[Row]:
    for raters, each in ((8, 8), (20, 4)):
        where = f"rasch: {raters} raters, {each} ratings a pair"
        yield from summed(where, 0.95, partial(_rasch, raters, each), studies)


def _rasch(raters: int, each: int, seed: int) -> dict[str, float]:
    random = np.random.default_rng([SEED, 9, raters, seed])
    worth = 1.2 * (random.exponential(size=150) - 1)
    severity = 0.6 * random.standard_t(5, raters) / np.sqrt(5 / 3)
    severity -= severity.mean()
    sharp = np.exp(0.15 * random.normal(size=raters))
    tau = np.array([-1.2, -0.4, 0.4, 1.2])
    pair = np.repeat(np.arange(150), each)
    rater = np.argsort(random.random((150, raters)), axis=1)[:, :each].ravel()
    steps = sharp[rater, None] * (worth[pair, None] - severity[rater, None] - tau)
    logs = np.c_[np.zeros(len(pair)), np.cumsum(steps, axis=1)]
    chance = np.exp(logs - special.logsumexp(logs, axis=1, keepdims=True)).cumsum(axis=1)
    rating = 1.0 + (random.random(len(pair))[:, None] > chance).sum(axis=1)
    frame = pd.DataFrame({"rater_id": rater, "pair_id": pair, "rating": rating})
    panel = Panel.from_frame(frame, 1, 5)
    found = rasch(panel)
    who, which = (np.asarray(each, dtype=int) for each in (panel.raters, panel.pairs["pair_id"]))
    reach = 1.96 * found.of_raters["severity_error"]
    held = abs(found.of_raters["severity"] - severity[who]) <= reach
    reach = 1.96 * found.of_pairs["worth_error"]
    return {
        "severity": float(held.mean()),
        "worth": float((abs(found.of_pairs["worth"] - worth[which]) <= reach).mean()),
    }


def classes(studies: int) -> Iterator[Row]:
    for method in ("dawid-skene", "glad", "mace"):
        said: list[tuple[float, float]] = []
        yield from summed(f"classes: {method}", 0.95, partial(_classes, method, said), studies)
        probability, right = np.array(said).T
        error = float(np.std(probability - right)) / np.sqrt(len(said))
        name = f"consensus right ({len(said)})"
        yield f"classes: {method}", name, float(probability.mean()), float(right.mean()), error


def _classes(method: str, said: list[tuple[float, float]], seed: int) -> dict[str, float]:
    """Two panels of ten raters, five ratings a pair, rate the same 200 pairs of four unequal classes."""
    random = np.random.default_rng([SEED, 10, seed])
    truth = random.choice(4, 200, p=[0.5, 0.25, 0.15, 0.1])
    hard = random.beta(2, 5, 200)
    judged = []
    for _ in range(2):
        care = random.beta(8, 2, 10)
        favourite = random.integers(4, size=10)
        pair = np.repeat(np.arange(200), 5)
        rater = np.argsort(random.random((200, 10)), axis=1)[:, :5].ravel()
        near = np.clip(truth[pair] + random.choice([-1, 1], len(pair)), 0, 3)
        answer = np.where(random.random(len(pair)) < 1 - hard[pair] / 2, truth[pair], near)
        answer = np.where(random.random(len(pair)) < care[rater], answer, favourite[rater])
        frame = pd.DataFrame({"rater_id": rater, "query_id": pair // 5, "result_id": pair, "rating": answer + 1.0})
        judged.append(rs.calibrate(frame, method=method, scale="1-4").judgments)
    one, two = (each.set_index(each["result_id"].astype(int)).sort_index() for each in judged)
    apart = abs(one["judgment"] - two["judgment"])
    reach = 1.96 * np.hypot(one["standard_error"], two["standard_error"])
    right = one["consensus"].to_numpy() == truth[one.index] + 1
    said.append((float(one["consensus_probability"].mean()), float(right.mean())))
    return {"judgments of two panels": float((apart <= reach + 1e-9).mean())}


def g_theory(studies: int) -> Iterator[Row]:
    generalizability.SHAPES["lumps"] = lambda random, size: (random.choice([-1.0, 1.0], size) + random.normal(
        size=size) / 2) / np.sqrt(1.25)  # fmt: skip
    v = generalizability.VARIANCES
    worth, error = v["query"] + v["result"], v["taste"] + v["rest"]
    truth = {"erho2": worth / (worth + error), "phi": worth / (worth + error + v["rater"])}
    for queries, raters, each in ((25, 5, None), (40, 16, 4)):
        where = f"g-theory: {queries} queries x 5 results, {raters} raters"
        yield from summed(where, 0.95, partial(_g_theory, queries, raters, each, truth), studies)


def _g_theory(queries: int, raters: int, each: int | None, truth: dict[str, float], seed: int) -> dict[str, float]:
    random = np.random.default_rng([SEED, 11, raters, seed])
    shapes = {"worths": "lumps", "lenience": "lognormal", "noise": "Weibull .8"}
    table = generalizability.ratings(random, queries, 5, raters, each, False, **shapes)
    found, held = generalizability.of_ratings(table), {}
    for name, single in truth.items():
        estimate = found.coefficient(name)
        wanted = found.each * single / (1 + (found.each - 1) * single)
        known = estimate.low is not None and estimate.high is not None
        held[name] = float(estimate.low <= wanted <= estimate.high) if known else np.nan
    return held


def couples(studies: int) -> Iterator[Row]:
    for raters in (12, 40):
        yield from summed(f"couples: {raters} raters", 0.95, partial(_couples, raters, 60), max(studies // 4, 2))


def _couples(raters: int, answers: int, seed: int) -> dict[str, float]:
    """Whether intervals of qualities and of differences hold the truth, up to the scale that a least-squares line of
    the estimates on the truth tells: the model's logit is not the world's unit."""
    random = np.random.default_rng([SEED, 12, raters, seed])
    query = np.repeat(np.arange(30), 8)
    truth = random.gumbel(0, 0.9, len(query))
    taste = 0.35 * random.standard_t(5, (raters, len(query)))
    rater = np.repeat(np.arange(raters), answers)
    first = random.integers(8, size=len(rater))
    second = (first + random.integers(1, 8, size=len(rater))) % 8
    start = random.integers(30, size=len(rater)) * 8
    left, right = start + first, start + second
    gap = (
        truth[left] - truth[right] + taste[rater, left] - taste[rater, right] + 0.2 * random.normal(size=raters)[rater]
    )
    gap += random.standard_t(4, len(rater))
    width = 0.3 * np.exp(0.4 * random.normal(size=raters))[rater]
    answer = np.where(gap > width, -1, np.where(gap < -width, 1, 0))
    made = Couples(rater, left, right, answer, query, raters)
    found = fit_preferences(made)
    seen = np.isin(np.arange(len(query)), np.r_[left, right])
    centred = truth - np.bincount(query, truth)[query] / 8
    quality = found.quality - np.bincount(query, found.quality)[query] / 8
    sign = np.sign(quality[seen] @ centred[seen])
    noise = float(np.mean(found.standard_error[seen] ** 2))
    scale = sign * np.sqrt(max(float(np.var(quality[seen])) + noise, 1e-9)) / np.std(centred[seen])
    held = abs(quality - scale * centred) <= 1.96 * found.standard_error
    return {"quality within its query": float(held[seen].mean())}


TABLES: dict[str, Callable[[int], Iterator[Row]]] = {
    "plan": plan,
    "null": null,
    "measures": measures,
    "assisted": assisted_by_systems,
    "rounds": rounds,
    "bands": bands,
    "curve": curve,
    "changes": changes,
    "rasch": rasch_model,
    "classes": classes,
    "g-theory": g_theory,
    "couples": couples,
}


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py unseen", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=[*TABLES])
    given = parser.parse_args(argv)
    print(f"{given.studies} studies a world, seed {SEED}; in brackets the studies that give the figure.\n", flush=True)
    for name in given.only:
        rows = [
            [world, figure, f"{100 * should:.1f}", f"{100 * share:.1f}", f"{100 * error:.1f}",
             f"{(share - should) / error:+.1f}" if should * error > 0 else ""]
            for world, figure, should, share, error in TABLES[name](given.studies)
        ]  # fmt: skip
        print_table(rows, ["world", "figure", "should be %", "is %", "error", "errors apart"])
        print(flush=True)
