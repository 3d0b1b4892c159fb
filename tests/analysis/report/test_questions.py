"""Pages of further questions, and how far the questions go together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from relstudy.analysis.report.questions import together
from relstudy.studyapp.cli import main
from tests.places import ROOT

EXAMPLE = ROOT / "data" / "example"


def drawn(seed: int, correlation: float, queries: int = 24, each: int = 6) -> pd.DataFrame:
    """Two judgments a pair, whose correlation is known; a query's pairs share a part of both."""
    rng = np.random.default_rng(seed)
    shared = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=queries)
    own = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=(queries, each))
    both = (shared[:, None] + own).reshape(-1, 2)
    return pd.DataFrame(
        {"query_id": np.repeat([f"q{k}" for k in range(queries)], each), "here": both[:, 0], "there": both[:, 1]}
    )


def test_the_correlation_is_pearsons() -> None:
    frame = drawn(1, 0.6)
    assert together(frame).value == pytest.approx(np.corrcoef(frame["here"], frame["there"])[0, 1], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_the_interval_holds_the_correlation_as_often_as_it_says(correlation: float) -> None:
    held = 0
    for seed in range(400):
        estimate = together(drawn(seed, correlation))
        assert estimate.low is not None and estimate.high is not None
        held += estimate.low <= correlation <= estimate.high
    assert 0.92 <= held / 400 <= 0.98  # two binomial standard errors of 400 at .95 are .022, and a hundredth for z


def test_few_queries_give_no_interval_and_alike_judgments_no_number() -> None:
    few = together(drawn(0, 0.5, queries=5))
    assert few.value is not None and few.low is None and few.reason == "fewer than 8 queries give no interval"
    assert together(drawn(0, 0.5).assign(here=1.0)).value is None


@pytest.mark.slow
def test_the_report_has_a_page_a_question_and_says_how_they_go_together(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mappings", "gift-*"))
    own = folder / "questions" / "trust"
    own.mkdir(parents=True)
    ratings = pd.read_csv(folder / "ratings.csv")
    rng = np.random.default_rng(3)
    trust = (ratings["rating"] + rng.normal(0, 1, len(ratings)) > 3.5).astype(float)
    columns = {"scale": "binary", "scale_low": 0, "scale_high": 1, "scale_step": 1}
    ratings.assign(rating=trust.where(ratings["rating"].notna()), **columns).to_csv(own / "ratings.csv", index=False)
    runner = CliRunner()
    for ratings_file, out in ((folder / "ratings.csv", folder), (own / "ratings.csv", own)):
        done = runner.invoke(main, ["calibrate", str(ratings_file), "-o", str(out)])
        assert done.exit_code == 0, done.output
    done = runner.invoke(main, ["report", str(folder), "--replicates", "200", "--no-pictures", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    page = Path(told["questions"]["trust"])
    assert page == folder / "report" / "questions" / "trust" / "index.html"
    main_page, trust_page = (folder / "report" / "index.html").read_text(), page.read_text()
    assert "The questions together" in main_page and "The questions together" in trust_page
    assert ": trust" in trust_page.split("</title>")[0]
    assert ": trust" not in main_page.split("</title>")[0]
    table = pd.read_csv(folder / "report" / "tables" / "questions.csv")
    assert table["question"].tolist() == ["trust"] and 0.3 < table["correlation"][0] < 0.95
    assert table["correlation low"][0] < table["correlation"][0] < table["correlation high"][0]
    again = pd.read_csv(page.parent / "tables" / "questions.csv")
    assert again["correlation"][0] == pytest.approx(table["correlation"][0], abs=1e-12)
