"""Every command that reads tables, on real files that something has happened to.

Each case ends in 0 with the figures that a second, plain reader computes from the same bytes, or in 1 with one sentence
and nothing written. What leaves a file's meaning alone leaves its figures alone.
"""

from __future__ import annotations

import math
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import plain
from tests.fuzz.ending import changed, fuzzed, keeping, mutations, printed, run
from tests.fuzz.excerpts import Excerpt, ratings_of, scored_of
from tests.fuzz.mutations import Mutation

pytestmark = [pytest.mark.slow, pytest.mark.real_data]

which = st.integers(0, 1 << 16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def ratings(shared_data: Path) -> list[Excerpt]:
    return ratings_of(shared_data)


@pytest.fixture(scope="module")
def scored(shared_data: Path) -> list[tuple[Excerpt, Excerpt]]:
    return scored_of(shared_data)


def written(folder: Path, excerpt: Excerpt, changes: list[Mutation]) -> tuple[Path, bytes]:
    """The excerpt after the changes, as a file."""
    content = changed(excerpt, changes)
    path = folder / excerpt.name
    path.write_bytes(content)
    return path, content


def emptied(folder: Path) -> Path:
    """A folder to write to, with nothing in it."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    return out


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


@given(which, mutations())
@fuzzed(0.5)
def test_calibrate(folder: Path, ratings: list[Excerpt], at: int, changes: list[Mutation]) -> None:
    excerpt = ratings[at % len(ratings)]
    path, content = written(folder, excerpt, changes)
    out = emptied(folder)
    done = run(
        "calibrate", path, "-o", out, "--method", "none", "--careless", "keep", "--json", "--trust-raters", out=out
    )
    if done.exit_code == 1:
        assert not keeping(excerpt, changes), done.stderr
        return
    figures, given_ratings = printed(done), plain.ratings_of(content)
    decided = {key: rating for key, rating in given_ratings.items() if rating is not None}
    assert figures["ratings"] == len(decided)
    assert figures["undecided"] == len(given_ratings) - len(decided)
    assert figures["raters"] == len({rater for rater, _, _ in given_ratings})
    means = plain.mean_by_pair(((query, result), rating) for (_, query, result), rating in decided.items())
    table = pd.read_csv(out / "judgments.csv", dtype={"query_id": str, "result_id": str}, keep_default_na=False)
    judged = dict(zip(zip(table["query_id"], table["result_id"], strict=True), table["judgment"], strict=True))
    assert judged.keys() == means.keys()
    assert all(close(float(judged[pair]), means[pair]) for pair in means)
    if keeping(excerpt, changes):
        unchanged = plain.ratings_of(excerpt.content)
        assert given_ratings == unchanged


@given(which, st.sampled_from(["shrunk", "zscore", "rasch", "dawid-skene", "glad", "mace"]), mutations())
@fuzzed(0.5)
def test_calibrate_by_each_method(
    folder: Path, ratings: list[Excerpt], at: int, method: str, changes: list[Mutation]
) -> None:
    excerpt = ratings[at % len(ratings)]
    path, content = written(folder, excerpt, changes)
    out = emptied(folder)
    done = run("calibrate", path, "-o", out, "--method", method, "--force", out=out)
    if done.exit_code == 0:
        rated = [rating for rating in plain.ratings_of(content).values() if rating is not None]
        table = pd.read_csv(out / "judgments.csv")
        assert table["n_ratings"].sum() == len(rated)
        assert table["judgment"].notna().all()


def of_scoring(figures: dict[str, Any]) -> dict[str, float | None]:
    return {name: system["raw"]["pearson"]["value"] for name, system in figures["systems"].items()}


def by_file(systems: dict[str, Any], file: object) -> dict[str, Any]:
    """The systems of a file, which names the one that only a column `score` is of."""
    return {Path(str(file)).name.partition(".")[0]: systems["score"]} if [*systems] == ["score"] else systems


@given(which, which, mutations())
@fuzzed(0.6)
def test_score(
    folder: Path, scored: list[tuple[Excerpt, Excerpt]], at: int, other: int, changes: list[Mutation]
) -> None:
    pair = scored[at % len(scored)]
    turn = other % 2
    files = [written(folder, excerpt, changes if number == turn else []) for number, excerpt in enumerate(pair)]
    (judgments, judged), (scores, given_scores) = files
    options = ("--weights", "equal", "--policy", "drop", "--direction", "higher", "--method", "none")
    done = run("score", scores, "-j", judgments, *options, "--allow-low-coverage", "--replicates", 5, "--json")
    if done.exit_code == 1:
        assert not keeping(pair[turn], changes), done.stderr
        return
    want, systems = plain.judgments_of(judged), by_file(plain.scores_of(given_scores), scores)
    figures = printed(done)
    for name, value in of_scoring(figures).items():
        expected = plain.correlation(systems[name], want)
        assert (value is None) == (expected is None) or abs(expected or 0) < 1e-6
        assert value is None or expected is None or close(value, expected), name
    assert figures["pairs"]["judged"] == len(want)


@given(which, mutations())
@fuzzed()
def test_fit(folder: Path, scored: list[tuple[Excerpt, Excerpt]], at: int, changes: list[Mutation]) -> None:
    pair = scored[at % 2]
    turn = at // 2 % 2
    files = [written(folder, excerpt, changes if number == turn else []) for number, excerpt in enumerate(pair)]
    (judgments, judged), (scores, given_scores) = files
    out = emptied(folder)
    done = run("fit", scores, "-j", judgments, "-o", out, "--method", "isotonic", "--folds", 2, "--json", out=out)
    if done.exit_code == 1:
        assert not keeping(pair[turn], changes), done.stderr
        return
    systems, want = by_file(plain.scores_of(given_scores), scores), plain.judgments_of(judged)
    figures = printed(done)["systems"]
    assert figures.keys() == systems.keys()
    for name in figures:
        value, raw = figures[name]["isotonic"]["in_sample"]["value"], plain.correlation(systems[name], want)
        # the best monotone function is at least as good as a straight line, and never better than perfect
        assert value is None or raw is None or abs(raw) - 1e-9 <= value <= 1 + 1e-9 or raw < 0
    assert {path.suffix for path in out.iterdir()} == {".json"}


@given(which, mutations())
@fuzzed()
def test_inspect(
    folder: Path, ratings: list[Excerpt], scored: list[tuple[Excerpt, Excerpt]], at: int, changes: list[Mutation]
) -> None:
    excerpts = [*ratings, *(excerpt for pair in scored for excerpt in pair)]
    excerpt = excerpts[at % len(excerpts)]
    path, _ = written(folder, excerpt, changes)
    done = run("inspect", path, "--json")
    if done.exit_code == 1:
        assert not keeping(excerpt, changes), done.stderr
        return
    finding = printed(done)
    counted = re.match(r"(\d+) ratings by (\d+) raters", finding["sentence"])
    words = shlex.split(finding["command"] or "")
    if counted and words[:2] == ["relstudy", "calibrate"] and "NAME" not in finding["command"]:
        out = emptied(folder)
        read = run(*["calibrate", path, "-o", out, *words[5:]], "--method", "none", "--json", out=out)
        if read.exit_code == 0:
            figures = printed(read)
            aside = figures["set_aside"] + figures["merged_duplicates"]
            assert figures["ratings"] <= int(counted[1]) <= figures["ratings"] + figures["undecided"] + aside
    elif keeping(excerpt, changes):
        unchanged = written(folder, excerpt, [])[0]
        assert printed(run("inspect", unchanged, "--json"))["kind"] == finding["kind"]


@pytest.fixture
def small_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies of few queries with few bootstrap samples: what a file says is drawn here, not how power is simulated."""
    for module in ("route", "simulated_studies"):
        monkeypatch.setattr(f"relstudy.analysis.planning.{module}.REPLICATES", 10)
    monkeypatch.setattr("relstudy.analysis.planning.power.FIRST_LOOK", 8)


@pytest.mark.usefixtures("small_studies")
@given(which, mutations())
@fuzzed(0.3)
def test_plan(
    folder: Path,
    ratings: list[Excerpt],
    scored: list[tuple[Excerpt, Excerpt]],
    at: int,
    changes: list[Mutation],
) -> None:
    # a low power needs few queries, so that the simulated studies are small
    sizes = ("--studies", 20, "--results", 4, "--correlations", "0.9,0.1", "--power", 0.2, "--json")
    if at % 2:
        excerpt = ratings[at // 2 % len(ratings)]
        path, _ = written(folder, excerpt, changes)
        done = run("plan", "--ratings", path, *sizes)
    else:
        judged, scores = scored[2]
        turn = at // 2 % 2
        excerpt = (judged, scores)[turn]
        path = written(folder, judged, [] if turn else changes)[0]
        other = written(folder, scores, changes if turn else [])[0]
        done = run("plan", "--judgments", path, "--scores", other, "--systems", "with-vector,vector-2", *sizes)
    if done.exit_code == 0:
        assert all(0 <= point["power"] <= 1 for point in printed(done)["points"])
