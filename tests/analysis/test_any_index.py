"""An index made here is found wherever indices are shown, tested or planned for: nothing else lists them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from scipy import stats

import relstudy as rs
from relstudy.analysis.indices.index import Index, Needs
from relstudy.analysis.indices.pairs import WeightedPairs
from relstudy.analysis.indices.registry import register, registered
from relstudy.analysis.resampling.spread import DIFFERENCE, SHARE
from relstudy.analysis.verdict.requirements import answer, read_requirement
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.judges.made import World
from tests.analysis.made import tables
from tests.commands import relstudy
from tests.places import EXAMPLE


def top_third(pairs: WeightedPairs) -> np.ndarray:
    top = pairs.ranking >= np.quantile(pairs.ranking, 2 / 3)
    found: np.ndarray = (pairs.weight * pairs.judgment)[top].sum(axis=0) / pairs.weight[top].sum(axis=0)
    return found


INDEX = Index(
    name="top_third",
    term="top third",
    definition="mean judgment of the third that is scored best",
    needs=Needs.JUDGMENTS,
    figure=top_third,
    scale=DIFFERENCE,
)
SYSTEMS = ("keywords", "gift", "gift-texture")
FEW = ("--replicates", "40", "--method", "none")


@pytest.fixture(scope="module", autouse=True)
def known() -> Iterator[None]:
    with registered(INDEX):
        yield


def run(*arguments: object) -> Result:
    result = relstudy(*arguments)
    assert result.exit_code in (0, 1, 3), result.output
    return result


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """Scoring three systems of the example by group."""
    folder = tmp_path_factory.mktemp("any-index")
    for name in ("judgments.csv", "pairs.csv", "calibrated.csv"):
        if (EXAMPLE / name).is_file():
            shutil.copy(EXAMPLE / name, folder)
    files = [EXAMPLE / "scores" / f"{name}.csv" for name in SYSTEMS]
    return "score", *files, "-j", folder / "judgments.csv", *FEW, "--by", "paradigm"


@pytest.fixture(scope="module")
def terminal(command: tuple[object, ...]) -> str:
    require = ("--require", "keywords > gift by top third", "--require", "top third(keywords) > 1")
    return run(*command, *require, "-v").stdout


@pytest.fixture(scope="module")
def scored(command: tuple[object, ...], tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The JSON, and the folder of its tables and its page."""
    folder = tmp_path_factory.mktemp("any-index")
    done = run(*command, "--out", folder / "out", "--report", folder / "page.html", "--json")
    return json.loads(done.stdout), folder


@pytest.fixture(scope="module")
def content(scored: tuple[dict[str, Any], Path]) -> dict[str, Any]:
    return scored[0]


@pytest.mark.slow
def test_the_terminal_shows_it_as_a_column_in_the_groups_and_beside_the_first(terminal: str) -> None:
    assert terminal.count("top third") >= 3
    assert "top third" not in terminal.splitlines()[0]
    assert "top third" in next(line for line in terminal.splitlines() if line.startswith("estimate: "))


@pytest.mark.slow
def test_requirements_are_held_against_it(terminal: str) -> None:
    assert "pass: keywords > gift by top third (lead +" in terminal
    assert "pass: top third(keywords) > 1 (figure " in terminal


def test_json_holds_it_with_its_comparisons_orderings_agreement_groups_and_definition(content: dict[str, Any]) -> None:
    for each in (content, *content["by"]["groups"].values()):
        figure = each["systems"]["keywords"]["top_third"]
        assert figure["low"] < figure["value"] < figure["high"]
        of_index = [entry for entry in each["comparisons"] if entry["index"] == "top_third"]
        assert len(of_index) == 3 and all(entry["p_family"] is not None for entry in of_index)
        assert "top_third" in [entry["index"] for entry in each["orderings"]]
        assert "top_third" in [entry["second"] for entry in each["agreement"]]
        assert each["conventions"]["top_third"] == INDEX.definition


def test_it_has_no_part_in_who_leads_unless_it_is_the_primary_one(content: dict[str, Any]) -> None:
    assert all("top third" not in sentence for sentence in content["verdict"]["advice"])
    judgments, scores = tables(queries=30)
    verdict = rs.score(scores, judgments, method="none", measures=(), primary="top third", replicates=100).verdict
    assert verdict.primary.name == "top_third" and "Ranked by top third, as stated." in verdict.advice()


def test_tables_hold_it_by_system_and_by_query(scored: tuple[dict[str, Any], Path]) -> None:
    _, folder = scored
    by_query = pd.read_csv(folder / "out" / "per_query.csv")
    assert by_query["top_third"].notna().all() and by_query["top_third"].nunique() > 20
    assert {"top_third", "top_third_low", "top_third_high"} <= set(pd.read_csv(folder / "out" / "scores.csv"))


def test_the_page_shows_it_in_the_table_of_systems_the_differences_and_the_pictures(
    scored: tuple[dict[str, Any], Path],
) -> None:
    page = (scored[1] / "page.html").read_text()
    assert page.count("Top third") >= 4  # systems, differences, and the two sizes of the picture


def test_latex_and_the_notebook_show_it() -> None:
    judgments, scores = tables(queries=12)
    result = rs.score(scores, judgments, method="none", measures=("P@5",), replicates=40)
    assert "Top third" in result.to_latex() and "P@5" in result.to_latex()
    assert "top third" in result.overview().columns
    assert result.plot("top_third") is not None


def test_its_figure_and_interval_are_those_of_a_weighted_mean_over_queries() -> None:
    judgments, scores = tables(queries=40)
    result = rs.score(scores, judgments, method="none", measures=(), replicates=2000, raters="these")
    ranking = scores.loc[scores["system"] == "s0", "score"].to_numpy()
    top = ranking >= np.quantile(ranking, 2 / 3)
    weight = 1 / judgments["inclusion_probability"].to_numpy()
    judgment = judgments["judgment"].to_numpy()
    figure = result.result["s0"].estimate(INDEX)
    mean = np.average(judgment[top], weights=weight[top])
    assert figure.value == pytest.approx(mean, abs=1e-12)
    # the linearised variance of a ratio over queries; 2,000 replicates tell a standard deviation to 1.6 %, and few
    # queries bend the ratio and take a few degrees of freedom
    part = pd.Series((weight * (judgment - mean))[top]).groupby(judgments["query_id"].to_numpy()[top]).sum()
    error = np.sqrt(40 / 39 * (part**2).sum()) / weight[top].sum()
    width = 2 * stats.t.ppf(0.975, 39) * error
    assert width * 0.93 < figure.high - figure.low < width * 1.2


@pytest.mark.slow
def test_a_judge_helps_with_it() -> None:
    world = World.made(queries=36, results=40)
    result = rs.score(world.scores, world.study(8), judge=world.judge(0.3), method="none", measures=(), replicates=100)
    helped = result.run.as_json()["systems"]["score"]["assisted"]["top_third"]
    people = helped["people"]
    assert people["low"] < helped["value"] < people["high"] and helped["width_ratio"] < 0.9


@pytest.mark.slow
def test_a_study_can_be_planned_for_it() -> None:
    plan = rs.plan(correlations=(0.8, 0.1), index="top_third", results=15, studies=20)
    assert plan.queries is not None and plan.queries < 60


def test_an_index_beyond_the_ends_of_its_scale_is_refused() -> None:
    """On the scale of shares, which is the default, a mean of 2.0 had the interval 1.74 to 1.00."""
    of_shares = replace(INDEX, name="top", term="top", scale=SHARE)
    with registered(of_shares), pytest.raises(RelstudyError, match=r"index top: .* from 0 to 1.*scale=DIFFERENCE"):
        rs.score(EXAMPLE / "scores" / "gift.csv", EXAMPLE / "judgments.csv", replicates=20, method="none")


def test_two_indices_of_one_name_are_refused() -> None:
    with pytest.raises(RelstudyError, match="top_third has the name 'top_third' already"):
        register(INDEX)


def test_two_systems_are_compared_by_a_measure_as_a_paired_t_test_compares_them() -> None:
    judgments, scores = tables(queries=60)
    names = ("nDCG@10", "P@5", "AP", "NumRet")
    result = rs.score(scores, judgments, method="none", measures=names, replicates=400, unjudged="skip")
    by_query = result.per_query.pivot(index="query_id", columns="system")
    for entry in result.run.as_json()["comparisons"][-len(names) :]:
        values = by_query[entry["index"]]
        difference = values["s0"] - values["s1"]
        if not difference.any():
            assert entry["index"] == "condensed NumRet" and entry["p_value"] == 1
            continue
        paired = stats.ttest_rel(values["s0"], values["s1"])
        assert entry["difference"]["value"] == pytest.approx(difference.mean(), abs=1e-12)
        low, high = paired.confidence_interval(0.95)
        found = [entry["p_value"], entry["difference"]["low"], entry["difference"]["high"]]
        assert found == pytest.approx([paired.pvalue, low, high], abs=1e-12)


def test_a_requirement_can_name_a_measure() -> None:
    judgments, scores = tables(queries=30)
    result = rs.score(scores, judgments, method="none", measures=("nDCG@10",), replicates=100, unjudged="skip").result
    for text in ("s0 > s1 by nDCG@10", "s0 > s1 by condensed nDCG@10", "s1 < s0 by ndcg@10"):
        assert answer(read_requirement(text), result).outcome == "pass"
    held = answer(read_requirement("pairwise accuracy(s0) > 0.7"), result)
    assert held.outcome == "pass" and held.figure.value == 1 - (result["s0"].indices["normalised_rank"].value or 0)
    assert answer(read_requirement("normalised rank(s0) < 0.3"), result).outcome == "pass"
