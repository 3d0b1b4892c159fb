"""An option is said once: command, argument, refusal and help come from its declaration."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict, Unpack

import click
import pytest
from click.testing import CliRunner

import relstudy as rs
from relstudy.analysis.hashing.metrics.conventions import ConventionChanges, Conventions
from relstudy.analysis.planning.options import Assumptions, PlanChanges, PlanOptions
from relstudy.analysis.resampling.bootstrap import REPLICATES
from relstudy.analysis.resampling.spread import LEVEL
from relstudy.analysis.scoring.options import ScoringChanges, ScoringOptions
from relstudy.calibration.options import CalibrationChanges, CalibrationOptions, RatingsChanges, RatingsOptions
from relstudy.common.options.command_options import GroupedCommand, options_of
from relstudy.common.options.declaration import check_options, declared_in, differing, fields_given, option
from relstudy.common.options.limits import members, without_none
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.reading import GradedReadingChanges, ReadingChanges
from relstudy.common.tables.meaning.reading_options import OF_ANY_TABLE, ReadingOptions
from relstudy.mapping.options import FitChanges, FitOptions
from relstudy.mapping.scores.vectors import VectorChanges
from relstudy.mapping.vector_options import VectorOptions
from relstudy.studyapp.cli import main
from relstudy.studyapp.sampling.options import AssumptionOptions, SampleChanges, SampleOptions

FAMILIES = [
    (ScoringOptions, ScoringChanges, rs.score),
    (ReadingOptions, GradedReadingChanges, rs.score),
    (VectorOptions, VectorChanges, rs.score),
    (VectorOptions, VectorChanges, rs.fit),
    (FitOptions, FitChanges, rs.fit),
    (FitOptions, FitChanges, rs.fit_by),
    (CalibrationOptions, CalibrationChanges, rs.calibrate),
    (CalibrationOptions, CalibrationChanges, rs.calibrate_by),
    (RatingsOptions, RatingsChanges, rs.read_ratings),
    ((SampleOptions, AssumptionOptions), SampleChanges, rs.sample),
    ((PlanOptions, Assumptions), PlanChanges, rs.plan),
]
"""Dataclasses of options, their fields as arguments for type checkers, and the functions that take them."""


@dataclass(frozen=True)
class Baking:
    """Choices of a made-up command."""

    oven: Literal["gas", "wood"] = option("gas", "What heats.", heading="The oven")
    minutes: int = option(20, "How long.", at_least=1, heading="The time")
    heat: float = option(0.5, "How hot.", above=0, below=1, heading="The oven")
    rest: float | None = option(None, "Minutes to rest.", shown="until it is cool", at_least=0)
    toppings: tuple[str, ...] = option((), "A topping; may be repeated.", flags=("--topping",), read=tuple)
    turned: bool = option(False, "Turn it half way.")

    def __post_init__(self) -> None:
        check_options(self)


class BakingChanges(TypedDict, total=False):
    oven: Literal["gas", "wood"] | None
    minutes: int | None
    heat: float | None
    rest: float | None
    toppings: typing.Sequence[str] | None
    turned: bool | None


@click.command(cls=GroupedCommand)
@options_of(Baking)
def command(**choices: Any) -> None:
    """Bake."""
    click.echo(repr(Baking(**fields_given(Baking, choices))))


@takes_options(Baking)
def bake(loaf: str, **changes: Unpack[BakingChanges]) -> Baking:
    """Bake.

    Parameters
    ----------
    loaf : which
    changes : how,
        in two lines
    """
    return Baking(**fields_given(Baking, changes))


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(command, arguments)
    return done.output


def test_what_is_left_out_is_the_declared_default_at_both_doors() -> None:
    assert printed() == f"{Baking()!r}\n"
    assert bake("rye") == bake("rye", oven=None) == Baking()


def test_what_is_stated_is_read_alike_at_both_doors() -> None:
    text = printed("--oven", "wood", "--minutes", "3", "--rest", "2", "--topping", "a", "--topping", "b", "--turned")
    assert text == f"{bake('rye', oven='wood', minutes=3, rest=2.0, toppings=['a', 'b'], turned=True)!r}\n"


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("oven", "coal", "choose 'gas' or 'wood', not 'coal'"),
        ("minutes", 0, "a whole number from 1 is needed, not 0"),
        ("minutes", "ten", "a whole number from 1 is needed, not 'ten'"),
        ("heat", 1, "a number between 0 and 1 is needed, not 1"),
        ("heat", float("nan"), "a number between 0 and 1 is needed, not nan"),
        ("rest", -1, "a number from 0 is needed, not -1"),
    ],
)
def test_a_wrong_value_is_refused_in_the_same_words_at_both_doors(name: str, value: Any, needed: str) -> None:
    done = CliRunner().invoke(command, [f"--{name}", str(value)])
    assert done.exit_code == 2
    assert done.stderr.endswith(f"Error: Invalid value for '--{name}': {needed}.\n")
    changes: Any = {name: value}
    with pytest.raises(RelstudyError) as caught:
        bake("rye", **changes)
    assert str(caught.value) == f"{name}: {needed}"
    with pytest.raises(RelstudyError, match=f"--{name}: {needed}"):
        Baking(**changes)


def test_help_shows_each_default_and_limit_under_its_heading() -> None:
    text = " ".join(printed("--help").split())
    assert "The oven: --oven [gas|wood] What heats. [default: gas] --heat" in text
    assert "How hot. [default: 0.5; between 0 and 1] The time:" in text
    assert "Other options: --rest FLOAT RANGE Minutes to rest. [default: until it is cool; from 0]" in text
    assert "--turned Turn it half way. --help" in text


def test_a_shell_completes_the_words_of_an_option() -> None:
    (oven, *_) = command.params
    found = oven.shell_complete(click.Context(command), "w")
    assert [each.value for each in found] == ["wood"]


def test_signature_and_docstring_name_each_option() -> None:
    assert list(inspect.signature(bake).parameters) == ["loaf", *(field.name for field in fields(Baking))]
    assert "    minutes : How long. Default: 20.\n" in (bake.__doc__ or "")
    assert "changes" not in (bake.__doc__ or "") and "in two lines" not in (bake.__doc__ or "")


def test_an_unknown_argument_is_refused_as_python_does_with_the_nearest_name() -> None:
    wrong: Any = {"minuets": 3}
    with pytest.raises(TypeError, match=r"bake\(\) got an unexpected keyword argument 'minuets'; did you mean 'minut"):
        bake("rye", **wrong)


@pytest.mark.parametrize(("options", "changes", "function"), FAMILIES)
def test_what_type_checkers_know_of_the_options_is_what_is_declared(options: Any, changes: Any, function: Any) -> None:
    written = typing.get_type_hints(changes)
    said = declared_in(*(options if isinstance(options, tuple) else (options,)))
    assert set(written) == set(said)
    for each in said.values():
        assert type(None) in members(written[each.argument]), "None leaves it as it is"
        if each.said.read is None:
            taken, kind = without_none(written[each.argument]), without_none(each.kind)
            # where a command takes a path, Python takes a table too
            assert taken == kind or (each.said.typed is str and set(members(kind)) < set(members(taken))), each.argument
    assert set(written) <= set(inspect.signature(function).parameters)


READ = {
    "calibrate": (rs.read_ratings, rs.calibrate, rs.calibrate_by),
    "fit": (rs.fit, rs.fit_by),
    "score": (rs.score,),
    "plan": (rs.plan,),
}
"""Commands that read tables, and the functions that read the same."""


@pytest.mark.parametrize("name", READ)
def test_a_command_and_its_functions_read_tables_by_the_same_options(name: str) -> None:
    known = typing.get_type_hints(GradedReadingChanges if name == "score" else ReadingChanges)
    assert set(known) == {*OF_ANY_TABLE, *(["gains"] if name == "score" else [])}
    command = main.get_command(click.Context(main), name)
    assert command is not None and set(known) <= {each.name for each in command.params}
    for function in READ[name]:
        assert set(known) <= set(inspect.signature(function).parameters)


def test_what_type_checkers_know_of_hashing_s_conventions_is_what_is_declared() -> None:
    kinds = typing.get_type_hints(Conventions)
    assert typing.get_type_hints(ConventionChanges) == {field.name: kinds[field.name] for field in fields(Conventions)}


@pytest.mark.parametrize(
    "options",
    [
        *(ScoringOptions, FitOptions, CalibrationOptions, SampleOptions, AssumptionOptions, PlanOptions, Assumptions),
        *(ReadingOptions, VectorOptions),
    ],
)
def test_every_default_obeys_its_own_declaration(options: Any) -> None:
    assert differing(options()) == {}


def test_scoring_and_resampling_have_the_same_replicates_and_level() -> None:
    assert (ScoringOptions().replicates, ScoringOptions().level) == (REPLICATES, LEVEL)


HELPED = ("score", "report", "fit", "calibrate", "calibrate join", "sample", "plan")
HELPED += ("judge", "judge check", "hash evaluate")


@pytest.mark.parametrize("name", HELPED)
def test_help_of_a_command_waits_for_nothing_heavy(name: str) -> None:
    program = (
        "import sys; from click.testing import CliRunner; from relstudy.studyapp.cli import main; "
        f"assert CliRunner().invoke(main, [*{name.split()!r}, '--help']).exit_code == 0; "
        "print([each for each in ('numpy', 'pandas', 'scipy', 'cvxpy') if each in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"
