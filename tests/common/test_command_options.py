"""Help in groups: each option once, each explained."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from relstudy.common.command_options import GroupedCommand
from relstudy.studyapp.cli import main

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
        for option in command.params:
            if option.name in ("seed", "permutation"):
                assert isinstance(option.type, click.IntRange), name
                assert option.type.min == 0, name


def test_no_option_takes_nan_or_the_infinite_for_a_number() -> None:
    numbers = [
        (name, option.name, option.type)
        for name, command in every_command(main, click.Context(main)).items()
        for option in command.params
        if isinstance(option.type, click.types.FloatParamType)
    ]
    assert len(numbers) > 15
    for name, option, kind in numbers:
        for text in ("nan", "inf"):
            with pytest.raises(click.BadParameter):
                print(name, option, kind.convert(text, None, None))


@pytest.mark.parametrize("name", GROUPED)
def test_long_helps_come_in_groups_and_hold_each_option_once(name: str) -> None:
    command = every_command(main, click.Context(main))[name]
    assert isinstance(command, GroupedCommand)
    text = CliRunner().invoke(main, [name, "--help"]).output
    headings = {getattr(option, "heading", "") or "Other options" for option in command.params}
    assert len(headings) > 3
    assert all(text.count(f"\n{heading}:\n") == 1 for heading in headings)
    heads = [found[1] for line in text.splitlines() if (found := re.match(r"  (-.*?)(?:  |$)", line))]
    shown = [word for head in heads for word in re.findall(r"--[\w-]+", head)]
    for option in command.params:
        if isinstance(option, click.Option):
            assert shown.count(max(option.opts, key=len)) == 1, option.opts
