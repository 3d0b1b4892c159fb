"""Commands run in this process, as a person types them."""

from __future__ import annotations

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
