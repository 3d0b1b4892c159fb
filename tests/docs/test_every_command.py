"""Every command that a page shows runs on a small study, or is listed here with the reason why it does not."""

from __future__ import annotations

import re
import shlex
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.cli import main
from relstudy.studyapp.web.app import create_app
from tests.analysis.inspection.layouts import by_couple
from tests.calibration.interfaces import ratings_of
from tests.docs.plans import in_seconds
from tests.docs.test_docs import FILES, PAGES, RUN, blocks, run_line
from tests.places import EXAMPLE, ROOT
from tests.studyapp.browse import Browser

WHY_NOT = {
    "relstudy ask": "serves; tests/studyapp/commands/test_ask.py follows the pages",
    **{
        f"relstudy {name} {study}": "of a study that relstudy ask made; tests/studyapp/commands/test_ask.py"
        for study, names in (
            ("answers", "export calibrate score report"),
            ("results", "export score report"),
        )
        for name in names.split()
    },
    **{
        f"relstudy {name}": "of a study that relstudy ask made; tests/studyapp/commands/test_ask.py"
        for name in ("admin invite answers", "admin change answers", "admin change results", "judge check answers")
    },
    "relstudy serve": "runs until it is stopped; tests/studyapp/web and tests/browser serve studies",
    "relstudy start": "runs until it is stopped; tests/studyapp/web/test_set_up.py goes through its pages",
    "relstudy admin host": "runs until it is stopped; tests/studyapp/web/test_host.py serves several studies",
    "relstudy admin account studies": "needs a folder of studies; tests/studyapp/web/admin/test_accounts.py has one",
    "relstudy admin account my-study anna@example.org": "by sign-on; tests/studyapp/web/admin/test_sign_on_pages.py",
    "relstudy demo": "takes a minute; tests/end_to_end runs it",
    "relstudy hash demo": "takes a minute; tests/analysis/hashing/commands runs it",
    "relstudy hash buckets itq.npz": "the page's first block makes itq.npz; tests/analysis/hashing/commands runs it",
    "relstudy calibrate tifa160-likert-anns.csv": "a file of another project; tests/project tries its columns",
    "relstudy calibrate chatreport_test.csv": "a file of another project; tests/project tries its columns",
    "relstudy report my-study --paper-tables": "takes a minute; tests/analysis/report/paper runs it",
    "relstudy sample demo --systems": "the demo's first step: a study with ratings is not drawn again",
    "relstudy score my-study --engine dask --scheduler": "a scheduler elsewhere; tests/common has clusters of its own",
    "relstudy score new.run --against study.zip": "a run of that study; tests/studyapp/archive scores one",
    "relstudy admin prolific": "asks Prolific; tests/studyapp/prolific asks a server on the loopback",
    "relstudy judge my-study --judge model": "asks a model; tests/studyapp/judging asks a server on the loopback",
    "relstudy judge my-study --judge five --best": "needs five judges and more; tests/analysis/judges has them",
    "relstudy calibrate preferences my-study": "needs answers to which of two; tests/analysis/linking has them",
    "relstudy judge my-study --question": "asks a model; tests/studyapp/judging asks a server on the loopback",
}
"""Beginnings of commands that are not run here, and why."""
TWO_WORDS = ("calibrate preferences", "calibrate join", "sample couples", "systems lists", "judge check")
IN_A_BROWSER = ("docs/how-to/shop.md", "docs/how-to/answers.md", "docs/how-to/films.md")
"""Pages that tests/browser/test_how_to.py goes through, with what comes between their commands."""
AS_RATED = "as-rated"
"""The folder in which the rated study is kept, whatever the commands of a page do to theirs."""
STANDS_FOR = {"FILE": "ratings.csv", "DIR": "my-study", "PAGE.html": "page.html", "BACKUP": "backup.db"}
"""What a word in capitals stands for. RATER is a rater of the study, and pic0007 a query that was drawn."""


def shown(page: str) -> list[str]:
    """The commands of a page that no other test runs: in blocks, and in lines where they have an argument."""
    found = []
    if page in IN_A_BROWSER:
        return found
    for kind, body in blocks(page):
        if kind == "sh" and (page in RUN or page in FILES or page == "README.md"):
            continue  # run as they stand by test_docs, and the README's by tests/end_to_end
        if kind == "shell":
            continue  # shows forms of a command with files that are not there; test_docs looks at its options
        lines = [line.strip().removeprefix("$ ") for line in body.replace("\\\n", " ").splitlines()]
        found += [line for line in lines if re.match(r"relstudy [a-z]", line)]
    text = re.sub(r"^( *)```.*?^\1```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"`(relstudy [a-z][^`]*)`", text):
        words = line.split()
        at = 3 if words[1] in ("hash", "admin") or " ".join(words[1:3]) in TWO_WORDS else 2
        # without an argument a command is named, and not shown; with an option alone, the option is
        if len(words) > at and not words[at].startswith("-"):
            found.append(" ".join(words))
    return found


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rated study under the names that pages use, and the files that they read."""
    folder = tmp_path_factory.mktemp("pages")
    study = folder / "my-study"
    for command in (f"new {study} --pictures 30", f"sample {study} --queries 14 --results 6 --base 14"):
        assert run(command) == 0
    prepare(study)
    app = create_app(study)
    random = np.random.default_rng(5)
    for _ in range(3):
        browser = Browser(app)
        browser.join()
        browser.rate_all(lambda name, number: str(random.integers(1, 6)))
    app.extensions["relstudy"].store.dispose()
    for command in (f"export {study}", f"calibrate {study}/ratings.csv --pairs {study}/pairs.csv -o {study}"):
        assert run(command) == 0
    assert run(f"fit {study}/scores/keywords.csv {study}/scores/colour.csv -j {study}/judgments.csv "
               f"-o {study}/mappings --method isotonic --folds 2") == 0  # fmt: skip
    assert run(f"backup {study} -o {folder}/backup.db") == 0
    shutil.move(study, folder / AS_RATED)
    ratings_of("1-5", "1-9", "binary").to_csv(folder / "interfaces.csv", index=False)
    example = a_few_queries_of(EXAMPLE, folder / "data" / "example")
    for name in ("photos", "texts"):
        (folder / name).mkdir()
    Image.new("RGB", (16, 12), (20, 120, 200)).save(folder / "photos" / "boat.png")
    (folder / "texts" / "wish.txt").write_text("a boat at sea\n")
    shutil.copytree(folder / "photos", folder / "my-pictures")
    scores = pd.read_csv(example / "scores" / "keywords.csv", dtype=str)
    copies = {"ratings.csv": "ratings.csv", "my-ratings.csv": "ratings.csv", "judgments.csv": "judgments.csv"}
    copies["my-table.csv"] = "ratings.csv"
    for name, source in copies.items():
        shutil.copy(example / source, folder / name)
    for name in ("my-scores.csv", "systems.csv"):
        scores.to_csv(folder / name, index=False)
    ranked = scores.assign(zero="Q0", rank="1", tag="mine")[["query_id", "zero", "result_id", "rank", "score", "tag"]]
    for name in ("my-run.trec", "new.run"):
        ranked.to_csv(folder / name, sep=" ", header=False, index=False)
    for name in ("old", "bm25", "dense"):
        ranked.assign(tag=name).to_csv(folder / f"{name}.run", sep=" ", header=False, index=False)
    graded = pd.read_csv(example / "judgments.csv", dtype=str).assign(zero="0")
    graded["grade"] = graded["judgment"].astype(float).round().astype(int)
    graded[["query_id", "zero", "result_id", "grade"]].to_csv(folder / "qrels.txt", sep=" ", header=False, index=False)
    raters = pd.read_csv(example / "ratings.csv", dtype=str)["rater_id"].drop_duplicates().reset_index(drop=True)
    groups = ["expert" if number % 2 else "layperson" for number in raters.index]
    pd.DataFrame({"rater_id": raters, "entry": "open", "platform_id": "", "group": groups}).to_csv(
        folder / "people.csv", index=False
    )
    ids = sorted({*pd.read_csv(example / "judgments.csv")[["query_id", "result_id"]].to_numpy().ravel()})
    (folder / "ids.txt").write_text("\n".join(ids) + "\n")
    np.save(folder / "embeddings.npy", random.normal(size=(len(ids), 5)))
    for name, count in (("q", 5), ("db", 40)):
        np.save(folder / f"{name}.npy", random.integers(0, 2, (count, 16)).astype(bool))
    (folder / "which.csv").write_text(
        by_couple("{r},{q},{a},{b},{w}", "worker,query,doc_a,doc_b,answer", ("a", "b", "tie"))
    )
    np.save(folder / "yq.npy", np.arange(5))
    np.save(folder / "y.npy", np.arange(40) % 5)
    return folder


def a_few_queries_of(study: Path, folder: Path) -> Path:
    shutil.copytree(study, folder)
    kept = pd.read_csv(study / "pairs.csv")["query_id"].unique()[:10]
    for path in folder.rglob("*.csv"):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        if "query_id" in table:
            table[table["query_id"].isin(kept)].to_csv(path, index=False)
    return folder


def run(command: str) -> int:
    done = CliRunner().invoke(main, shlex.split(command))
    assert done.exit_code == 0, f"{command}\n{done.stderr}\n{done.exception!r}"
    return done.exit_code


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if shown(page)])
def test_every_command_that_a_page_shows_runs(page: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # so many dask workers; tests/common has more of them
    monkeypatch.chdir(workplace)
    for written in ("links.csv",):  # of another page, over which none is written
        (workplace / written).unlink(missing_ok=True)
    restore(workplace, "my-study")
    restore(workplace, "demo")
    rater = pd.read_csv("my-study/ratings.csv", dtype=str)["rater_id"].iloc[0]
    other = pd.read_csv("ratings.csv", dtype=str)["rater_id"].iloc[0]
    drawn = {"pic0007": pd.read_csv("my-study/pairs.csv", dtype=str)["query_id"].iloc[0]}
    for line in shown(page):
        if any(line.startswith(start) for start in WHY_NOT):
            continue
        words = " ".join(in_seconds(line.split("  #")[0].split()))
        for name, meant in {**STANDS_FOR, **drawn, "RATER": other if "--compare" in line else rater}.items():
            words = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w.])", meant, words)
        further = " --next" in line or " --back" in line  # goes on with what the commands above it made
        if re.match("relstudy (admin (erase|exclude|restore|status)|sample)", line) and not further:
            restore(workplace, "my-study")
        again = line.startswith("relstudy new my-study")
        if again:
            shutil.rmtree("my-study")
        asks = re.match("relstudy admin (erase|restore|change)", line) and "--yes" not in line
        run_once = plan if line.startswith("relstudy plan") else run_line
        run_once(f"{words} --yes" if asks else words)
        if further or again:
            restore(workplace, "my-study")


@cache
def plan(line: str) -> None:
    """Several pages show the same plan of the same study, which changes nothing."""
    run_line(line)


def restore(folder: Path, study: str) -> None:
    """The study as it was rated: a command may close it, draw further pairs or remove a rater."""
    shutil.rmtree(folder / study, ignore_errors=True)
    shutil.copytree(folder / AS_RATED, folder / study)


def test_every_reason_is_needed() -> None:
    lines = [line for page in PAGES for line in shown(page)]
    text = " ".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    for start in WHY_NOT:
        assert any(line.startswith(start) for line in lines) or start in text, start
