"""The Rasch model: published figures of the law school test, simulation, and its line of output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import minimize

import relstudy as rs
from relstudy.calibration.methods.rasch import Rasch, rasch
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation, scored_rows
from relstudy.calibration.simulation import simulate_panel
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import succeeds

LSAT = [
    *(3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15),
    *(10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298),
]
"""Bock and Lieberman 1970, section 6 of the Law School Admission Test: how many of 1,000 people have each pattern of
right answers to five questions, 00000, 00001, 00010, ..., 11111."""


def graded(raters: int, pairs: int, seed: int, steps: tuple[float, ...] = (-1.5, 0.0, 1.5)) -> tuple[Panel, np.ndarray]:
    """Everyone rates everything by the model itself: a panel, and the severities."""
    random = np.random.default_rng(seed)
    worth, severity = random.normal(0, 1.5, pairs), random.normal(0, 0.8, raters)
    severity -= severity.mean()
    until = np.concatenate([[0], np.cumsum(steps)])
    logits = np.arange(len(until)) * (worth[:, None] - severity)[:, :, None] - until
    chances = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    rating = (random.random((pairs, raters, 1)) > chances.cumsum(axis=2)).sum(axis=2)
    pair, rater = np.indices(rating.shape)
    frame = pd.DataFrame({"rater_id": rater.ravel(), "pair_id": pair.ravel(), "rating": rating.ravel()})
    return Panel.from_frame(frame), severity


def test_the_law_school_test_has_the_difficulties_that_are_published() -> None:
    """Marginal maximum likelihood with one discrimination for all: Rizopoulos 2006, section 3.1 (ltm)."""
    answers = np.repeat([[int(digit) for digit in f"{pattern:05b}"] for pattern in range(32)], LSAT, axis=0)
    pair, rater = np.indices(answers.shape)
    frame = pd.DataFrame({"rater_id": rater.ravel(), "pair_id": pair.ravel(), "rating": answers.ravel()})
    model = Rasch(Panel.from_frame(frame), answers.ravel(), 2)
    severity, _, spread, _ = model.parameters(model.mode())
    value, slope = model.negative(np.append(severity, np.log(spread)))
    # as many digits as are printed there
    assert severity / spread == pytest.approx([-3.615, -1.322, -0.318, -1.730, -2.780], abs=6e-4)
    assert spread == pytest.approx(0.755, abs=6e-4)
    assert value == pytest.approx(2466.938, abs=6e-4)
    assert np.abs(slope).max() < 1e-2


@pytest.mark.parametrize("facets", [False, True])
def test_the_gradient_is_that_of_the_likelihood(facets: bool) -> None:
    panel = Panel.from_frame(in_sessions(results=4), facets=FACETS) if facets else graded(4, 30, seed=2)[0]
    model = Rasch(panel, panel.rating.astype(int), 4)
    at = np.random.default_rng(1).normal(0, 0.3, 5 + 3 + 2 + 2 + 1 if facets else 4 + 3)
    _, gradient = model.negative(at)
    for number, step in enumerate(1e-5 * np.eye(len(at))):
        difference = (model.negative(at + step)[0] - model.negative(at - step)[0]) / 2e-5
        assert gradient[number] == pytest.approx(difference, abs=1e-4)  # second differences of a sum near 150


@pytest.mark.parametrize("facets", [(), ("session",)])
def test_errors_are_those_of_the_information_by_differences_of_the_gradient(facets: tuple[str, ...]) -> None:
    panel = Panel.from_frame(in_sessions(results=8), facets=facets) if facets else graded(8, 150, seed=1)[0]
    model = Rasch(panel, np.unique(panel.rating, return_inverse=True)[1], 4)
    at = model.mode()
    sides = [[model.negative(at + side * step)[1] for side in (1, -1)] for step in 1e-4 * np.eye(len(at))]
    information = np.array([above - below for above, below in sides]) / 2e-4
    raters = panel.n_raters
    centred = np.eye(raters) - 1 / raters
    covariance = centred @ np.linalg.inv((information + information.T) / 2)[:raters, :raters] @ centred
    # a worth's posterior is taken for narrow beside the curve of a rating's mean: half a percent here
    assert rasch(panel).of_raters["severity_error"] == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.01)


@pytest.mark.slow
def test_severities_are_found_and_lie_within_their_errors() -> None:
    """64 severities of eight panels; 95 % intervals hold 95 % of them but for a binomial error of 2.7 points."""
    within, squares = [], []
    for seed in range(8):
        panel, severity = graded(8, 150, seed)
        found = rasch(panel).of_raters
        order = np.argsort(panel.raters)
        off = (found["severity"][order] - severity) / found["severity_error"][order]
        within.append(np.abs(off) < 1.96)
        squares.append([found["infit"], found["outfit"]])
    assert 0.87 <= np.mean(within) <= 1
    # each mean square of 150 ratings has a standard error near .1, their mean of 64 near .02
    assert np.mean(squares, axis=(0, 2)) == pytest.approx([1, 1], abs=0.06)


def test_who_answers_at_random_has_a_large_outfit_and_is_named() -> None:
    panel, _ = graded(6, 120, seed=3)
    random = np.random.default_rng(3)
    careless = panel.with_rating(np.where(panel.rater == 2, random.integers(0, 4, len(panel.rating)), panel.rating))
    fitted = rasch(careless)
    assert int(np.argmax(fitted.of_raters["outfit"])) == 2
    assert fitted.of_raters["infit"][2] > 1.5
    assert "infit mean squares of 0.5 to 1.5 are productive, outside them: 2" in fitted.note


def test_a_rater_of_one_end_of_the_scale_has_a_severity_that_ends() -> None:
    panel, _ = graded(4, 40, seed=5)
    fitted = rasch(panel.with_rating(np.where(panel.rater == 1, 0.0, panel.rating)))
    assert np.isfinite(fitted.of_raters["severity"]).all() and int(np.argmax(fitted.of_raters["severity"])) == 1
    assert np.isfinite(fitted.scores).all()


def test_values_rise_with_the_rating_and_with_the_rater_s_severity() -> None:
    panel = simulate_panel(8, 10, 60, seed=1).panel
    fitted = rasch(panel)
    assert (np.diff(fitted.scores, axis=1) > 0).all()
    order = np.argsort(fitted.of_raters["severity"])
    assert (np.diff(fitted.scores[order], axis=0) > 0).all()


FACETS = ("query_id", "session")
QUERIES, SESSIONS = np.array([-1.0, -0.2, 0.4, 0.8]), np.array([-0.5, 0.0, 0.5])


def in_sessions(raters: int = 5, results: int = 12, seed: int = 1) -> pd.DataFrame:
    """Four queries' results, each rated by all, in whichever of three sessions."""
    random = np.random.default_rng(seed)
    query, rater = np.repeat(np.arange(4), results), np.arange(raters)
    worth = QUERIES[query] + random.normal(0, 1.2, len(query))
    session = random.integers(0, 3, (len(query), raters))
    severity = np.linspace(-1, 1, raters)
    until = np.concatenate([[0], np.cumsum([-1.2, 0.0, 1.2])])
    logits = np.arange(4) * (worth[:, None] - severity - SESSIONS[session])[:, :, None] - until
    chances = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    rating = (random.random((len(query), raters, 1)) > chances.cumsum(axis=2)).sum(axis=2)
    pair, rater = np.indices(rating.shape)
    columns = {"rater_id": rater, "query_id": query[pair], "result_id": pair, "session": session, "rating": rating}
    names = {"rater_id": "r", "query_id": "q", "result_id": "d", "session": "s"}
    frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    return frame.assign(**{name: letter + frame[name].astype(str) for name, letter in names.items()})


@pytest.mark.slow
def test_facets_have_the_greatest_likelihood_that_a_brute_force_finds() -> None:
    """The same model written row by row, worths summed out by Gauss and Hermite's rule, searched without a gradient."""
    frame = in_sessions()
    panel = Panel.from_frame(frame, facets=FACETS)
    model = Rasch(panel, panel.rating.astype(int), 4)
    severity, steps, spread, effects = model.parameters(model.mode())
    nodes, weights = hermegauss(41)
    weights = weights / weights.sum()
    rater, query, session, pair = (pd.factorize(frame[name])[0] for name in ("rater_id", *FACETS, "result_id"))
    rating = frame["rating"].to_numpy()

    def less_log_likelihood(at: np.ndarray) -> float:
        hard, means, late, step = at[:5], at[5:8], at[8:10], at[10:12]
        means, late, step = (np.append(each, -each.sum()) for each in (means, late, step))
        total = np.ones((48, len(nodes)))
        for j, q, s, i, k in zip(rater, query, session, pair, rating, strict=True):
            worth = means[q] + np.exp(at[12]) * nodes
            logits = [x * (worth - hard[j] - late[s]) - step[:x].sum() for x in range(4)]
            total[i] *= np.exp(logits[k]) / np.exp(logits).sum(axis=0)
        return -float(np.log(total @ weights).sum())

    start = np.concatenate([severity, spread * effects["query_id"][:-1], effects["session"][:-1], steps[:-1]])
    start = np.append(start, np.log(spread))
    found = less_log_likelihood(start)
    ours, slope = model.negative(
        np.concatenate([severity, effects["query_id"][:-1], effects["session"][:-1], steps[:-1], [np.log(spread)]])
    )
    # two rules of quadrature; the search from there on, and from elsewhere, ends where ours did
    assert found == pytest.approx(ours, abs=1e-4) and np.abs(slope).max() < 1e-2
    other = minimize(less_log_likelihood, start + 0.05, method="BFGS", options={"gtol": 1e-3})
    assert other.fun == pytest.approx(found, abs=1e-4)
    assert other.x == pytest.approx(start, abs=5e-3)


@pytest.mark.slow
def test_facets_are_found_within_their_errors_and_their_fit_is_near_one() -> None:
    found = rasch(Panel.from_frame(in_sessions(8, 60, seed=3), facets=FACETS)).of_facets
    assert found is not None and list(found["facet"].unique()) == list(FACETS)
    query = found[found["facet"] == "query_id"].sort_values("level")
    session = found[found["facet"] == "session"].sort_values("level")
    # seven figures, each within three of its standard errors (a chance of .003 each)
    assert (np.abs(query["worth"] - QUERIES) < 3 * query["worth_error"]).all()
    assert (np.abs(session["severity"] - SESSIONS) < 3 * session["severity_error"]).all()
    # mean squares of some 500 ratings have a standard error near .06
    assert found[["infit", "outfit"]].to_numpy() == pytest.approx(np.ones((7, 2)), abs=0.25)


@pytest.mark.slow
def test_a_harsh_session_s_ratings_are_worth_more_out_of_sample_too() -> None:
    frame = in_sessions(8, 30, seed=4)
    with_session = Panel.from_frame(frame, facets=("session",))
    fitted = rasch(with_session)
    values = frame.assign(value=fitted.calibrated(with_session))
    of_one = values[(values["rater_id"] == "r3") & (values["rating"] == 2)].groupby("session")["value"].first()
    assert of_one["s0"] < of_one["s1"] < of_one["s2"]
    plain = Panel.from_frame(frame)
    scored = scored_rows(plain)
    less = leave_one_out_correlation(plain, "rasch", scored).value
    more = leave_one_out_correlation(with_session, "rasch", scored).value
    assert less is not None and more is not None and more > less


def test_facets_that_go_with_others_throughout_are_refused() -> None:
    frame = in_sessions(results=4)
    for wrong, why in (
        (frame.assign(session=frame["rater_id"]), "session is not a facet: its levels are the raters"),
        (frame.assign(session=frame["rater_id"].str[-1].isin(list("02468"))), "do not separate rater_id, session:"),
        (frame.assign(session="one"), "all ratings have the same"),
        (frame.assign(session=[""] + ["one", "two"] * 39 + ["one"]), "session: 1 rating without one"),
        (frame.drop(columns="session"), "have no column 'session' for a facet; there are: query_id"),
    ):
        with pytest.raises(RelstudyError, match=why):
            rasch(Panel.from_frame(wrong, facets=("session",)))


@pytest.mark.slow
def test_facets_are_named_and_get_a_table_of_their_own(tmp_path: Path) -> None:
    frame = in_sessions()
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    options = ["--method", "rasch", "--facet", "query_id", "--facet", "session", "--scale", "0-3"]
    done = succeeds("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", *options)
    assert "By session severity lies from" in done.stdout and "By query_id worth lies from" in done.stdout
    panel = rs.calibrate(frame, method="rasch", facets=["query_id", "session"], scale="0-3")
    written = pd.read_csv(tmp_path / "out" / "facets.csv")
    pd.testing.assert_frame_equal(written, panel.facets, check_dtype=False)
    with pytest.raises(RelstudyError, match="facets go with method='rasch'"):
        rs.calibrate(frame, facets=["session"])
