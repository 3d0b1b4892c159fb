"""Help in groups: each option once, each explained."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from relstudy.common.options.command_options import GroupedCommand, taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.cli import main
from tests.commands import relstudy

GROUPED = ("sample", "score", "plan", "calibrate", "fit", "report")


def every_command(group: click.Group, context: click.Context, path: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= every_command(command, context, f"{path}{name} ")
        else:
            found[path + name] = command
    return found


def test_every_option_of_every_command_says_what_it_does() -> None:
    silent = [
        f"{name} {option.opts[0]}"
        for name, command in every_command(main, click.Context(main)).items()
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_every_seed_is_a_number_from_0() -> None:
    for name, command in every_command(main, click.Context(main)).items():
        for each in command.params:
            if each.name in ("seed", "permutation"):
                assert isinstance(each.type, click.IntRange), name
                assert each.type.min == 0, name


def test_no_option_takes_nan_or_the_infinite_for_a_number() -> None:
    numbers = [
        (name, option.name, option.type)
        for name, command in every_command(main, click.Context(main)).items()
        for option in command.params
        if isinstance(option.type, click.types.FloatParamType)
    ]
    assert len(numbers) > 15
    for name, called, kind in numbers:
        for text in ("nan", "inf"):
            with pytest.raises(click.BadParameter):
                print(name, called, kind.convert(text, None, None))


@pytest.mark.parametrize("name", GROUPED)
def test_long_helps_come_in_groups_and_hold_each_option_once(name: str) -> None:
    command = every_command(main, click.Context(main))[name]
    assert isinstance(command, GroupedCommand)
    text = relstudy(name, "--help").output
    headings = {getattr(option, "heading", "") or "Other options" for option in command.params}
    assert len(headings) > 3
    assert all(text.count(f"\n{heading}:\n") == 1 for heading in headings)
    heads = [found[1] for line in text.splitlines() if (found := re.match(r"  (-.*?)(?:  |$)", line))]
    shown = [word for head in heads for word in re.findall(r"--[\w-]+", head)]
    for each in command.params:
        if isinstance(each, click.Option):
            assert shown.count(max(each.opts, key=len)) == 1, each.opts


@dataclass(frozen=True, kw_only=True)
class Posting(CommandOptions):
    """Choices of a made-up command."""

    to: str = option(..., "Who gets it.")
    stamps: tuple[int, ...] = option((), "Pence; repeat.", flags=("--stamp",), at_least=1)
    routes: tuple[tuple[str, str], ...] = option((), "From where to where; repeat.", flags=("--route",))
    copy: Path | None = option(None, "Where to keep a copy.", flags=("-c", "--copy"))
    express: bool | None = option(None, "By train.", flags=("--express/--slow",), shown="by weight")


@click.command()
@click.argument("letter")
@taking(Posting, "posting")
def post(letter: str, posting: Posting) -> None:
    """Send a letter."""
    click.echo(f"{letter} {posting}")


def test_a_command_takes_the_object_that_its_options_make() -> None:
    line = "hello --to anna --stamp 5 --stamp 7 --route a b --route c d -c x.txt --slow"
    made = Posting(to="anna", stamps=(5, 7), routes=(("a", "b"), ("c", "d")), copy=Path("x.txt"), express=False)
    assert CliRunner().invoke(post, line.split()).output == f"hello {made}\n"
    assert CliRunner().invoke(post, ["hello", "--to", "anna"]).output == f"hello {Posting(to='anna')}\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hello", "Missing option '--to'"),
        ("hello --to anna --stamp 0", "a list of whole numbers from 1 is needed, not 0."),
        ("hello --to anna --route a", "requires 2 arguments"),
    ],
)
def test_a_command_refuses_what_its_declaration_does_not_take(line: str, said: str) -> None:
    outcome = CliRunner().invoke(post, line.split())
    assert outcome.exit_code == 2
    assert said in outcome.output


def test_python_refuses_the_same_in_the_same_words() -> None:
    with pytest.raises(RelstudyError, match="a list of whole numbers from 1 is needed, not a tuple"):
        Posting(to="anna", stamps=(0,))


def test_help_of_a_command_with_many_options_begins_with_the_five_most_used() -> None:
    grouped = [
        command for command in every_command(main, click.Context(main)).values() if getattr(command, "most_used", ())
    ]
    assert len(grouped) >= 6
    for command in grouped:
        known = {flag for each in command.params for flag in each.opts}
        assert len(command.most_used) == 5 and set(command.most_used) <= known, command.name
        shown = command.get_help(click.Context(command))
        first = shown.split("Most used:\n")[1].split("\n\n")[0]
        assert all(flag in first for flag in command.most_used), command.name
        assert shown.index("Most used:") < shown.index("Other options:")
