"""Every public function holds what it is given against its signature, and says in words what it takes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import relstudy as rs
from relstudy.common.options.argument_checks import check_arguments
from relstudy.mapping.options import FitOptions

PUBLIC = [
    getattr(module, name)
    for module in (rs, rs.hashing)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
]


class Strange:
    """Of no type that anything takes."""


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__name__)
def test_a_strange_thing_is_refused_in_one_sentence_whichever_argument_it_is(function: Any) -> None:
    parameters = inspect.signature(function).parameters.values()
    needed = {each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD}
    for each in parameters:
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            continue
        given: dict[str, Any] = dict.fromkeys(needed | {each.name}, Strange())
        with pytest.raises(rs.RelstudyError, match=r"is needed|choose|go(es)? with") as caught:
            function(**{name: value for name, value in given.items() if name != "paths"})
        assert "\n" not in str(caught.value)


def test_every_declared_type_can_be_said_in_words() -> None:
    for function in PUBLIC:
        for name in inspect.signature(function).parameters:
            try:
                check_arguments(function, {name: Strange()})
            except rs.RelstudyError as error:
                assert "tests" in str(error) or "Strange" in str(error)


def test_every_public_function_has_an_example() -> None:
    assert [function.__name__ for function in PUBLIC if ">>>" not in (function.__doc__ or "")] == []


def test_a_whole_number_that_nothing_can_count_to_is_refused_but_for_a_seed() -> None:
    with pytest.raises(rs.RelstudyError, match=r"folds: a number up to 9,007,199,254,740,992 is needed, not 1180591"):
        FitOptions(folds=2**70)
    with pytest.raises(rs.RelstudyError, match=r"k: a number up to 9,007,199,254,740,992 is needed, not 1180591"):
        check_arguments(rs.hashing.nearest_neighbours, {"k": 2**70})
    check_arguments(rs.hashing.compare, {"k": 2**53, "seed": 2**70})
    assert FitOptions(seed=2**70).seed == 2**70
