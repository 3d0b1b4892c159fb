"""Judgments of couples, joined to ratings: levels from pairs that have both, and errors that hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.linking.joined import join_judgments, with_levels
from relstudy.calibration.preferences import PreferenceStudy, read_preferences
from relstudy.calibration.tables.judgments import Judgments
from tests.commands import succeeds

pytestmark = pytest.mark.slow
QUERIES, RESULTS = 40, 6


World = tuple[Judgments, PreferenceStudy, np.ndarray]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Ratings of three results of each query, couples of all six, and the true quality of each [queries, results]."""
    rng, folder = np.random.default_rng(1), tmp_path_factory.mktemp("preferences")
    truth = np.clip(3 + rng.normal(0, 0.7, (QUERIES, 1)) + rng.normal(0, 0.7, (QUERIES, RESULTS)), 1, 5)
    rated = [(f"q{q}", f"x{r}", truth[q, r] + rng.normal(0, 0.3)) for q in range(QUERIES) for r in range(3)]
    first = Judgments.of(
        pd.DataFrame(rated, columns=["query_id", "result_id", "judgment"]).assign(
            scale_low=1, scale_high=5, scale_step=1
        )
    )
    rows = []
    for rater, lean in enumerate(rng.normal(0.2, 0.5, 8)):
        for query in rng.integers(QUERIES, size=150):
            left, right = rng.permutation(RESULTS)[:2]
            ahead = 1.8 * (truth[query, left] - truth[query, right]) + lean
            weights = np.exp([ahead / 2, -0.3, -ahead / 2])
            answer = rng.choice([-1, 0, 1], p=weights / weights.sum())
            rows.append((f"r{rater}", f"q{query}", f"x{left}", f"x{right}", f"x{left}", answer))
    names = ["rater_id", "query_id", "result_id", "other_id", "left", "rating"]
    pd.DataFrame(rows, columns=names).to_csv(folder / "which.csv", index=False)
    return first, read_preferences(folder / "which.csv"), truth


def test_a_joined_judgment_of_a_couple_says_what_the_pair_would_be_rated(world: World) -> None:
    first, which, truth = world
    frame = join_judgments({"1-5": first, "which": which.judgments}).judgments.frame
    new = frame[frame["interface"] == "which"]
    at = [truth[int(q[1:]), int(r[1:])] for q, r in zip(new["query_id"], new["result_id"], strict=True)]
    assert len(new) > 100 and new["judgment_given"].between(-8, 8).all()
    assert np.sqrt(np.mean((new["judgment"] - at) ** 2)) < 0.6 * np.std(at)
    # its error counts the noise of the ratings too, and so is on the safe side
    assert 0.92 <= np.mean(np.abs(new["judgment"] - at) < 1.96 * new["standard_error"]) <= 1.0


def test_preferences_and_what_they_are_joined_to_are_scored(world: World, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    first, which, truth = world
    which.write(tmp_path / "which")
    first.frame.to_csv(tmp_path / "rated.csv", index=False)
    for system, noise in (("good", 0.4), ("bad", 1.5)):
        scores = [
            (system, f"q{q}", f"x{r}", truth[q, r] + rng.normal(0, noise))
            for q in range(QUERIES)
            for r in range(RESULTS)
        ]
        table = pd.DataFrame(scores, columns=["system", "query_id", "result_id", "score"])
        table.to_csv(tmp_path / f"{system}.csv", index=False)
    systems = [str(tmp_path / "good.csv"), str(tmp_path / "bad.csv")]

    def run(*arguments: str) -> str:
        done = succeeds(*arguments)
        return done.output

    run("calibrate", "join", f"rated={tmp_path / 'rated.csv'}", str(tmp_path / "which"), "-o", str(tmp_path / "joined"))
    for judgments in ("which", "joined"):
        said = run("score", *systems, "--judgments", str(tmp_path / judgments / "judgments.csv"), "--replicates", "200")
        assert "Use good: it is ahead of bad." in said


def test_levels_put_log_odds_on_the_ratings_line_and_never_use_a_pairs_own_rating() -> None:
    first = Judgments.of(
        pd.DataFrame(
            {
                "query_id": np.repeat(["a", "b"], 3),
                "result_id": ["x", "y", "z"] * 2,
                "judgment": [1.0, 2, 3, 3, 4, 5],
                "scale_low": 1,
                "scale_high": 5,
                "scale_step": 1,
            }
        )
    )
    odds = first.frame[["query_id", "result_id"]].assign(log_odds=[-2.0, 0, 2] * 2, judgment=0.5)
    other = Judgments(
        pd.concat([odds, odds.iloc[:1].assign(result_id="new", log_odds=1.0)], ignore_index=True), first.scale
    )
    levelled = with_levels(first, other).frame["judgment"].to_numpy()
    np.testing.assert_allclose(levelled, [1, 2, 3, 3, 4, 5, 2.5], atol=1e-9)
    small = Judgments(other.frame.assign(log_odds=0.2 * other.frame["log_odds"]), first.scale)
    np.testing.assert_allclose(with_levels(first, small).frame["judgment"], levelled, atol=1e-9)
    moved = first.frame.assign(judgment=[1.5, 2, 3, 3, 4, 5])
    again = with_levels(Judgments.of(moved), other).frame["judgment"].to_numpy()
    assert again[6] != pytest.approx(2.5)  # it counts for others of the query
