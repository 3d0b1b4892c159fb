"""The command as a whole: it answers at once, names every subcommand, and ends as product rules say."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from relstudy.studyapp.cli import ADMIN, FORMER, SECTIONS
from tests.commands import relstudy, succeeds

AT_THE_TOP = [name for section in SECTIONS.values() for name in section]
OF_ADMIN = [f"admin {name}" for section in ADMIN.values() for name in section]
RELSTUDY = [sys.executable, "-m", "relstudy"]
HEAVY = ("pymc", "cvxpy", "pandas", "matplotlib", "numpy", "scipy", "flask", "sqlalchemy")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*RELSTUDY, *arguments], capture_output=True, text=True, timeout=60)


def test_help_imports_none_of_the_heavy_packages() -> None:
    script = (
        "import sys; from relstudy.studyapp.cli import main; main(['--help'], standalone_mode=False); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert result.stderr.strip() == "[]"
    assert "calibrate" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("module", ["relstudy.analysis.report.study", "relstudy.analysis.study_run"])
def test_a_page_waits_for_no_library_that_fits_or_draws_distributions(module: str) -> None:
    script = (
        f"import sys, {module}; print([name for name in ('scipy.stats', 'sklearn', 'cvxpy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert result.stdout.strip() == "[]", result.stderr


def test_threads_for_products_of_matrices_do_not_spin_while_nothing_is_multiplied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    succeeds("--help")
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "4"
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "20")  # what somebody set stays
    succeeds("--help")
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "20"


def test_help_names_every_subcommand() -> None:
    text, of_admin = run("--help").stdout, succeeds("admin", "--help").stdout
    assert [name for name in AT_THE_TOP if f"  {name} " not in text] == []
    assert [name for name in OF_ADMIN if f"  {name.split()[1]} " not in of_admin] == []


def test_a_newcomer_meets_eighteen_commands_and_former_names_still_work() -> None:
    assert len([name for name in AT_THE_TOP if " " not in name]) <= 18
    assert {"preferences", "join", "invite", "status"} <= {*FORMER} - {*AT_THE_TOP}
    assert set(FORMER.values()) <= {*AT_THE_TOP, *OF_ADMIN}
    for former, now in FORMER.items():
        assert succeeds(former, "--help").stdout == succeeds(*now.split(), "--help").stdout


def test_alone_it_says_what_five_commands_do_and_names_the_others() -> None:
    result = run()
    assert result.returncode == 0
    shown = [line.split() for line in result.stdout.splitlines() if line.startswith("  relstudy ")]
    assert [words[1] for words in shown] == ["try", "new", "serve", "score", "plan"]
    assert [name for name in AT_THE_TOP if name not in result.stdout] == []
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize("name", [*AT_THE_TOP, *OF_ADMIN])
def test_every_subcommand_has_help_with_an_example(name: str) -> None:
    result = relstudy(*name.split(), "--help")
    assert result.exit_code == 0, result.stderr
    assert f"relstudy {name}" in result.stdout.replace("Usage: ", "", 1).split("\n", 1)[1]


def test_an_unknown_subcommand_is_a_usage_error() -> None:
    result = run("calibrat")
    assert result.returncode == 2
    assert "calibrat" in result.stderr


@pytest.mark.parametrize(
    ("words", "empty"),
    [
        ("calibrate ''", "'RATINGS'"), ("score '' -j a.csv", "'SCORES...'"), ("fit a.csv ''", "'SCORES...'"),
        ("report . -o ''", "'--out'"), ("score . -o ''", "'--out'"), ("hash split --labels a.npy -o ''", "'--out'"),
        ("judge check . --judge ''", "'--judge'"),
    ],
)  # fmt: skip
def test_a_variable_that_is_not_set_is_not_the_folder_one_is_in(words: str, empty: str) -> None:
    result = relstudy(*shlex.split(words))
    assert result.exit_code == 2
    assert empty in result.stderr and result.stderr.endswith("is empty\n")


def test_an_empty_word_hides_no_help_and_no_completion_and_may_be_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a command, which ended in an IndexError; cells that are empty are missing answers."""
    assert "Usage: relstudy score" in run("score", "", "--help").stdout
    assert "No such command ''" in relstudy("").stderr
    assert "is empty" not in relstudy("calibrate", "ratings.csv", "--missing", "", "-o", "out").stderr
    monkeypatch.setenv("COMP_WORDS", "relstudy calibrate '' --")
    monkeypatch.setenv("COMP_CWORD", "3")
    monkeypatch.setenv("_RELSTUDY_COMPLETE", "bash_complete")
    assert "--out" in run().stdout


def test_two_files_for_an_option_that_takes_one_are_refused() -> None:
    """The first was dropped without a word."""
    result = run("score", "scores.csv", "-j", "first.csv", "--judgments", "second.csv")
    assert result.returncode == 2
    assert "--judgments takes one file, and several are given" in result.stderr
