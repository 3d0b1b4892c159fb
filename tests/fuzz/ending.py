"""How a command must end, whatever its files hold."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from relstudy.studyapp.cli import main
from tests.fuzz.excerpts import Excerpt
from tests.fuzz.mutations import ALL, BYTES, KEEPING, KEEPING_LINES, Mutation

CASES = int(os.environ.get("FUZZ_CASES", "60"))
"""Cases of each command; FUZZ_CASES=20000 looks further than the gate has time for."""


def fuzzed(share: float = 1.0) -> settings:
    """How many cases a test draws: a share of its command's."""
    return settings(
        max_examples=max(round(CASES * share), 1),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # a case is small as it is drawn, and each takes a command
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )


_numbers = st.integers(0, 1 << 16)


def mutations(names: list[str] | None = None, most: int = 2) -> st.SearchStrategy[list[Mutation]]:
    """One change or a few, one after the other."""
    one = st.builds(Mutation, st.sampled_from(list(ALL) if names is None else names), _numbers, _numbers)
    return st.lists(one, min_size=1, max_size=most)


def keeping(excerpt: Excerpt, changes: list[Mutation]) -> bool:
    """Whether the changes leave the meaning of the file alone.

    Changes of rows leave the first line in its place, which must be the header.
    """
    alone = KEEPING if excerpt.has_header and not excerpt.titled else KEEPING_LINES
    return all(change.name in alone for change in changes)


def changed(excerpt: Excerpt, changes: list[Mutation]) -> bytes:
    """The excerpt after the changes."""
    content = excerpt.content
    for change in changes:
        if excerpt.has_header or change.name not in ("byte-order mark", "a preamble"):
            content = change.apply(content, excerpt.separator)
    return content


def run(*arguments: object, out: Path | None = None) -> Result:
    """Run a command in this process: it ends in 0, or in 1 with its sentence and nothing written to `out`."""
    with warnings.catch_warnings():
        # a warning from below is a number computed out of nothing
        warnings.simplefilter("error", RuntimeWarning)
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 1), done.stderr
    if done.exit_code == 1:
        assert done.stderr.count("relstudy: ") == 1 and done.stdout == "", done.stderr
        assert len(done.stderr.partition("relstudy: ")[2]) > 20, done.stderr
        if out is not None:
            assert not out.exists() or not list(out.iterdir() if out.is_dir() else [out]), "half-written"
    return done


def printed(done: Result) -> Any:
    """Strict JSON, with no number that is none."""

    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} was printed")

    return json.loads(done.stdout, parse_constant=refuse)


__all__ = ["BYTES", "CASES", "changed", "fuzzed", "keeping", "mutations", "printed", "run"]
