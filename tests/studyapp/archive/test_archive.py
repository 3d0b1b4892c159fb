"""The archive of a study holds what a reviewer and the next system need, and nobody who took part."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

import relstudy as rs
from relstudy.analysis.scoring.saved import read_comparison
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.archive.contents import KEPT, WHOLE, as_toml, public_settings
from relstudy.studyapp.archive.meanings import MEANINGS, as_markdown
from relstudy.studyapp.archive.tables import NewCodes
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters
from tests.commands import relstudy, succeeds
from tests.places import ROOT
from tests.studyapp.desk import Desk
from tests.studyapp.studies import TOML, Made, write_study

pytestmark = pytest.mark.slow
SECRETS = (
    *("5f0PERSON", "SESSION-77", "aunt Mary", "GOLD-CODE", "NONE-0001", "pass word 9", "lab.example.org", "ann@"),
    *("keep this to us", "KEY_OF_OURS"),
)
STUDY = (
    TOML.replace('contact = "lab@example.org"', 'contact = "ann@lab.org"\nurl = "https://lab.example.org/mine"')
    .replace(
        'rules = ["personal", "open"]',
        'rules = ["prolific", "passphrase"]\npassphrase = "pass word 9"\ncompletion_code = "GOLD-CODE"\n'
        'completion_url = "https://lab.example.org/?c={code}"\noutcomes = { no_consent = "NONE-0001" }',
    )
    .replace("more = 4", "more = 4\nratings_per_pair = 2")
    + '\n[[questions]]\nid = "who"\ntext = "Who \\"are\\" you?"\n[judges]\nkey_variable = "KEY_OF_OURS"\n'
)


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A study that three people have rated; two systems are scored, and the ratings calibrated."""
    folder = write_study(tmp_path_factory.mktemp("archive") / "study", STUDY, base_queries=2, unique_queries=2)
    store = Store.of_study(folder)
    prepare(folder, store)
    desk = Desk(Made(folder, store, None))  # type: ignore[arg-type]
    for number in range(3):
        person, step = desk.newcomer(f"anybody {number}"), 0
        while position := desk.next(person):
            step += 1
            desk.answer(person, position, now=60.0 * step, rating=1.0 + (step + number) % 5)
        told = {"entry": "prolific", "identity": f"5f0PERSON{number}", "parameters": {"SESSION_ID": "SESSION-77"}}
        told["answers"] = {"who": "aunt Mary"}
        with store.write() as connection:
            connection.execute(sa.update(raters).where(raters.c.id == person).values(**told))
    pairs = pd.read_csv(folder / "pairs.csv")
    pairs.assign(remark="keep this to us", shop="books").to_csv(folder / "pairs.csv", index=False)
    (folder / "scores").mkdir()
    for factor, system in ((7, "old"), (11, "older")):
        scores = pairs[["query_id", "result_id"]].assign(
            system=system, score=[factor * n % 13 for n in range(len(pairs))]
        )
        scores.assign(direction="higher").to_csv(folder / "scores" / f"{system}.csv", index=False)
    store.dispose()
    for command in (["export", folder, "--people", folder / "people.csv"], ["calibrate", folder]):
        succeeds(*command)
    code = pd.read_csv(folder / "ratings.csv")["rater_id"][0]
    (folder / "report").mkdir()
    picture = (
        f'<svg class="figure" aria-label="Raters: mean" xmlns="http://www.w3.org/2000/svg"><text>{code}</text></svg>'
    )
    (folder / "report" / "index.html").write_text(f"<p>{picture}</p>", encoding="utf-8")
    yield folder


@pytest.fixture(scope="module")
def zipped(rated: Path) -> Path:
    target = rated.parent / "study.zip"
    succeeds("archive", rated, "-o", target, "--date", "2026-11-01", "--column", "shop=where it is sold")
    return target


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_no_person_secret_or_network_name_of_the_study_is_in_the_archive(rated: Path, zipped: Path) -> None:
    people = pd.read_csv(rated / "people.csv", dtype=str).fillna("")
    known = {*people["rater_id"], *SECRETS, *people["started_at"], *people["finished_at"]} - {""}
    found = {(name, secret) for name, data in contents(zipped).items() for secret in known if secret.encode() in data}
    assert found == set()
    assert all(
        any(secret in text for text in (STUDY, people.to_csv(), (rated / "pairs.csv").read_text()))
        for secret in SECRETS
    )


def test_raters_are_renumbered_by_the_secret_and_alike_in_every_table(rated: Path, zipped: Path) -> None:
    files = contents(zipped)
    tables = {name: pd.read_csv(io.BytesIO(files[f"{name}.csv"])) for name in ("ratings", "calibrated", "raters")}
    assert all(set(table["rater_id"]) == {"rater-1", "rater-2", "rater-3"} for table in tables.values())
    before = pd.read_csv(rated / "raters.csv").set_index("rater_id")["mean"]
    after = tables["raters"].set_index("rater_id")["mean"]
    new = NewCodes(before.index, (rated / "secret.key").read_text().strip().encode()).new
    assert before.rename(new).to_dict() == pytest.approx(after.to_dict())
    assert "rater-" in files["figures/report-01-raters.svg"].decode()
    orders = {tuple(NewCodes(list("abcd"), bytes([number])).new) for number in range(40)}
    assert len(orders) > 10  # an order of its own for each secret, not that of the codes
    rows = tables["ratings"]["rater_id"].tolist()
    assert rows == sorted(rows)  # the order in which people came is gone
    assert "rated_at" not in tables["ratings"] and "rated_at" not in tables["calibrated"]


def test_every_column_of_every_table_has_a_meaning_and_unknown_ones_are_left_out_and_named(
    rated: Path, zipped: Path
) -> None:
    files = contents(zipped)
    told = {
        (row["table"], row["column"]): row["meaning"]
        for row in csv.DictReader(io.StringIO(files["columns.csv"].decode()))
    }
    there = {
        (name, column)
        for name, data in files.items()
        if name.endswith(".csv") and name != "columns.csv"
        for column in pd.read_csv(io.BytesIO(data), nrows=0).columns
    }
    assert set(told) == there and all(told.values())
    assert told["pairs.csv", "shop"] == "where it is sold" and "remark" not in files["pairs.csv"].decode()
    assert "of pairs.csv: remark" in files["README.md"].decode()
    written = {
        name: set(pd.read_csv(rated / f"{name}.csv", nrows=0))
        for name in ("ratings", "calibrated", "judgments", "raters")
    }
    assert {name: columns - set(MEANINGS[name]) for name, columns in written.items()} == {
        name: set() for name in written
    }


def test_docs_columns_is_printed_by_its_owner() -> None:
    assert (ROOT / "docs" / "columns.md").read_text(encoding="utf-8") == as_markdown()


def test_the_same_study_and_day_give_the_same_bytes_and_a_folder_the_same_files(rated: Path, zipped: Path) -> None:
    arguments = ("--date", "2026-11-01", "--column", "shop=where it is sold")
    again, folder = rated.parent / "again.zip", rated.parent / "unzipped"
    succeeds("archive", rated, "-o", again, *arguments)
    assert again.read_bytes() == zipped.read_bytes()
    succeeds("archive", rated, "-o", folder, *arguments)
    assert {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()} == contents(zipped)
    refused = relstudy("archive", rated, "-o", folder)
    assert refused.exit_code == 1 and "not empty" in refused.output


def test_what_was_left_out_is_said_on_standard_output_and_in_the_archive(rated: Path, zipped: Path) -> None:
    printed = json.loads(relstudy("archive", rated, "-o", rated.parent / "third.zip", "--json").stdout)
    assert printed["notes"][0] == "comparison.json holds every system in scores/: old, older."
    assert any("answers to the exit questions" in phrase for phrase in printed["left_out"])
    assert any("entry.passphrase" in phrase and "judges" in phrase for phrase in printed["left_out"])
    assert any("--license" in note for note in printed["notes"])
    readme = contents(zipped)["README.md"].decode()
    assert "entry.completion_url" in readme and "answers to the exit questions" in readme


def test_the_settings_of_an_archive_are_a_study_without_what_nobody_decided_to_show(zipped: Path) -> None:
    public = Study.parse(contents(zipped)["study.toml"].decode())
    asked = Study.parse(STUDY)
    assert (public.blocks, public.questions, public.scales) == (asked.blocks, asked.questions, asked.scales)
    assert public.entry.passphrase == "left out" and not public.url and not public.contact
    new = Study.parse(TOML)
    text, left_out = public_settings(type(new)(**{**vars(new), "text": TOML + '[future]\ntoken = "x"\n'}))
    assert left_out == ("study.contact", "future") and "token" not in text
    assert not {"url", "contact", "passphrase", "completion_code", "outcomes"} & {
        *KEPT["study"],
        *KEPT["entry"],
        *WHOLE,
    }


def test_any_text_survives_being_written_as_toml() -> None:
    data = {
        "a": {"t": 'q"\\\n\t\x00\x7f\u2028é😀', "n": [1, 2.5, True], "of": {"1.5": "x", "b c": -3}},
        "b": [{"k": ""}],
    }
    assert tomllib.loads(as_toml(data)) == data


def test_croissant_has_what_its_specification_requires_and_fits_the_files(rated: Path) -> None:
    target = rated.parent / "stated.zip"
    stated = ("--author", "Doe, Jane", "--license", "CC-BY-4.0", "--url", "https://example.org/data")
    done = relstudy("archive", rated, "-o", target, *stated)
    assert "Croissant requires" not in done.stdout
    files = contents(target)
    about = json.loads(files["croissant.json"])
    # Croissant 1.0, "Dataset-level information" (required properties), "FileObject", "Field"
    required = {"@context", "@type", "conformsTo", "description", "license", "name", "url", "creator", "datePublished"}
    assert required <= set(about) and about["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    import hashlib

    for file in about["distribution"]:
        assert file["sha256"] == hashlib.sha256(files[file["contentUrl"]]).hexdigest() and file["encodingFormat"]
    by_id = {file["@id"] for file in about["distribution"]}
    fields = [field for records in about["recordSet"] for field in records["field"]]
    assert len({field["@id"] for field in fields}) == len(fields) > 50
    for field in fields:
        assert field["source"]["fileObject"]["@id"] in by_id and field["source"]["extract"]["column"]
        assert field["dataType"] in ("sc:Text", "sc:Integer", "sc:Float") and field["description"]
    citation = files["CITATION.cff"].decode()
    assert (
        'family-names: "Doe"' in citation and 'given-names: "Jane"' in citation and 'license: "CC-BY-4.0"' in citation
    )
    versions = json.loads(files["versions.json"])
    assert versions["relstudy"] == rs.__version__ and {"numpy", "pandas"} <= set(versions["libraries"])


def test_a_new_system_is_scored_against_the_archive_as_against_the_study(rated: Path, zipped: Path) -> None:
    kept = rated.parent / "kept.json"
    succeeds("score", rated, "--replicates", 20, "--save", kept)
    for ours, theirs in zip(read_comparison(zipped).candidates, read_comparison(kept).candidates, strict=True):
        assert ours.name == theirs.name and ours.mapped is not None and theirs.mapped is not None
        np.testing.assert_array_equal(ours.mapped.values, theirs.mapped.values)
    pairs = pd.read_csv(rated / "pairs.csv")[["query_id", "result_id"]]
    new = pairs.assign(score=range(len(pairs)), system="new")
    placed = rs.score(new, against=zipped)
    assert [system.name for system in placed.result.systems] == ["old", "older", "new"]
    run_file = rated.parent / "new.run"
    lines = [f"{row.query_id} Q0 {row.result_id} 1 {row.score} new" for row in new.itertuples()]
    run_file.write_text("\n".join(lines) + "\n")
    printed = relstudy("score", run_file, "--judgments", zipped, "--replicates", 20)
    assert printed.exit_code == 0 and "\nnew " in printed.output
    figure = placed.table.set_index("system")["raw_pearson"]["new"]
    for judgments in (zipped, rated / "judgments.csv"):
        assert rs.score(new, judgments, replicates=20).table["raw_pearson"].iloc[0] == pytest.approx(figure)


def test_a_rater_whom_the_ratings_no_longer_hold_is_not_archived(rated: Path, tmp_path: Path) -> None:
    table = pd.read_csv(rated / "calibrated.csv")
    codes = NewCodes(table["rater_id"].unique()[:2], b"x")
    with pytest.raises(RelstudyError, match="removed since"):
        codes.renamed(table, "calibrated.csv")


def test_a_study_that_was_never_served_is_archived_from_its_ratings_csv(rated: Path, tmp_path: Path) -> None:
    folder = write_study(tmp_path / "files")
    (folder / "ratings.csv").write_bytes((rated / "ratings.csv").read_bytes())
    done = relstudy("archive", folder, "-o", tmp_path / "out.zip")
    assert done.exit_code == 0 and f"Ratings are from {folder / 'ratings.csv'}" in done.output
    assert "no comparison.json" in done.output and "no judgments yet" in done.output
    (folder / "ratings.csv").unlink()
    assert "there are no ratings" in relstudy("archive", folder).output


def test_tables_of_further_questions_are_archived_under_new_codes_and_what_was_written_is_not(
    rated: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    shutil.copytree(rated, folder)
    table = pd.read_csv(folder / "ratings.csv")
    for name, more in (("trust", {}), ("why", {"words": "aunt Mary says so"})):
        (folder / "questions" / name).mkdir(parents=True)
        table.assign(**more).to_csv(folder / "questions" / name / "ratings.csv", index=False)
    succeeds("archive", folder, "-o", tmp_path / "study.zip")
    files = contents(tmp_path / "study.zip")
    own = pd.read_csv(io.BytesIO(files["questions/trust/ratings.csv"]))
    assert set(own["rater_id"]) == set(pd.read_csv(io.BytesIO(files["ratings.csv"]))["rater_id"])
    assert set(own["rater_id"]).isdisjoint(table["rater_id"]) and "rated_at" not in own
    assert "questions/why/ratings.csv" not in files and not any(b"aunt Mary" in content for content in files.values())
    assert b"questions/trust/ratings.csv" in files["columns.csv"]
