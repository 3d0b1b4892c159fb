"""Options in pairs end in a result or a sentence (scripts/option_pairs.py runs them all)."""

from __future__ import annotations

import pytest

from scripts.option_pairs import STARTS, TOGETHER, factors, faults, rows


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(STARTS))
def test_options_in_pairs_end_in_no_traceback(command):
    number, good, found = faults(command, 4, slow=False)
    assert 0 < good <= number <= 4 and not found, "\n".join(found)


def test_the_rows_hold_every_pair_of_values():
    choices = [[(name, None), (name, "1"), (name, "2")] for name in "abcdef"]
    made = list(rows(choices))
    pairs = {frozenset((one, other)) for row in made for one in row for other in row if one != other}
    assert pairs == {
        frozenset((one, other)) for a in choices for b in choices if a is not b for one in a[1:] for other in b[1:]
    }
    assert max(map(len, made)) == TOGETHER and len(made) < 60 / 3


def test_options_are_those_of_the_declarations():
    assert ("--weights", "rank-power") in [value for option in factors("score", False) for value in option]
