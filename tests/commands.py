"""Commands run in this process, as a person types them."""

from __future__ import annotations

import click
from click.testing import CliRunner, Result

from relstudy.studyapp.cli import main


def relstudy(*words: object, typed: str | None = None) -> Result:
    """The end of `relstudy WORDS`, with what it printed; `typed` is what a person answers."""
    return CliRunner().invoke(main, [str(word) for word in words], input=typed)


def succeeds(*words: object, typed: str | None = None) -> Result:
    """The same of a command that must end well."""
    done = relstudy(*words, typed=typed)
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done


def command_named(words: list[str]) -> click.Command:
    """The command that these words of a command line lead to; what follows its name is left."""
    found: click.Command = main
    while isinstance(found, click.Group) and words and not words[0].startswith("-"):
        _, inner, words = found.resolve_command(click.Context(found), words)
        assert inner is not None
        found = inner
    return found
