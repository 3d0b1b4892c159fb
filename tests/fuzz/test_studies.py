"""Every command that reads a study's folder or what another command wrote, after something has happened to a file."""

from __future__ import annotations

import csv
import io
import json
import shutil
import warnings
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relstudy.analysis.report.inputs import page_tables
from relstudy.analysis.study_run import read_study_folder
from relstudy.common.runtime.errors import RelstudyError
from tests.fuzz import plain
from tests.fuzz.ending import BYTES, changed, fuzzed, mutations, printed, run
from tests.fuzz.excerpts import Excerpt, scored_of
from tests.fuzz.mutations import Mutation
from tests.places import EXAMPLE
from tests.studyapp.studies import TOML

pytestmark = [pytest.mark.slow, pytest.mark.real_data]

which = st.integers(0, 1 << 16)
WORDS = ("rivers carry silt", "the harbour silts up", "fish soup", "barley soup", "thin soil", "a tide table")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of short documents with scores of a system, its pairs drawn."""
    folder = tmp_path_factory.mktemp("studies") / "study"
    (folder / "scores").mkdir(parents=True)
    (folder / "study.toml").write_text(TOML)
    items = [f"d{number},text,{WORDS[number % 6]} {number},key{number % 3}" for number in range(12)]
    (folder / "collection.csv").write_text("item_id,kind,text,keywords\n" + "\n".join(items) + "\n")
    scores = [f"mine,d{q},d{r},{(q * 5 + r * 3) % 11}" for q in range(12) for r in range(12) if q != r]
    (folder / "scores" / "mine.csv").write_text("system,query_id,result_id,score\n" + "\n".join(scores) + "\n")
    drawn = run("sample", folder, *SIZES)
    assert drawn.exit_code == 0, drawn.stderr
    return folder


SIZES = ("--queries", "4", "--results", "3", "--base", "3", "--seed", "1")
FILES = ("collection.csv", "scores/mine.csv", "study.toml", "pairs.csv")


def damaged(study: Path, name: str, changes: list[Mutation]) -> Path:
    """A copy of the study with one file changed."""
    folder = study.parent / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(study, folder)
    separator = "," if name.endswith(".csv") else " "
    path = folder / name
    path.write_bytes(changed(Excerpt(path.name, path.read_bytes(), separator), changes))
    return folder


def names_in(path: Path, column: str) -> set[str]:
    rows = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
    return {(row.get(column) or "").strip() for row in rows}


@given(st.sampled_from(FILES[:3]), mutations())
@fuzzed()
def test_sample(study: Path, name: str, changes: list[Mutation]) -> None:
    folder = damaged(study, name, changes)
    (folder / "pairs.csv").unlink()
    done = run("sample", folder, *SIZES, "--json", out=folder / "pairs.csv")
    if done.exit_code == 0 and name != "study.toml":
        summary = printed(done)
        with (folder / "pairs.csv").open(encoding="utf-8") as file:
            pairs = list(csv.DictReader(file))
        assert len(pairs) == summary["pairs"]
        assert all(0 < float(pair["inclusion_probability"]) <= 1 for pair in pairs)


@given(st.sampled_from(FILES), mutations())
@fuzzed()
def test_status_and_lists(study: Path, name: str, changes: list[Mutation]) -> None:
    folder = damaged(study, name, changes)
    run("admin", "status", folder, "--json")
    run("lists", folder, "d0", "--json")


@pytest.fixture(scope="module")
def comparison(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with judgments, scores, a saved comparison and a mapping."""
    folder = tmp_path_factory.mktemp("comparison")
    judgments, scores = scored_of(shared_data)[0]
    (folder / "judgments.csv").write_bytes(judgments.content)
    (folder / "scores.csv").write_bytes(scores.content)
    (folder / "other.csv").write_bytes(scores.content.replace(b"gift,", b"other,"))
    options = ("-j", folder / "judgments.csv", "--replicates", 5, "--method", "none")
    assert run("score", folder / "scores.csv", *options, "--save", folder / "saved.json").exit_code == 0
    fitted = ("-j", folder / "judgments.csv", "--method", "isotonic", "--folds", 2, "-o", folder / "mappings")
    assert run("fit", folder / "scores.csv", *fitted).exit_code == 0
    return folder


@given(st.sampled_from(["saved.json", "mappings/gift.json"]), which, mutations([*BYTES, "a preamble"]))
@fuzzed(0.2)
def test_score_with_what_was_saved(comparison: Path, name: str, at: int, changes: list[Mutation]) -> None:
    path = comparison / f"damaged-{Path(name).name}"
    path.write_bytes(changed(Excerpt(path.name, (comparison / name).read_bytes(), " "), changes))
    if name == "saved.json":
        done = run("score", comparison / "other.csv", "--against", path, "--json")
    else:
        given_files = (comparison / "scores.csv", "-j", comparison / "judgments.csv", "--mappings", path)
        done = run("score", *given_files, "--replicates", 5, "--json")
    if done.exit_code == 0:
        assert printed(done)["systems"]


@given(st.sampled_from(["saved.json", "mappings/gift.json"]), which, which)
@fuzzed(0.2)
def test_score_with_a_value_changed_in_what_was_saved(comparison: Path, name: str, at: int, what: int) -> None:
    content = json.loads((comparison / name).read_text())
    change_value(content, at, VALUES[what % len(VALUES)])
    path = comparison / f"damaged-{Path(name).name}"
    path.write_text(json.dumps(content))
    if name == "saved.json":
        run("score", comparison / "other.csv", "--against", path, "--json")
    else:
        given_files = (comparison / "scores.csv", "-j", comparison / "judgments.csv", "--mappings", path)
        run("score", *given_files, "--replicates", 5, "--json")


VALUES = (None, "", "x", -1, 0, 1e308, [], {}, True, "nan", [None], {"a": 1}, 3.5, [1, 2])


def change_value(content: object, at: int, value: object) -> None:
    """Replace one value somewhere in what JSON holds."""
    while isinstance(content, dict | list) and content:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        key = keys[at % len(keys)]
        at //= len(keys)
        inner = content[key]  # type: ignore[index]
        if not isinstance(inner, dict | list) or not inner or at == 0:
            content[key] = value  # type: ignore[index]
            return
        content = inner


@pytest.fixture(scope="module")
def reported(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reported") / "study"
    judgments, scores = scored_of(shared_data)[0]
    (folder / "scores").mkdir(parents=True)
    (folder / "judgments.csv").write_bytes(judgments.content)
    (folder / "scores" / "gift.csv").write_bytes(scores.content)
    shutil.copy(EXAMPLE / "raters.csv", folder / "raters.csv")
    judged = pd.read_csv(folder / "judgments.csv", dtype=str)[["query_id", "result_id"]]
    for name in ("ratings.csv", "pairs.csv"):
        whole = pd.read_csv(EXAMPLE / name, dtype=str, keep_default_na=False)
        whole.merge(judged, on=["query_id", "result_id"]).to_csv(folder / name, index=False)
    return folder


REPORTED = ("judgments.csv", "scores/gift.csv", "ratings.csv", "raters.csv", "pairs.csv")


@given(st.sampled_from(REPORTED), mutations())
@fuzzed(0.95)
def test_what_a_report_reads(reported: Path, name: str, changes: list[Mutation]) -> None:
    """Half a second of each page is what is made of the tables, so most cases end where the tables are read."""
    folder = damaged(reported, name, changes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            scored = read_study_folder(folder)
            scored.scores(low_coverage=True)
            read = page_tables(scored.study, folder, scored.files)
        except RelstudyError as error:
            assert len(str(error)) > 20
            return
    pairs = read.judgments.frame[["query_id", "result_id"]].itertuples(index=False, name=None)
    judged = dict(zip(pairs, read.judgments.frame["judgment"], strict=True))
    assert judged == pytest.approx(plain.judgments_of((folder / "judgments.csv").read_bytes()))


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that are empty: how they look hangs on no file."""
    empty = '<svg width="10pt" height="10pt" viewBox="0 0 10 10" xmlns="http://www.w3.org/2000/svg"></svg>'
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, file, **_: file.write(empty))


@pytest.mark.usefixtures("undrawn")
@given(st.sampled_from(REPORTED), mutations())
@fuzzed(0.05)
def test_report(reported: Path, name: str, changes: list[Mutation]) -> None:
    folder = damaged(reported, name, changes)
    options = ("--replicates", 2, "--folds", 2, "--method", "none")
    done = run("report", folder, *options, "--json", out=folder / "report")
    if done.exit_code == 0:
        assert printed(done)["systems"]
