"""The mean of pairs drawn alike in one stage is that of prediction-powered inference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.judges.estimator import Assisted
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import assist_scores
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

ALL, DRAWN = 3000, 60


def power_tuned(y: np.ndarray, m: np.ndarray, everywhere: np.ndarray, power: float) -> tuple[float, float]:
    """Point estimate and standard error of a mean (Angelopoulos, Duchi and Zrnic 2023, section 2 with the loss of a
    mean); the second variance is that of a sample from an endless population."""
    value = np.mean(y - power * m) + power * everywhere.mean()
    variance = np.var(y - power * m) / len(y) + power**2 * np.var(everywhere) / len(everywhere)
    return float(value), float(np.sqrt(variance))


@pytest.fixture(scope="module")
def case() -> tuple[Assisted, np.ndarray, np.ndarray, np.ndarray]:
    """Queries of one pair each, 60 of 3,000 drawn alike: the assisted share, y, m of these, m of all."""
    random = np.random.default_rng(6)
    truth = random.normal(size=ALL)
    ids = {"query_id": [f"q{k}" for k in range(ALL)], "result_id": "r"}
    every = pd.DataFrame(ids | {"score": random.normal(size=ALL), "judgment": (truth > 0.4) * 1.0})
    drawn = np.sort(random.choice(ALL, DRAWN, replace=False))
    known = {"inclusion_probability": DRAWN / ALL, "query_probability": DRAWN / ALL}
    scale = {"relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 1.0}
    judged = every.loc[drawn, [*PAIR, "judgment"]].assign(**known, **scale).reset_index(drop=True)
    judge = read_judge(every[PAIR].assign(rating=np.digitize(truth + random.normal(size=ALL) / 2, [-0.5, 0.4, 1.2])))
    options = ScoringOptions(replicates=2000, method="none", measures=(), directions={"*": "higher"}, population="open")
    pairs = JudgedPairs.of(judged)
    scores = every[[*PAIR, "score"]]
    candidate = candidate_of(pairs, "system", scores, options)
    helped = assist_scores(Universe.of(pairs, judge, options), [candidate], {"system": scores}, ("relevant_share",))
    universe = Universe.of(pairs, judge, options)
    m = universe.worth.relevance
    y = judged["judgment"].to_numpy()
    return helped.systems["system"]["relevant_share"], y, m[universe.row_of_judged], m


def test_the_mean_is_that_of_the_formula(case: tuple[Assisted, np.ndarray, np.ndarray, np.ndarray]) -> None:
    figure, *given = case
    power = figure.weights[1]
    assert power > 0.5 and figure.weights[0] == 0  # each query is its own only pair: nothing to choose within it
    value, error = power_tuned(*given, power)
    assert figure.estimate.value == pytest.approx(value, abs=1e-9)
    # a good judge leaves few residuals, and large: their kurtosis takes degrees of freedom (on the plain scale here
    # and on the logit scale there, which moves it by a few hundredths)
    residual = given[0] - power * given[1]
    moved = residual - residual.mean()
    kurtosis = np.mean(moved**4) / np.mean(moved**2) ** 2
    assert figure.degrees == pytest.approx(2 / ((kurtosis - 3) / DRAWN + 2 / (DRAWN - 1)), rel=0.1)
    # ours has a factor for the one tuned weight, takes all 3,000 as the whole collection, and is of 2,000 replicates
    corrected = error * np.sqrt(DRAWN / (DRAWN - 2))
    assert figure.standard_error == pytest.approx(corrected, rel=0.08)


def test_the_mean_is_that_of_ppi_py(case: tuple[Assisted, np.ndarray, np.ndarray, np.ndarray]) -> None:
    """With our weight and with its own; it is not part of the tests' requirements, since its wheel brings a package
    called tests."""
    ppi_py = pytest.importorskip("ppi_py")
    figure, *given = case
    same = ppi_py.ppi_mean_pointestimate(*given, lam=figure.weights[1])
    assert figure.estimate.value == pytest.approx(float(np.squeeze(same)), abs=1e-9)
    low, high = (float(np.squeeze(end)) for end in ppi_py.ppi_mean_ci(*given, alpha=0.05))
    # its weight is tuned by a formula, ours by the replicates; Student's t and the logit scale widen ours a little
    assert figure.estimate.value == pytest.approx((low + high) / 2, abs=0.1 * (high - low))
    assert 0.95 < (figure.estimate.high - figure.estimate.low) / (high - low) < 1.15


def test_the_formula_is_the_one_that_ppi_py_computes() -> None:
    """Numbers printed by ppi_py 0.2.3, ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05), for these arrays."""
    y = np.array([1.0, 0, 0, 1, 1, 0, 1, 0])
    m = np.array([0.8, 0.1, 0.3, 0.7, 0.9, 0.2, 0.4, 0.4])
    everywhere = np.linspace(0.05, 0.95, 40)
    value, error = power_tuned(y, m, everywhere, 0.75)
    assert value == pytest.approx(0.51875, abs=1e-12)
    assert 1.959963984540054 * error == pytest.approx(0.25087262, abs=1e-8)
