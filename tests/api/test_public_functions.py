"""`import relstudy as rs` does what the commands do, figure for figure, on files and on DataFrames."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

import relstudy as rs
from tests.commands import relstudy, succeeds
from tests.places import EXAMPLE

KEYWORDS, GIFT = EXAMPLE / "scores" / "keywords.csv", EXAMPLE / "scores" / "gift.csv"


def printed(*arguments: object) -> Any:
    """What a command prints with --json."""
    done = succeeds(*arguments, "--json")
    # a reason names what its reader would type
    return json.loads(done.stdout.replace("--unjudged skip", "unjudged='skip'"))


def of_tables_alone(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures of files as of DataFrames, beside which no file is missed."""
    return figures | {"notes": [note for note in figures["notes"] if " is not beside " not in note]}


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype={"query_id": str, "result_id": str, "rater_id": str})


@pytest.fixture(scope="module")
def panel() -> rs.CalibratedPanel:
    return rs.calibrate(read(EXAMPLE / "ratings.csv"), pairs=read(EXAMPLE / "pairs.csv"))


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The folder that `relstudy calibrate` wrote, and what it printed."""
    folder = tmp_path_factory.mktemp("calibrated")
    return folder, printed("calibrate", EXAMPLE / "ratings.csv", "--pairs", EXAMPLE / "pairs.csv", "-o", folder)


@pytest.fixture(scope="module")
def result(panel: rs.CalibratedPanel) -> rs.Scores:
    return rs.score({"keywords": KEYWORDS, "gift": read(GIFT)}, panel, replicates=200)


@pytest.mark.slow
def test_calibrate_is_the_command(panel: rs.CalibratedPanel, calibrated: tuple[Path, Any]) -> None:
    folder, summary = calibrated
    assert panel.summary() == summary
    for name, table in (("judgments", panel.judgments), ("raters", panel.raters), ("calibrated", panel.ratings)):
        written = read(folder / f"{name}.csv")
        ours = pd.DataFrame({column: table[column] for column in written})
        # a CSV keeps every digit of a float; whole numbers with gaps and empty text come back as floats and NaN
        for column in written:
            in_memory = pd.Series(ours[column].to_numpy())
            if pd.api.types.is_numeric_dtype(written[column]):
                np.testing.assert_array_equal(pd.to_numeric(in_memory, errors="coerce"), written[column])
            else:
                assert in_memory.astype(str).replace({"nan": "", "None": "", "<NA>": ""}).fillna("").tolist() == (
                    written[column].fillna("").astype(str).tolist()
                )


@pytest.mark.slow
def test_fit_is_the_command(panel: rs.CalibratedPanel, calibrated: tuple[Path, Any], tmp_path: Path) -> None:
    mappings = rs.fit(read(KEYWORDS), panel, method="isotonic")
    options = ["-j", calibrated[0] / "judgments.csv", "-o", tmp_path / "command", "--method", "isotonic"]
    assert mappings.summary() == printed("fit", KEYWORDS, *options)
    mappings.save(tmp_path / "ours")
    assert (tmp_path / "ours" / "keywords.json").read_text() == (tmp_path / "command" / "keywords.json").read_text()
    assert mappings.best == {"keywords": "isotonic"}
    assert (
        mappings.table["out_of_fold"].item()
        == mappings.summary()["systems"]["keywords"]["isotonic"]["out_of_fold"]["value"]
    )
    assert mappings["keywords"].predict([0.0, 1.0])[1] > mappings["keywords"].predict([0.0, 1.0])[0]


@pytest.mark.slow
def test_score_is_the_command(result: rs.Scores, calibrated: tuple[Path, Any]) -> None:
    judgments = calibrated[0] / "judgments.csv"
    assert result.summary() == of_tables_alone(printed("score", KEYWORDS, GIFT, "-j", judgments, "--replicates", 200))


@pytest.mark.slow
def test_several_paths_are_taken_as_the_command_takes_them() -> None:
    judgments = EXAMPLE / "judgments.csv"
    both = rs.score([KEYWORDS, f"other={GIFT}"], judgments, replicates=20)
    named = printed("score", KEYWORDS, f"other={GIFT}", "-j", judgments, "--replicates", 20)
    assert both.as_json()["systems"] == named["systems"]
    with pytest.raises(rs.RelstudyError, match="a system named 'gift' was already read"):
        rs.score([GIFT, GIFT], judgments)


def test_calibrate_takes_a_studys_folder_as_the_command_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ratings.csv", "pairs.csv"):
        shutil.copy(EXAMPLE / name, tmp_path)
    ours = rs.calibrate(tmp_path)
    assert ours.judgments["inclusion_probability"].nunique() > 1
    assert ours.as_json() == printed("calibrate", tmp_path)
    own = read(tmp_path / "pairs.csv").assign(inclusion_probability=0.5, query_probability=1.0)
    assert rs.calibrate(tmp_path, pairs=own).judgments["inclusion_probability"].nunique() == 1
    monkeypatch.chdir(tmp_path)
    for no_folder in ("", "rater_id,query_id,result_id,rating\n" + "a,q,x,3\n" * 60):
        for function in (rs.calibrate, rs.fit, rs.score):
            with pytest.raises(rs.RelstudyError):
                function(no_folder)
    (tmp_path / "ratings.csv").unlink()
    with pytest.raises(rs.RelstudyError, match=r"no ratings\.csv in this folder; `relstudy export .*` writes it"):
        rs.calibrate(tmp_path)


def test_fit_takes_a_studys_folder_as_the_command_does(tmp_path: Path) -> None:
    """It was a TypeError, beside `score`, which takes it. Endings may be in capitals; what is not there is named."""
    (tmp_path / "study" / "scores").mkdir(parents=True)
    shutil.copy(EXAMPLE / "judgments.csv", tmp_path / "study")
    shutil.copy(KEYWORDS, tmp_path / "study" / "scores" / "KEYWORDS.CSV")
    (tmp_path / "study" / "scores" / "GIFT.CSV.GZ").write_bytes(gzip.compress(GIFT.read_bytes()))
    read(GIFT).assign(system="other").to_parquet(tmp_path / "study" / "scores" / "OTHER.PARQUET")
    ours = rs.fit(tmp_path / "study", method="isotonic")
    assert sorted(ours) == ["gift", "keywords", "other"]
    assert ours.as_json() == printed("fit", tmp_path / "study", "--method", "isotonic")
    with pytest.raises(rs.RelstudyError, match="the judgments"):
        rs.fit(KEYWORDS)
    with pytest.raises(rs.RelstudyError, match="and not its scores/"):
        rs.fit(tmp_path / "study" / "scores", EXAMPLE / "judgments.csv")
    for command in ("score", "fit"):
        missing = relstudy(command, tmp_path / "stduy")
        with pytest.raises(rs.RelstudyError, match="stduy: file not found"):
            getattr(rs, command)(tmp_path / "stduy")
        assert missing.exit_code == 1 and missing.stderr == f"relstudy: {tmp_path / 'stduy'}: file not found\n"


def test_score_takes_the_mappings_of_fit_as_the_command_takes_their_folder(
    panel: rs.CalibratedPanel, tmp_path: Path
) -> None:
    mappings = rs.fit(KEYWORDS, panel, method="isotonic")
    mappings.save(tmp_path)
    ours = rs.score(KEYWORDS, panel, mappings=mappings, replicates=20)
    panel.judgments.to_csv(tmp_path / "j.csv", index=False)
    panel.ratings.to_csv(tmp_path / "calibrated.csv", index=False)
    options = ["-j", tmp_path / "j.csv", "--mappings", tmp_path / "keywords.json", "--replicates", 20]
    assert ours.summary() == of_tables_alone(printed("score", KEYWORDS, *options))


@pytest.mark.slow
def test_score_by_a_column_and_against_a_saved_comparison_is_the_command(
    panel: rs.CalibratedPanel, calibrated: tuple[Path, Any], tmp_path: Path
) -> None:
    judgments = tmp_path / "judgments.csv"
    panel.judgments.assign(part=np.arange(len(panel.judgments)) % 2).to_csv(judgments, index=False)
    saved, few = tmp_path / "saved.json", ("-j", judgments, "--replicates", 10, "--method", "none")
    whole = printed("score", KEYWORDS, *few, "--by", "part", "--save", saved)
    ours = rs.score(KEYWORDS, judgments, by="part", replicates=10, method="none")
    assert ours.summary() == whole
    assert ours.groups[["part", "system"]].values.tolist() == [["0", "keywords"], ["1", "keywords"]]
    apart = printed("score", KEYWORDS, "-j", judgments, "--replicates", 10, "--by", "part", "--apart")
    assert rs.score(KEYWORDS, judgments, by="part", apart=True, replicates=10).summary() == apart
    placed = printed("score", GIFT, "--against", saved)
    assert rs.score(GIFT, against=saved).summary() == placed
    both = printed("score", GIFT, "-j", judgments, "--against", saved)
    assert rs.score(GIFT, judgments, against=saved).summary() == both
    assert any("gift is" in note for note in rs.score(GIFT, against=saved).notes)
    with pytest.raises(rs.RelstudyError, match="already holds a system named 'keywords'"):
        rs.score(KEYWORDS, against=saved)
    with pytest.raises(rs.RelstudyError, match="by takes a column of the judgments, so judgments is needed"):
        rs.score(GIFT, against=saved, by="part")
    with pytest.raises(rs.RelstudyError, match="the judgments: a path or a pandas DataFrame is needed"):
        rs.score(GIFT)


@pytest.mark.slow
def test_a_survey_is_read_beside_scores_as_the_command_reads_it(tmp_path: Path) -> None:
    """`items` was the command's alone."""
    random = np.random.default_rng(2)
    items = pd.DataFrame({"column": [f"Q{i}" for i in range(12)], "query_id": [f"q{i % 3}" for i in range(12)]})
    items["result_id"] = [f"x{i}" for i in range(12)]
    worth = random.normal(3, 1, 12)
    answers = {f"Q{i}": (worth[i] + random.normal(0, 0.6, 9)).round().clip(1, 5).astype(int) for i in range(12)}
    survey = pd.DataFrame({"who": list("abcdefghi"), **answers, "Finished": [1] * 8 + [0]})
    scores = items[["query_id", "result_id"]].assign(new=worth)
    for name, table in (("items", items), ("survey", survey), ("scores", scores)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    columns = {"who": "rater_id"}
    asked = ["--columns", "who=rater_id", "--items", tmp_path / "items.csv", "--where", "Finished==1"]
    ours = rs.score(scores, survey, columns=columns, items=items, where="Finished==1", replicates=20)
    judged = ["-j", tmp_path / "survey.csv", "--replicates", 20]
    assert ours.as_json()["systems"] == printed("score", tmp_path / "scores.csv", *judged, *asked)["systems"]


WORDS = {"values": {"no": 1, "partly": 3, "Yes": 5}, "scale": "1-5", "missing": ["-"]}
STATED = ["--values", "no=1,partly=3,yes=5", "--scale", "1-5", "--missing", "-"]


@pytest.mark.slow
def test_words_scale_and_missing_are_read_as_the_commands_read_them(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    ids = [(f"q{query}", f"x{query}-{result}") for query in range(6) for result in range(5)]
    words = ["no", "partly", "yes", "-"]  # raters mostly agree: without that nothing could be planned
    worth = random.integers(3, size=len(ids))
    rows = [
        (*pair, *random.choice(words, 3, p=[0.1 + 0.6 * (each == own) for each in range(3)] + [0.1]))
        for pair, own in zip(ids, worth, strict=True)
    ]
    wide = pd.DataFrame(rows, columns=["query_id", "result_id", "ann", "bob", "cy"])
    wide.to_csv(tmp_path / "wide.csv", index=False)
    scores = pd.DataFrame(ids, columns=["query_id", "result_id"]).assign(new=random.normal(size=len(ids)))
    scores.to_csv(tmp_path / "scores.csv", index=False)
    columns = dict.fromkeys(("ann", "bob", "cy"), "rating")
    stated = ["--columns", "rating=ann,rating=bob,rating=cy", *STATED]
    for source in (wide, tmp_path / "wide.csv"):
        panel = rs.calibrate(source, columns=columns, method="none", **WORDS)
        command = printed("calibrate", tmp_path / "wide.csv", "-o", tmp_path / "out", "--method", "none", *stated)
        summary = dict(panel.summary())
        # its notes name arguments where the command's name options
        assert len(summary.pop("notes")) == len(command.pop("notes")) and summary == command
    assert rs.read_ratings(wide, columns=columns, **WORDS).scale.scale.low == 1
    small = {"studies": 20, "results": 4, "correlations": (0.9, 0.1), "power": 0.3}  # found in few queries
    sizes = ("--studies", 20, "--results", 4, "--correlations", "0.9,0.1", "--power", 0.3)
    planned = printed("plan", "--ratings", tmp_path / "wide.csv", *sizes, *stated)
    assert rs.plan(wide, columns=columns, **small, **WORDS).summary() == planned
    judged = wide[["query_id", "result_id"]].assign(judgment=wide["ann"])
    judged = judged[judged["judgment"] != "-"]
    judged.to_csv(tmp_path / "judged.csv", index=False)
    files = [tmp_path / "scores.csv", "-j", tmp_path / "judged.csv"]
    fitted = printed("fit", *files, "-o", tmp_path / "m", "--method", "isotonic", "--folds", 2, *STATED)
    assert rs.fit(scores, judged, method="isotonic", folds=2, **WORDS).summary() == fitted
    few = {"replicates": 5, "method": "none", "weights": "equal"}
    scored = printed("score", *files, "--replicates", 5, "--method", "none", "--weights", "equal", *STATED)
    assert rs.score(scores, judged, **few, **WORDS).summary()["systems"] == scored["systems"]


def test_what_is_said_about_a_table_is_refused_where_none_is_read(panel: rs.CalibratedPanel) -> None:
    for use in (
        lambda: rs.calibrate(panel.calibration.ratings, scale="1-5"),
        lambda: rs.plan(panel, missing=["-"]),
        lambda: rs.plan(scale="1-5"),
        lambda: rs.fit(KEYWORDS, panel, values={"no": 1}),
    ):
        with pytest.raises(rs.RelstudyError, match="say how a table is read"):
            use()
    with pytest.raises(rs.RelstudyError, match=r"a dict of numbers .* in which 'no' is 'one'"):
        rs.read_ratings(EXAMPLE / "ratings.csv", values={"no": "one"})  # type: ignore[dict-item]


def test_the_tables_of_a_result_hold_its_figures(result: rs.Scores) -> None:
    systems = result.summary()["systems"]
    assert result.table.set_index("system")["average_precision"].to_dict() == {
        name: system["average_precision"]["value"] for name, system in systems.items()
    }
    p_family = result.comparisons["p_family"].astype(object)
    expected = [each["p_family"] for each in result.summary()["comparisons"]]
    assert p_family.where(p_family.notna(), None).tolist() == expected
    assert set(result.curves["system"]) == {"keywords", "gift"}
    assert result.per_query.groupby("system").size().nunique() == 1
    assert "\\toprule" in result.to_latex()


@pytest.mark.slow
def test_sample_is_the_command(tmp_path: Path) -> None:
    items = read(EXAMPLE / "collection.csv")[["item_id", "title", "keywords"]].assign(text="words")
    items.to_csv(tmp_path / "collection.csv", index=False)
    ours = rs.sample(items, "keywords", queries=15, results=6, base=8, seed=3)
    options = ["--systems", "keywords", "--queries", 15, "--results", 6, "--base", 8, "--seed", 3]
    assert ours.summary() == printed("sample", tmp_path, *options)
    pd.testing.assert_frame_equal(
        ours.pairs[["pair_id", "query_id", "result_id", "inclusion_probability", "block"]],
        read(tmp_path / "pairs.csv")[["pair_id", "query_id", "result_id", "inclusion_probability", "block"]],
        check_dtype=False,
    )
    again = rs.sample(tmp_path, "keywords", queries=15, results=6, base=8, seed=3)
    pd.testing.assert_frame_equal(again.pairs, ours.pairs)


@pytest.mark.slow
def test_plan_is_the_command(panel: rs.CalibratedPanel) -> None:
    small = {"correlations": (0.8, 0.2), "results": 8, "studies": 20, "power": 0.5}
    sizes = ("--correlations", "0.8,0.2", "--results", 8, "--studies", 20, "--power", 0.5)
    assert rs.plan(**small).summary() == printed("plan", *sizes)
    assert rs.plan(panel, **small).summary() == printed("plan", "--ratings", EXAMPLE / "ratings.csv", *sizes)


@pytest.mark.slow
def test_every_result_draws_a_figure(panel: rs.CalibratedPanel, result: rs.Scores) -> None:
    figures = [panel.plot(kind) for kind in ("raters", "rater-lines", "variance-by-mean")]
    figures += [result.plot(), result.plot("normalised_rank"), rs.fit(KEYWORDS, panel, method="isotonic").plot()]
    assert all(isinstance(figure, Figure) and figure.axes for figure in figures)


@pytest.mark.slow
def test_what_is_shown_fits_a_screen(
    panel: rs.CalibratedPanel, result: rs.Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [panel, result, rs.read_ratings(EXAMPLE / "ratings.csv"), rs.fit(KEYWORDS, panel, method="isotonic")]
    for each in shown:
        lines = repr(each).splitlines()
        assert len(lines) <= 24, repr(each)
        assert max(map(len, lines)) <= 80, repr(each)
        assert "<table" in each._repr_html_()
    assert max(map(len, repr(result.verdict).splitlines())) <= 80
    # by a short path, since a path and the command with it stay whole
    monkeypatch.chdir(KEYWORDS.parent)
    inspected = rs.inspect(KEYWORDS.name)
    assert max(map(len, repr(inspected).splitlines())) <= 80 and repr(inspected) != str(inspected)
    assert str(inspected).splitlines()[-1] == repr(inspected).splitlines()[-1]


def test_what_holds_arrays_is_shown_in_words() -> None:
    mapping = rs.FittedMapping([0.0, 1.0], [1.0, 5.0], method="isotonic", system="new")  # type: ignore[arg-type]
    heading = "Mapping of system 'new' by isotonic: scores from 0 to 1 to judgments from 1 to 5, rising, 2 knots"
    assert " ".join(repr(mapping).split()).startswith(heading)
    found = rs.inspect(EXAMPLE / "judgments.csv")
    assert repr(found).split() == str(found).split()
    truth = rs.hashing.LabelTruth.by(*[rs.hashing.Labels(classes=np.zeros(900, dtype=int))] * 2)
    assert repr(truth) == "LabelTruth(900 queries x 900 codes by class)"


def test_a_name_that_is_not_a_tag_is_shown_as_it_is(panel: rs.CalibratedPanel) -> None:
    scores = read(KEYWORDS).assign(system="<b>bold</b>")
    assert "<b>bold" not in rs.fit(scores, panel, method="isotonic")._repr_html_()


def refusal(function: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(rs.RelstudyError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def test_what_cannot_be_is_one_sentence(panel: rs.CalibratedPanel) -> None:
    ratings = read(EXAMPLE / "ratings.csv")
    assert refusal(rs.calibrate, ratings.drop(columns="rating")).startswith(
        "the ratings, column rating: this column is required (the DataFrame has: rater_id,"
    )
    wrong = ratings.astype({"rating": object})
    wrong.loc[3, "rating"] = "good"
    assert refusal(rs.calibrate, wrong).startswith("the ratings, row 3, column rating: 'good' is not allowed;")
    assert "columns names 'worker', and there is no such column" in refusal(
        rs.read_ratings, ratings, columns={"worker": "rater_id"}
    )
    assert "file not found" in refusal(rs.calibrate, "nowhere.csv")
    assert (
        "method: choose 'pooled', 'crossed', 'shrunk', 'zscore', 'mean', 'none', 'p910', 'p913', "
        "'ordinal', 'rasch', 'dawid-skene', 'glad' or 'mace', not" in refusal(rs.calibrate, ratings, method="magic")
    )
    assert "'best', not 'magic'" in refusal(rs.fit, KEYWORDS, panel, method="magic")
    assert "column query_id" in refusal(rs.score, read(KEYWORDS).drop(columns="query_id"), panel)
    assert "column judgment" in refusal(rs.score, KEYWORDS, panel.judgments.drop(columns="judgment"))
    assert "one system is needed under a name" in refusal(
        rs.fit, {"both": pd.concat([read(KEYWORDS), read(GIFT)])}, panel, method="isotonic"
    )
    assert "no picture 'pie'" in refusal(panel.plot, "pie")


def test_columns_are_renamed(panel: rs.CalibratedPanel) -> None:
    theirs = read(EXAMPLE / "ratings.csv").rename(columns={"rater_id": "worker", "rating": "stars"})
    renamed = rs.calibrate(theirs, columns={"worker": "rater_id", "stars": "rating"})
    pd.testing.assert_series_equal(renamed.judgments["judgment"], panel.judgments["judgment"])


def test_the_input_is_left_as_it_was() -> None:
    ratings, scores = read(EXAMPLE / "ratings.csv"), read(KEYWORDS)
    before = ratings.copy(), scores.copy()
    rs.fit(scores, rs.calibrate(ratings), method="isotonic")
    pd.testing.assert_frame_equal(ratings, before[0])
    pd.testing.assert_frame_equal(scores, before[1])


def test_importing_relstudy_loads_nothing_heavy_and_names_all_it_has() -> None:
    script = (
        "import sys, relstudy; print([m for m in ('pandas', 'numpy', 'click') if m in sys.modules], relstudy.__all__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[] ")
    assert all(getattr(rs, name) is not None for name in rs.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rs.nothing


def test_a_file_and_the_same_dataframe_are_told_alike() -> None:
    path = EXAMPLE / "ratings.csv"
    of_file, of_frame = rs.inspect(path), rs.inspect(pd.read_csv(path))
    assert of_file.kind == of_frame.kind == "ratings"
    assert of_file.columns == of_frame.columns
    assert of_file.as_json() == printed("inspect", path)


def test_a_dataframe_that_names_nothing_is_unknown_and_its_command_names_a_file_to_save_it_to() -> None:
    inspection = rs.inspect(pd.DataFrame({"colour": ["red", "blue"], "price": [1.0, 2.0]}))
    assert inspection.kind == "unknown"
    assert inspection.command is None
    assert inspection.draft is not None and "FILE" in inspection.draft and "DataFrame" not in inspection.draft


def test_columns_are_renamed_in_whichever_table_they_stand() -> None:
    """The judgments of score and fit took no other names in Python."""
    pairs = {"q": list("aabb"), "d": list("wxyz")}
    judgments = pd.DataFrame({**pairs, "grade": ["yes", "no", "yes", "no"]})
    scores = pd.DataFrame({"topic": list("aabb"), "d": list("wxyz"), "bm25": [0.9, 0.2, 0.4, 0.3]})
    columns = {"q": "query_id", "topic": "query_id", "d": "result_id", "grade": "rating"}
    stated: dict[str, Any] = {"columns": columns, "values": {"yes": 1, "no": 0}}
    assert rs.fit(scores, judgments, method="isotonic", **stated)["bm25"] is not None
    result = rs.score(scores, judgments, replicates=20, **stated)
    assert result.table["average_precision"].tolist() == [1.0]
    with pytest.raises(rs.RelstudyError, match="names 'doc' for result_id, and none of the tables has such a column"):
        rs.score(scores, judgments, columns={**columns, "doc": "result_id"}, values={"yes": 1, "no": 0})


def test_vectors_are_scored_in_python_as_by_the_command(tmp_path: Path) -> None:
    """A path of vectors was read as a table."""
    names = [*"abcdef"]
    np.save(tmp_path / "clip.npy", np.random.default_rng(0).normal(size=(6, 4)))
    (tmp_path / "names.txt").write_text("\n".join(names) + "\n")
    rows = [(q, r, n % 5 + 1) for n, (q, r) in enumerate((q, r) for q in "ab" for r in "cdef")]
    judgments = pd.DataFrame(rows, columns=["query_id", "result_id", "judgment"])
    judgments.to_csv(tmp_path / "j.csv", index=False)
    result = rs.score(tmp_path / "clip.npy", judgments, ids=tmp_path / "names.txt", replicates=20)
    command = ["score", tmp_path / "clip.npy", "-j", tmp_path / "j.csv", "--ids", tmp_path / "names.txt", "--json"]
    done = relstudy(*command, "--replicates", "20")
    pearson = json.loads(done.stdout)["systems"]["clip"]["raw"]["pearson"]["value"]
    assert result.as_json()["systems"]["clip"]["raw"]["pearson"]["value"] == pearson
    with pytest.raises(rs.RelstudyError, match="ids and query_vectors go with vectors"):
        rs.score(judgments.rename(columns={"judgment": "new"}), judgments, ids=tmp_path / "names.txt")


def test_vectors_are_fitted_as_they_are_scored_as_arrays_and_under_names_too(tmp_path: Path) -> None:
    """`fit` read vectors as a table, and an array with its ids was refused."""
    names = [*"abcdef"]
    vectors = np.random.default_rng(0).normal(size=(6, 4))
    np.save(tmp_path / "clip.npy", vectors)
    (tmp_path / "clip.ids.txt").write_text("\n".join(names) + "\n")
    rows = [(q, r, n % 5 + 1) for n, (q, r) in enumerate((q, r) for q in "ab" for r in "cdef")]
    judgments = pd.DataFrame(rows, columns=["query_id", "result_id", "judgment"])
    judgments.to_csv(tmp_path / "j.csv", index=False)
    command = ["fit", tmp_path / "clip.npy", "-j", tmp_path / "j.csv", "-o", tmp_path / "out", "--method", "isotonic"]
    done = succeeds(*command, "--json")
    of_command = json.loads(done.stdout)["systems"]["clip"]["isotonic"]
    for scores, ids in (
        (tmp_path / "clip.npy", None),
        (vectors, names),
        ({"clip": vectors}, pl.Series(names)),
        ({"clip": tmp_path / "clip.npy"}, None),
    ):
        fitted = rs.fit(scores, judgments, ids=ids, method="isotonic")
        assert fitted.as_json()["systems"][next(iter(fitted))]["isotonic"] == of_command
    queries = pd.DataFrame(vectors[:2], index=names[:2])
    apart = rs.score(vectors[2:], judgments, ids=names[2:], query_vectors=queries, replicates=20)
    assert list(apart) == ["vectors"]
    with pytest.raises(rs.RelstudyError, match="the vectors: an array needs ids, one a row"):
        rs.fit(vectors, judgments)
    with pytest.raises(rs.RelstudyError, match="6 vectors, but 2 ids"):
        rs.fit(vectors, judgments, ids=names[:2])
