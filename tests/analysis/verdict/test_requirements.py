"""Requirements: how they are read, what passes, fails or is undecided, and how the command ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from relstudy.analysis.verdict.requirements import Outcome, answer, exit_code, read_requirement
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.made import tables
from tests.analysis.verdict.made_results import made
from tests.commands import relstudy


@pytest.mark.parametrize(
    ("text", "outcome", "line"),
    [
        ("a > b by correlation", "pass", "pass: a > b by correlation (lead +0.100, +0.040 to +0.160)"),
        ("b < a by pearson", "pass", "pass: b < a by pearson (lead +0.100, +0.040 to +0.160)"),
        ("a<b by pooled AP", "fail", "fail: a<b by pooled AP (lead -0.100, -0.160 to -0.040)"),
        ("a > b by normalised_rank", "pass", "pass: a > b by normalised_rank (lead +0.100, +0.040 to +0.160)"),
        ("b > a by Normalised Rank", "fail", "fail: b > a by Normalised Rank (lead -0.100, -0.160 to -0.040)"),
        ("a > c by correlation", "undecided", "undecided: a > c by correlation (lead +0.020, -0.030 to +0.070)"),
        ("correlation(a) > 0.1", "pass", "pass: correlation(a) > 0.1 (figure 0.900, 0.200 to 0.950)"),
        ("correlation(a) < 0.1", "fail", "fail: correlation(a) < 0.1 (figure 0.900, 0.200 to 0.950)"),
        ("Pearson(a) > .5", "undecided", "undecided: Pearson(a) > .5 (figure 0.900, 0.200 to 0.950)"),
        ("normalised rank(a) < 0.7", "pass", "pass: normalised rank(a) < 0.7 (figure 0.100, 0.050 to 0.600)"),
        ("AP(rel=2)(a) > 1e-1", "pass", "pass: AP(rel=2)(a) > 1e-1 (figure 0.400, 0.300 to 0.500)"),
    ],
)
def test_a_requirement_is_held_against_the_interval_of_its_own_figure(text: str, outcome: str, line: str) -> None:
    result = made("abc", [("a", "b")])
    measured = [
        replace(each, indices={**each.indices, "AP(rel=2)": Estimate(0.4, 0.3, 0.5)}) for each in result.systems
    ]
    held = answer(read_requirement(text), replace(result, systems=tuple(measured)))
    assert held.outcome == outcome
    assert held.line() == line


def test_a_figure_without_an_interval_decides_nothing() -> None:
    held = answer(read_requirement("correlation(a) > 0.1"), made("a", pearson={"a": Estimate.missing("no scores")}))
    assert held.line() == "undecided: correlation(a) > 0.1 (no figure: no scores)"


def test_names_may_hold_what_a_requirement_is_made_of() -> None:
    names = ["new (v2) > old", "it by night"]
    result = made(names, [tuple(names)])
    assert answer(read_requirement("new (v2) > old > it by night by correlation"), result).outcome is Outcome.PASS
    assert answer(read_requirement("correlation(new (v2) > old) > 0.1"), result).outcome is Outcome.PASS


@pytest.mark.parametrize("text", ["", "a", "a > b", "a = b by correlation", "correlation(a)", "correlation(a) > high"])
def test_what_is_no_requirement_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(RelstudyError, match="a requirement reads like 'new > old by correlation' or"):
        read_requirement(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a > z by correlation", "there is no system 'z'; there are a, b and c"),
        (
            "a > b by luck",
            "are compared by correlation, pooled AP, pooled pairwise accuracy or pairwise accuracy within",
        ),
        ("a > a by correlation", "are compared by"),
        (
            "nDCG@7(a) > 0.3",
            "a bound is on correlation, pooled AP, pooled pairwise accuracy or pairwise accuracy within queries of",
        ),
    ],
)
def test_names_that_the_result_does_not_have_are_refused_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        answer(read_requirement(text), made("abc"))


def test_the_exit_code_tells_a_failure_from_what_is_undecided() -> None:
    passed, failed, open_yet = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDED
    assert [exit_code(each) for each in ([], [passed], [passed, open_yet], [open_yet, failed])] == [0, 0, 3, 1]


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_and_ends_accordingly(tmp_path: Path) -> None:
    judgments, scores = tables(systems=(0.9, 0.2))
    judgments.to_csv(tmp_path / "judgments.csv", index=False)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    common = [str(tmp_path / "scores.csv"), "-j", str(tmp_path / "judgments.csv"), "--replicates", "60"]

    def run(*required: str) -> tuple[int, str]:
        options = [word for text in required for word in ("--require", text)]
        done = relstudy("score", *common, "--method", "none", *options)
        return done.exit_code, done.output

    code, output = run("s0 > s1 by correlation", "correlation(s0) > 0.5")
    assert code == 0 and "\npass: s0 > s1 by correlation (lead +0." in output
    assert run("s1 > s0 by correlation", "correlation(s0) > 0.999")[0] == 1
    code, output = run("correlation(s0) > 0.9")
    assert (code, "undecided: correlation(s0) > 0.9 (figure 0." in output) == (3, True)
    code, output = run("s0 beats s1")
    assert code == 2 and "a requirement reads like" in output and "Traceback" not in output
