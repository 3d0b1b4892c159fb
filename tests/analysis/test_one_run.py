"""One scoring run: terminal, JSON, both pages and Python say the same of the same tables."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.pipeline import run_of_comparison
from relstudy.analysis.scoring.saved import read_comparison
from relstudy.common.runtime.wording import percent
from tests.commands import succeeds
from tests.places import EXAMPLE

FEW = ("--replicates", "60")


def run(*arguments: str | Path) -> str:
    """What a command prints."""
    done = succeeds(*arguments)
    return done.stdout


def text_of(page: Path) -> str:
    """The words of a page, as a reader sees them."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))).split())


def said(content: dict[str, Any]) -> tuple[list[str], str, float | None, dict[str, Any]]:
    """Notes, headline, reachable correlation and the numbers of pairs, out of a command's JSON."""
    verdict = content["verdict"]
    return content["notes"], verdict["headline"], verdict["reachable_correlation"], content["pairs"]


def holds_everywhere(study: Path, systems: Sequence[str]) -> None:
    """Hold against each other what every way out of one run says of a study's folder."""
    page, saved = study / "score.html", study / "kept.json"
    content = json.loads(run("score", study, *FEW, "--json", "--report", page, "--save", saved))
    notes, headline, reachable, pairs = said(content)
    assert reachable is not None and notes
    terminal = run("score", study, *FEW, "--verbose")
    printed = run("report", study, *FEW)
    reported = json.loads(run("report", study, *FEW, "--json"))
    files = {path.stem: path for path in sorted((study / "scores").glob("*.csv"))}  # as the commands take them
    mappings = study / "mappings" if (study / "mappings").is_dir() else None
    python = rs.score(files, study / "judgments.csv", mappings=mappings, replicates=60)
    assert said(reported) == (notes, headline, reachable, pairs)
    in_python = json.dumps([list(python.notes), python.summary()["systems"]])  # reasons name arguments there
    own_notes, own_systems = json.loads(in_python.replace("unjudged='skip'", "--unjudged skip"))
    assert (own_notes, python.verdict.headline, python.verdict.reachable) == (notes, headline, reachable)
    assert own_systems == content["systems"] == reported["systems"]
    for shown in (terminal, printed, text_of(page), text_of(study / "report" / "index.html")):
        missing = [each for each in (headline, *notes) if " ".join(each.split()) not in " ".join(shown.split())]
        assert not missing
    for written in (page, study / "report" / "index.html"):
        known = f"<dt>{reachable:.2f}</dt><dd>noise ceiling: the best correlation any system could reach"
        assert known in written.read_text(encoding="utf-8")
    assert f"{reachable:.2f}".lstrip("0") in terminal
    kept = run_of_comparison(read_comparison(saved)).verdict  # what an archive holds
    ranked = python.verdict.standings
    for name in ("headline", "measure", "choice", "contrary", "dropped", "parting"):
        assert getattr(kept, name) == getattr(python.verdict, name)
    near = python.verdict.near  # None where chance decides nothing, as in some demos
    assert kept.near == (near and near.replace("seed=1", "--seed 1"))  # named as who asked would type it
    first = python.to_latex().replace("\\_", "_").partition("end{tabular}")[0]  # the measures follow
    in_latex = dict(re.findall(r"^(\S+) & (\S+) &", first, flags=re.MULTILINE))
    assert {name: in_latex[name].replace("--", "-") for name in systems} == {
        name: ranked.rank(name) for name in systems
    }
    if (study / "study.toml").is_file():
        shutil.copyfile(saved, study / "comparison.json")
        run("archive", study, "-o", study / "packed")
        packed = run_of_comparison(read_comparison(study / "packed" / "comparison.json"))
        by_archive = json.loads(run("score", study / "packed", *FEW, "--json"))
        assert said(by_archive)[1:] == (packed.verdict.headline, *said(content)[2:])
        assert packed.verdict.measure == python.verdict.measure
        assert packed.verdict.headline == headline  # raters have other codes there, and are drawn as here
        index = python.verdict.primary.index
        for name in systems:
            assert packed.result[name].estimate(index) == python.result[name].estimate(index)
    by_json = {each["system"]: each["shown"] for each in content["verdict"]["ranks"]}
    assert by_json == {name: ranked.rank(name) for name in systems}
    good = f"{pairs['relevant']:,.1f}".removesuffix(".0")
    assert f"{good} of the pairs are good (" in terminal and f", {good} relevant (" in python.heading()
    for written in (page, study / "report" / "index.html"):
        share = percent(pairs["relevant"] / pairs["judged"])
        assert f"On average {share} of the ratings of a pair call it a good match" in text_of(written)


@pytest.mark.slow
def test_every_way_out_of_a_run_says_the_same_of_the_example(tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(EXAMPLE, study, ignore=shutil.ignore_patterns("gift-*"))
    holds_everywhere(study, sorted(path.stem for path in (study / "scores").glob("*.csv")))


@pytest.mark.slow
@pytest.mark.real_data
def test_every_way_out_of_a_run_says_the_same_of_foreign_ratings(shared_data: Path, tmp_path: Path) -> None:
    study, data = tmp_path / "study", shared_data / "tifa160_likert"
    run("calibrate", data / "ratings.csv", "-o", study)
    scores = pd.read_csv(data / "system_scores_tifa_release.csv")
    (study / "scores").mkdir()
    for name in ("bleu", "clipscore_vitb32"):
        long = scores[["query_id", "result_id", name]].rename(columns={name: "score"})
        long.assign(system=name).to_csv(study / "scores" / f"{name}.csv", index=False)
    holds_everywhere(study, ["bleu", "clipscore_vitb32"])
    never_two_answers(study)


def by_folder(study: Path) -> dict[str, Any]:
    return dict(json.loads(run("score", study, *FEW, "--json"))["verdict"])


def by_report(study: Path) -> dict[str, Any]:
    return dict(json.loads(run("report", study, *FEW, "--json"))["verdict"])


def by_files(study: Path) -> dict[str, Any]:
    return dict(json.loads(run(*scoring(study, *files_of(study)), "--json"))["verdict"])


def by_one_more(study: Path) -> dict[str, Any]:
    """All but one system are compared and kept, and the last is scored against them."""
    *first, last = files_of(study)
    run(*scoring(study, *first), "--save", study / "first.json")
    return dict(json.loads(run("score", last, "--against", study / "first.json", "--json"))["verdict"])


def by_python(study: Path) -> dict[str, Any]:
    files = {path.stem: path for path in files_of(study)}
    mappings = study / "mappings" if (study / "mappings").is_dir() else None
    return rs.score(files, study / "judgments.csv", mappings=mappings, replicates=60).verdict.as_json()


def files_of(study: Path) -> list[Path]:
    return sorted((study / "scores").glob("*.csv"))


def scoring(study: Path, *files: Path) -> list[str | Path]:
    """The command that scores some files as the study's folder is scored."""
    mappings = ["--mappings", study / "mappings"] if (study / "mappings").is_dir() else []
    return ["score", *files, "--judgments", study / "judgments.csv", *mappings, *FEW]


WAYS = (by_folder, by_files, by_one_more, by_python, by_report)
"""The ways to ask which systems of a study are the best, the dearest last."""


def never_two_answers(study: Path, ways: Sequence[Callable[[Path], dict[str, Any]]] = (*WAYS, *WAYS[-2::-1])) -> None:
    """Ask in every way and back again in one folder, so that each way finds what each other one leaves."""
    answers = []
    for way in ways:
        verdict = way(study)
        ranks = {each["system"]: (each["shown"], sorted(each["ahead_of"])) for each in verdict["ranks"]}
        answers.append((verdict["headline"], verdict["primary"], verdict["choice"], ranks))
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.slow
def test_whoever_asks_in_five_ways_in_any_order_has_one_answer_of_the_example(tmp_path: Path) -> None:
    never_two_answers(Path(shutil.copytree(EXAMPLE, tmp_path / "study", ignore=shutil.ignore_patterns("gift-*"))))


@pytest.mark.slow
def test_an_archive_is_scored_as_the_study_was(tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(EXAMPLE, study)
    asked = ("--primary", "average_precision", "--matters", "0.1", "--threshold", "2.5")
    run("score", study, *FEW, *asked, "--save", study / "comparison.json")
    run("archive", study, "-o", study / "packed")
    options = read_comparison(study / "packed" / "comparison.json").options
    assert options == read_comparison(study / "comparison.json").options
    assert (options.primary, options.matters, options.threshold) == ("average_precision", 0.1, 2.5)


def alone(tmp_path: Path, *names: str) -> Path:
    """A folder of the example's judgments with some of the tables that belong to them, and no others."""
    folder = tmp_path / ("-".join(names) or "alone")
    folder.mkdir()
    for name in ("judgments.csv", *names):
        shutil.copyfile(EXAMPLE / name, folder / name)
    return folder


def scored(folder: Path) -> dict[str, Any]:
    """What `score` prints of one system as JSON."""
    gift = EXAMPLE / "scores" / "gift.csv"
    content: dict[str, Any] = json.loads(
        run("score", gift, "-j", folder / "judgments.csv", "--method", "none", *FEW, "--json")
    )
    return content


ABSENT = {
    (): "calibrated.csv and pairs.csv are not beside judgments.csv: intervals speak of these raters alone, and which "
    "systems proposed the pairs is not known.",
    ("pairs.csv",): "calibrated.csv is not beside judgments.csv: intervals speak of these raters alone.",
    ("calibrated.csv",): "pairs.csv is not beside judgments.csv: which systems proposed the pairs is not known.",
}


@pytest.mark.slow
@pytest.mark.parametrize("there", ABSENT)
def test_what_was_looked_for_beside_judgments_and_not_found_is_a_note(there: tuple[str, ...], tmp_path: Path) -> None:
    folder = alone(tmp_path, *there)
    assert ABSENT[there] in scored(folder)["notes"]
    python = rs.score(EXAMPLE / "scores" / "gift.csv", folder / "judgments.csv", method="none", replicates=60)
    assert ABSENT[there] in python.notes


@pytest.mark.slow
def test_judgments_with_all_their_tables_have_nothing_to_say_of_them(tmp_path: Path) -> None:
    whole, bare = alone(tmp_path, "calibrated.csv", "pairs.csv"), alone(tmp_path)
    assert not any("beside" in note for note in scored(whole)["notes"])
    ends = [scored(folder)["systems"]["gift"]["average_precision"] for folder in (whole, bare)]
    widths = [end["high"] - end["low"] for end in ends]
    assert widths[1] < 0.9 * widths[0]  # which the note of the one before tells


def test_a_pool_that_judgments_speak_of_and_that_is_not_there_is_a_note(tmp_path: Path) -> None:
    folder = alone(tmp_path, "calibrated.csv", "pairs.csv")
    judgments = pd.read_csv(folder / "judgments.csv").assign(pool="inside")
    judgments.to_csv(folder / "judgments.csv", index=False)
    assert "pool.csv is not beside judgments.csv: results outside the pool are not counted." in scored(folder)["notes"]
