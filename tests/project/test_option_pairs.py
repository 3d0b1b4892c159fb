"""Options in pairs end in a result or a sentence (scripts/option_pairs.py runs them all)."""

from __future__ import annotations

import shutil

import click
import pytest

from relstudy.studyapp.cli import main
from scripts.option_pairs import EXAMPLE, ONCE, STARTS, TOGETHER, factors, faults, prepared, rows


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Of the example, three systems of five: what a row may stumble over is there in three."""
    others = shutil.ignore_patterns("gift-*", "scored.json")
    study = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("three") / "study", ignore=others)
    with prepared(study) as places:
        yield places


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted({*STARTS} - {"demo", "hash demo", "plan"}))
def test_options_in_pairs_end_in_no_traceback(command, inputs):
    number, good, found = faults(command, 2, slow=False, places=inputs)
    assert 0 < good <= number and not found, "\n".join(found)


def test_every_option_of_every_command_has_its_place():
    """Each option is in the rows or in a line of its own. What takes seconds a row is for the night."""
    lines = [*ONCE, *(line for lines in STARTS.values() for line in lines)]
    missing = []
    for name, command in every_command(main):
        assert name in STARTS
        stated = {word for line in lines if line.startswith(f"{name} ") for word in line.split()}
        varied = {option[0][0] for line in STARTS[name] for option in factors(name, line, slow=True)}
        for option in command.params:
            if isinstance(option, click.Option) and not {*option.opts, *option.secondary_opts} & (stated | varied):
                missing.append(f"{name} {option.opts[0]}")
    assert not missing


def every_command(group, before=""):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from every_command(command, f"{before}{name} ")
        else:
            yield before + name, command


def test_the_rows_hold_every_pair_of_values():
    choices = [[(name, None), (name, "1"), (name, "2")] for name in "abcdef"]
    made = list(rows(choices))
    pairs = {frozenset((one, other)) for row in made for one in row for other in row if one != other}
    assert pairs == {
        frozenset((one, other)) for a in choices for b in choices if a is not b for one in a[1:] for other in b[1:]
    }
    assert max(map(len, made)) == TOGETHER and len(made) < 60 / 3


def test_options_are_those_of_the_declarations():
    assert ("--weights", "rank-power") in [
        value for option in factors("score", STARTS["score"][0], slow=False) for value in option
    ]
