"""relstudy sample, as a person runs it."""

import json
from pathlib import Path

import pandas as pd
import pytest

from relstudy.calibration.reliability.scale_use import uniformity_table
from relstudy.common.tables.meaning.pairs_table import read_pairs
from relstudy.mapping.scores.score_files import read_scores
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
from relstudy.studyapp.example_pictures.collection import make_collection
from tests.commands import relstudy, succeeds
from tests.studyapp.studies import write_study


@pytest.fixture
def study(tmp_path):
    """Sixty items of the demo without their pictures, as texts with keywords, and a run of another system."""
    items = make_collection(60, seed=2).items
    items = items.assign(kind="text", path="", text=items["title"])
    items.to_csv(tmp_path / "collection.csv", index=False)
    (tmp_path / "scores").mkdir()
    rows = [
        f"{q} Q0 {r} 1 {(i * 37 % 60) / 60} other"
        for q in items["item_id"]
        for i, r in enumerate(items["item_id"])
        if q != r
    ]
    (tmp_path / "scores" / "other.run").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.slow
def test_sample_writes_pairs_design_and_scores_and_says_what_they_cost(study):
    result = succeeds(
        "sample", study, "--text-queries", 12, "--results", 8, "--base", 20, "--raters", 5, "--seconds", 9, "--json"
    )
    summary = json.loads(result.stdout)
    pairs = pd.read_csv(study / "pairs.csv")
    assert list(pairs) == [
        *("pair_id", "query_id", "result_id", "paradigm", "source", "rank", "inclusion_probability", "block"),
        *("round", "query_probability"),
    ]
    assert summary["pairs"] == len(pairs) == 96 and summary["base_pairs"] == 20 == (pairs["block"] == "base").sum()
    assert set(pairs["source"]) <= {"keywords", "other", "random"}
    assert pairs["rank"].isna().equals(pairs["source"] == "random")
    assert pairs["inclusion_probability"].between(0, 1, inclusive="right").all()
    assert summary["smallest_inclusion_probability"] <= pairs["inclusion_probability"].min()
    assert summary["rater_hours"] == {"ratings": 176, "total": 0.44, "each": 0.09}
    assert "correlate 0.5" in summary["expected_good_share"]["assumes"]
    assert summary["expected_good_share"]["value"] > 0.02
    kept = read_scores(study / "scores" / "keywords.csv").frame
    assert set(kept["query_id"]) == set(pairs["query_id"]) and kept.groupby("query_id").size().eq(59).all()


@pytest.mark.slow
def test_the_same_seed_draws_the_same_pairs_and_another_seed_others(study):
    tables = []
    for seed in (0, 0, 1):
        succeeds("sample", study, "--text-queries", 10, "--results", 5, "--base", 10, "--seed", seed)
        tables.append((study / "pairs.csv").read_text())
    assert tables[0] == tables[1] != tables[2]


def test_preview_writes_nothing(study):
    before = sorted(study.rglob("*"))
    result = relstudy("sample", study, "--text-queries", 10, "--base", 10, "--preview")
    assert result.exit_code == 0 and "Nothing was written." in result.output
    assert sorted(study.rglob("*")) == before


@pytest.mark.slow
def test_a_sample_with_ratings_is_not_replaced_unless_told(study):
    succeeds("sample", study, "--text-queries", 10, "--base", 10)
    before = (study / "pairs.csv").read_text()
    (study / "ratings.csv").write_text("rater_id,pair_id,rating,seconds\na,p0001,3,11\n")
    refused = relstudy("sample", study, "--text-queries", 10, "--base", 10, "--seed", 5)
    assert refused.exit_code == 1 and "has ratings in ratings.csv" in refused.output
    assert (study / "pairs.csv").read_text() == before
    told = succeeds("sample", study, "--text-queries", 10, "--base", 10, "--seed", 5, "--overwrite", "--json")
    assert (study / "earlier-1" / "pairs.csv").read_text() == before and not (study / "ratings.csv").exists()
    assert json.loads(told.stdout)["seconds_per_rating"] == {"value": 11.0, "source": "the median of ratings.csv"}


@pytest.mark.parametrize("command", ["sample", "couples"])
@pytest.mark.parametrize("systems", [",", ""])
def test_a_list_of_systems_that_names_none_is_refused(study, command, systems):
    """sample said that no system can rank the collection, and couples took all there are."""
    before = sorted(study.rglob("*"))
    done = relstudy(command, study, "--systems", systems)
    assert done.exit_code == 1
    assert "--systems: no system is named" in done.stderr
    assert sorted(study.rglob("*")) == before


@pytest.mark.slow
def test_a_list_of_queries_can_be_given(study):
    (study / "queries.csv").write_text("query_id\npic0003\npic0007\n")
    succeeds("sample", study, "--given", study / "queries.csv", "--base", 4, "--results", 6, "--json")
    assert set(pd.read_csv(study / "pairs.csv")["query_id"]) == {"pic0003", "pic0007"}
    (study / "queries.csv").write_text("query_id\nnobody\n")
    refused = relstudy("sample", study, "--given", study / "queries.csv")
    assert refused.exit_code == 1 and "there is no item 'nobody'" in refused.output


@pytest.mark.slow
def test_a_table_in_scores_is_found_by_its_name_without_the_ending(study):
    ids = pd.read_csv(study / "collection.csv")["item_id"].tolist()
    rows = [f"{q},{r},{(i * j) % 7}" for i, q in enumerate(ids) for j, r in enumerate(ids) if q != r]
    (study / "scores").mkdir(exist_ok=True)
    (study / "scores" / "clip.csv").write_text("\n".join(["query_id,result_id,score", *rows]))
    succeeds("sample", study, "--systems", "clip,keywords", "--base", 4, "--results", 6)
    sources = set(";".join(pd.read_csv(study / "pairs.csv")["source"]).split(";"))
    assert {"clip", "keywords"} <= sources
    (study / "scores" / "clip.tsv").write_text("query_id\tresult_id\tscore\n")
    two = relstudy("sample", study, "--systems", "clip", "--overwrite")
    assert two.exit_code == 1 and "system 'clip' may be clip.csv and clip.tsv in" in two.output


def test_queries_by_text_can_be_asked_alone(study):
    items = pd.read_csv(study / "collection.csv")
    words = pd.DataFrame({"item_id": ["w1", "w2"], "kind": "text", "text": ["boats", "hills"], "keywords": ["a", "b"]})
    pd.concat([items, words]).to_csv(study / "collection.csv", index=False)
    succeeds("sample", study, "--queries", 0, "--text-queries", 2, "--base", 4, "--results", 6)
    assert set(pd.read_csv(study / "pairs.csv")["paradigm"]) == {"text"}
    none = relstudy("sample", study, "--queries", 0, "--overwrite")
    assert none.exit_code == 1 and "no queries are asked for: --queries and --text-queries are 0" in none.output


def test_designs_with_pairs_of_zero_probability_are_refused(study):
    result = relstudy("sample", study, "--floor", 0, "--exponent", 500, "--base", 4)
    assert result.exit_code == 1 and "inclusion probability zero" in result.output
    assert not (study / "pairs.csv").exists()


@pytest.mark.slow
def test_from_mappings_adds_a_round_from_what_fit_wrote(study):
    succeeds("sample", study, "--text-queries", 30, "--results", 12, "--base", 20)
    pairs = pd.read_csv(study / "pairs.csv", dtype={"pair_id": str})
    succeeds("couples", study, "--systems", "keywords", "--each", 2)
    couples = read_pairs(study / "pairs.csv", couples=True)
    ratings = SimulatedPanel(draw_raters(4), make_collection(60, seed=2)).rate(pairs)
    judgments = ratings.groupby(["query_id", "result_id"], as_index=False)["rating"].mean().dropna()
    judgments.rename(columns={"rating": "judgment"}).to_csv(study / "judgments.csv", index=False)
    succeeds(
        "fit",
        study / "scores" / "keywords.csv",
        "--judgments",
        study / "judgments.csv",
        "-o",
        study / "mappings",
        "--method",
        "isotonic",
        "--json",
    )
    result = succeeds(
        "sample", study, "--from-mappings", "--paradigm", "text", "--queries", 20, "--results", 4, "--json"
    )
    summary = json.loads(result.stdout)
    later = pd.read_csv(study / "pairs.csv", dtype={"pair_id": str})
    assert summary["new_pairs"] == len(later) - len(pairs) - len(couples) > 0
    assert later["pair_id"][: len(pairs)].equals(pairs["pair_id"])
    errors = summary["uniformity_error"]
    assert errors["expected"]["all"] < errors["last_round"]["all"]
    # a third round stands on both
    again = relstudy(
        "sample", study, "--from-mappings", "--paradigm", "text", "--queries", 20, "--results", 4, "--json"
    )
    assert again.exit_code == 0 and json.loads(again.stdout)["round"] == 3
    pd.testing.assert_frame_equal(read_pairs(study / "pairs.csv", couples=True)[list(couples)], couples)


@pytest.mark.slow
def test_from_mappings_without_mappings_or_a_design_says_what_is_missing(study):
    missing = relstudy("sample", study, "--from-mappings")
    assert missing.exit_code == 1 and "design.json: file not found" in missing.output
    assert relstudy("sample", study, "--same-queries").exit_code == 2
    succeeds("sample", study, "--text-queries", 12, "--base", 10)
    (study / "judgments.csv").write_text("query_id,result_id,judgment\na,b,3\n")
    missing = relstudy("sample", study, "--from-mappings")
    assert missing.exit_code == 1 and "there is no mapping (NAME.json) here" in missing.output


def test_uniformity_is_equation_5_4_on_the_papers_scale():
    frame = pd.DataFrame({"source": ["a"] * 4 + ["b"] * 5, "rating": [1, 1, 1, 2, 1, 2, 3, 4, 5], "round": 1})
    table = uniformity_table(frame, [1, 2, 3, 4, 5]).set_index("source")
    assert table.loc["a", "error"] == pytest.approx((0.55 + 0.05 + 0.6) / 5)
    assert table.loc["b", "error"] == 0
    assert table.loc["all", "error"] == pytest.approx((abs(4 / 9 - 0.2) + abs(2 / 9 - 0.2) + 3 * abs(1 / 9 - 0.2)) / 5)


@pytest.mark.slow
def test_systems_scores_the_studys_queries_and_leaves_the_pairs_alone(study):
    succeeds("sample", study, "--systems", "keywords", "--text-queries", 12, "--base", 10)
    before = (study / "pairs.csv").read_text()
    result = succeeds("systems", study, "bm25", "--json")
    scores = read_scores(json.loads(result.stdout)["bm25"]).frame
    pairs = pd.read_csv(study / "pairs.csv")
    assert (study / "pairs.csv").read_text() == before
    judged = set(zip(pairs["query_id"], pairs["result_id"], strict=True))
    assert judged <= set(zip(scores["query_id"], scores["result_id"], strict=True))
    assert "rwmm-test" in relstudy("systems").output


@pytest.mark.slow
def test_systems_keeps_every_pair_of_the_sample_however_low_it_stands(study, monkeypatch):
    from relstudy.studyapp.sampling import saved_scores

    monkeypatch.setattr(saved_scores, "FULL_ROWS", 10)
    monkeypatch.setattr(saved_scores, "DEPTH", 3)
    succeeds("sample", study, "--systems", "keywords", "--text-queries", 12, "--base", 10)
    scores = read_scores(json.loads(relstudy("systems", study, "bm25", "--json").stdout)["bm25"]).frame
    pairs = pd.read_csv(study / "pairs.csv")
    kept = set(zip(scores["query_id"], scores["result_id"], strict=True))
    assert set(zip(pairs["query_id"], pairs["result_id"], strict=True)) <= kept
    # twenty pairs and the best three of each query, of sixty items
    assert scores.groupby("query_id").size().between(20, 23).all()


def test_a_query_that_no_system_answers_is_drawn_from_all_the_same(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study")
    rows = [f"s,q{query},r{result},{result}" for query in range(1, 8) for result in range(4)]
    table = tmp_path / "s.csv"
    table.write_text("\n".join(["system,query_id,result_id,score", *rows]) + "\n", encoding="utf-8")
    queries = "\n".join(["query_id", *(f"q{number}" for number in reversed(range(8)))])
    (tmp_path / "given.csv").write_text(f"{queries}\n", encoding="utf-8")
    sizes = ("--given", tmp_path / "given.csv", "--results", 10, "--base", 4, "--good", 0.5)
    succeeds("sample", study, "--systems", table, *sizes, "--preview")
