"""Methods held against each other, and facets: what is counted, refused and written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

import relstudy as rs
from relstudy.calibration.methods.rasch import Sums, rasch
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation
from relstudy.common.runtime.errors import RelstudyError
from tests.calibration.test_drift import world
from tests.commands import relstudy, succeeds


def table(seed: int = 6) -> pd.DataFrame:
    """Ratings in steps from 1 to 5 that fall over the session, on one of two devices."""
    frame = world(np.random.default_rng(seed), 0.8, 0.3)
    device = np.where(np.random.default_rng(seed).random(len(frame)) < 0.5, "phone", "desk")
    return frame.assign(rating=np.clip(np.rint(frame["rating"]), 1, 5), device=device).drop(columns="truth")


def crossed(pairs: int = 12) -> pd.DataFrame:
    """Four raters of the same pairs, of whose ratings there are too many different ones for categories."""
    rng = np.random.default_rng(1)
    rating = rng.normal(3, 1, pairs) + rng.normal(0, 0.3, (4, pairs))
    rows = {"rater_id": np.repeat(list("abcd"), pairs), "query_id": "q", "result_id": list(map(str, range(pairs))) * 4}
    return pd.DataFrame({**rows, "rating": np.clip(rating, 1, 5).round(3).ravel()})


@pytest.mark.slow
def test_only_comparisons_that_were_made_are_counted_in_the_sentence_and_in_corrected_p(tmp_path: Path) -> None:
    crossed(40).to_csv(tmp_path / "ratings.csv", index=False)
    base = ("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", "--method", "mean", "--scale", "1-5")
    said = succeeds(*base, "--against", "rasch", "--against", "none").output
    assert "rasch: " in said and "over 1 compared" in said
    assert "No other method was compared with mean." in succeeds(*base, "--against", "rasch").output
    panel = rs.calibrate(tmp_path / "ratings.csv", method="mean", scale="1-5")
    alone, both = panel.against("none"), panel.against("none", "rasch")
    assert both.loc[both["method"] == "none", "p"].item() == alone.loc[alone["method"] == "none", "p"].item()
    assert "over 1 compared" in both.attrs["sentences"][-1]


@pytest.mark.slow
def test_methods_of_categories_are_compared_where_drift_was_taken_out_and_a_line_says_of_what(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "ratings.csv", index=False)
    asked = ("--method", "mean", "--drift", "remove", "--against", "rasch")
    said = succeeds("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", *asked).output
    assert "drift over the session was taken out" in said
    assert "rasch: " not in said and "Drift was left in the ratings for rasch" in said and "over 1 compared" in said


@pytest.mark.slow
def test_all_names_the_same_methods_in_python_as_of_the_command() -> None:
    panel = rs.calibrate(table(), method="mean")
    assert panel.against("all")["method"].tolist() == panel.against()["method"].tolist()
    with pytest.raises(RelstudyError, match=r"'best' is not a method; there are: pooled, .* and all"):
        panel.against("best")


@pytest.mark.slow
def test_every_file_that_was_written_is_named(tmp_path: Path) -> None:
    frame = table()
    random = np.random.default_rng(3).integers(1, 6, 60)
    frame.loc[frame["rater_id"] == "r0", "rating"] = random
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    asked = ("--method", "rasch", "--facet", "device", "--force")
    done = succeeds("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", *asked)
    for each in (tmp_path / "out").iterdir():
        assert str(each) in done.output + done.stderr


def test_a_facet_has_half_as_many_levels_as_there_are_ratings_at_most() -> None:
    frame = table().assign(half=np.arange(720) // 2, more=[*(np.arange(719) // 2), 999])
    assert len(Panel.from_frame(frame, 1, 5, ["half"]).facets["half"].levels) == 360
    with pytest.raises(RelstudyError, match="more is not a facet: it has 361 levels for 720 ratings"):
        Panel.from_frame(frame, 1, 5, ["more"])


@pytest.mark.parametrize(
    ("facet", "why"),
    [
        ("rating", "rating is not a facet: its levels are what the ratings say"),
        ("rater_id", "rater_id is not a facet: its levels are the raters"),
        ("result_id", "result_id is not a facet: its levels are the pairs"),
        ("name", "name is not a facet: its levels are the raters"),
        ("grade", "grade is not a facet: its levels are what the ratings say"),
        ("seconds", "seconds is not a facet: it has 720 levels for 720 ratings, and each needs several"),
        ("devise", "the ratings have no column 'devise' for a facet; there are: query_id, position, device, "),
    ],
)
def test_a_column_that_is_no_facet_is_refused_with_the_reason(tmp_path: Path, facet: str, why: str) -> None:
    frame = table().assign(name=lambda rows: "Dr " + rows["rater_id"], seconds=np.arange(720) + 0.5)
    frame = frame.assign(grade=frame["rating"].map(dict(zip(range(1, 6), "edcba", strict=True))))
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    asked = ("--method", "rasch", "--facet", facet, "--force")
    done = relstudy("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", *asked)
    assert done.exit_code == 1 and why in done.output
    assert not (tmp_path / "out").exists()
    with pytest.raises(RelstudyError, match=why.split(";")[0].replace("(", "\\(")):
        rs.calibrate(frame, method="rasch", facets=facet, force=True)


@pytest.mark.slow
def test_one_facet_is_named_by_a_text_or_a_list() -> None:
    panels = [rs.calibrate(table(), method="rasch", facets=each, force=True) for each in ("device", ["device"])]
    assert panels[0].facets["level"].tolist() == panels[1].facets["level"].tolist()
    assert set(panels[0].facets["level"]) == {"phone", "desk"}


def many_sessions() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = world(rng).head(240)  # of four raters: one fold has no rating of two of 40 sessions
    session = rng.integers(0, 40, len(frame))
    rating = np.clip(np.rint(frame["rating"] + rng.normal(0, 0.3, 40)[session]), 1, 5)
    return frame.assign(rating=rating, session=session)


@pytest.mark.slow
def test_a_level_that_a_fold_has_no_ratings_of_is_0_there_and_the_rest_is_compared() -> None:
    panel = Panel.from_frame(many_sessions(), 1, 5, ["session"])
    assert leave_one_out_correlation(panel, "rasch").value is not None
    part = panel.keep(panel.facets["session"].code != 7)
    found = rasch(part).of_facets
    assert found is not None
    lacking = found["ratings"] == 0
    assert lacking.sum() == 1 and found.loc[lacking, ["severity", "severity_error"]].isna().all(axis=None)
    assert found.loc[~lacking, "severity"].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("size", [3.0, 200.0])
def test_sums_over_categories_are_those_of_their_exponentials_near_0_and_far_from_it(size: float) -> None:
    rng = np.random.default_rng(1)
    x, until = rng.normal(0, size, (7, 11)), np.concatenate([[0.0], rng.normal(0, 3, 6).cumsum()])
    logs = x[:, None, :] * np.arange(7)[:, None] - until[:, None]
    whole = logsumexp(logs, axis=1)
    sums, mass, nodes = Sums(x, until), rng.random((7, 11)), np.linspace(-5, 5, 11)
    share = np.exp(logs - whole[:, None]) * mass[:, None]
    found = sums.expected(mass, nodes)
    # a few units in the last place of sums of some hundred terms
    assert np.allclose(sums.log, whole, rtol=1e-13, atol=1e-12)
    assert np.allclose(found[:, 0], share.sum(axis=2).T, atol=1e-12)
    assert np.allclose(found[:, 1], (share @ nodes).T, atol=1e-12)


def test_helpers_of_generalizability_refuse_names_that_there_are_none_of() -> None:
    study = rs.calibrate(table(), method="mean").generalizability()
    for ask in (lambda: study.needed("x", 0.9), lambda: study.coefficient("x")):  # type: ignore[arg-type]
        with pytest.raises(RelstudyError, match="'x' is not a coefficient; there are: erho2, phi"):
            ask()
    with pytest.raises(RelstudyError, match="a mean of more than 0 values"):
        study.coefficient("phi", 0)


@pytest.mark.slow
def test_a_column_of_per_query_that_is_no_measure_is_refused_with_the_names_there_are() -> None:
    judged = pd.DataFrame([(f"q{q}", f"d{d}", (q + d) % 3) for q in range(6) for d in range(5)])
    judged.columns = pd.Index(["query_id", "doc_id", "relevance"])
    runs = {n: judged[["query_id", "doc_id"]].assign(score=range(30) if n == "a" else 0.5) for n in "ab"}
    scores = rs.score(runs, judged, measures=["AP", "P@3"], method="none")
    for name in ("pairs", "relevant", "covered@3", "x"):
        with pytest.raises(RelstudyError, match=f"'{name}' is not a measure by query of these scores; there are: .*AP"):
            scores.generalizability(name)
