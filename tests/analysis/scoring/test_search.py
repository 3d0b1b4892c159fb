"""Real search: runs of a shop's engine against judgments that other people made, with low coverage and heavy ties."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from tests.commands import relstudy

pytestmark = pytest.mark.real_data


@pytest.fixture
def chorus(shared_data: Path, tmp_path: Path) -> Path:
    """The agents' final ratings, 0 to 3, as judgments."""
    table = pd.read_csv(shared_data / "chorus_3agents" / "wide_with_final.csv", dtype=str)
    named = table.rename(columns={"query": "query_id", "docid": "result_id", "final_rating": "judgment"})
    named[["query_id", "result_id", "judgment"]].to_csv(tmp_path / "chorus.csv", index=False)
    return tmp_path / "chorus.csv"


def score(runs: Path, judgments: Path, *more: str) -> tuple[int, str, str]:
    command = ["score", str(runs), "--judgments", str(judgments), "--threshold", "1", "--replicates", "200", *more]
    result = relstudy(*command)
    return result.exit_code, result.stdout, result.stderr


def test_runs_that_cover_a_quarter_of_the_judgments_are_refused_aloud(shared_data: Path, chorus: Path) -> None:
    runs = shared_data / "haystack_rating_party" / "system_runs.csv"
    code, out, err = score(runs, chorus)
    assert code == 1
    assert out == ""
    assert "system 'no-vector' scores 777 of 3188 judged pairs (24 %), less than half" in err


def test_runs_are_scored_against_other_peoples_judgments_with_coverage_said_aloud(
    shared_data: Path, chorus: Path
) -> None:
    runs = shared_data / "haystack_rating_party" / "system_runs.csv"
    code, out, _ = score(runs, chorus, "--allow-low-coverage", "--json")
    assert code == 0
    notes = " ".join(json.loads(out)["notes"])
    assert "3 rows repeat an earlier pair of the same system and score; they are merged" in notes
    assert (
        "with-vector scores 322 of 3188 judged pairs (10.1 %), nothing for 52 queries; the others are left out, but "
        "count as not retrieved in nDCG@10, P@10, AP and RR."
    ) in notes
    systems = json.loads(out)["systems"]
    assert f"{systems['no-vector']['raw']['spearman']['value']:.4f}" == "0.3707"  # README of the data
    # heavy ties: most rows of the vector runs hold the score 0
    table = pd.read_csv(runs, dtype={"query_id": str, "result_id": str})
    table = table[table["system"] == "with-vector"].drop_duplicates(["query_id", "result_id"])
    judged = table.merge(pd.read_csv(chorus, dtype={"query_id": str, "result_id": str}))
    assert (judged["score"] == 0).mean() > 0.5
    relevant = judged["judgment"] > 1
    ours = systems["with-vector"]
    assert ours["average_precision"]["value"] == pytest.approx(average_precision_score(relevant, judged["score"]))
    assert ours["normalised_rank"]["value"] == pytest.approx(1 - roc_auc_score(relevant, judged["score"]))
    tau = stats.kendalltau(judged["score"], judged["judgment"])[0]
    assert ours["raw"]["kendall"]["value"] == pytest.approx(tau)


def test_ranking_unscored_pairs_last_uses_every_judgment(shared_data: Path, chorus: Path) -> None:
    runs = shared_data / "haystack_rating_party" / "system_runs.csv"
    code, out, _ = score(runs, chorus, "--allow-low-coverage", "--policy", "worst", "--json")
    assert code == 0
    content = json.loads(out)
    assert "the others are ranked below all others" in " ".join(content["notes"])
    assert {ordering["pairs"] for ordering in content["orderings"]} == {3188}
    assert content["orderings"][1]["systems"][0] == "no-vector"


def test_the_rating_partys_own_judgments_give_its_known_correlation(shared_data: Path) -> None:
    folder = shared_data / "haystack_rating_party"
    code, out, _ = score(folder / "system_runs.csv", folder / "ratings.csv", "--allow-low-coverage", "--json")
    assert code == 0
    system = json.loads(out)["systems"]["no-vector"]
    assert system["coverage"]["scored"] == 588
    assert f"{system['raw']['spearman']['value']:.4f}" == "0.2938"  # README of the data


def test_the_two_judgment_sets_agree_where_they_meet(shared_data: Path, chorus: Path) -> None:
    """One set's judgments are a system like any other for the second set."""
    ratings = pd.read_csv(shared_data / "haystack_rating_party" / "ratings.csv", dtype=str)
    means = ratings.assign(score=pd.to_numeric(ratings["rating"])).dropna(subset="score")
    people = means.groupby(["query_id", "result_id"], as_index=False)["score"].mean().assign(system="rating party")
    people.to_csv(chorus.parent / "people.csv", index=False)
    code, out, _ = score(chorus.parent / "people.csv", chorus, "--allow-low-coverage", "--json")
    assert code == 0
    system = json.loads(out)["systems"]["rating party"]
    assert system["coverage"]["scored"] == 484
    assert f"{system['raw']['spearman']['value']:.4f}" == "0.7116"  # README of the data
