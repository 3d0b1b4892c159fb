"""Arguments of a public function, held against the types that its signature declares."""

from __future__ import annotations

import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from relstudy.common.options.limits import SEED, Limits, members
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed

LARGEST = 2**53
"""Up to here a whole number is the same as a float; nothing is counted so far."""
WORDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a text", type(None): "None"}
SEVERAL = {int: "whole numbers", float: "numbers", str: "texts", np.ndarray: "arrays"}


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse the first argument that is not of its declared type or is too large to count, and a seed below 0.

    Tables (a path or a DataFrame) are left to who reads them, as are the keys of a dict.

    Parameters
    ----------
    function : whose signature declares the types
    given : its `locals()`, before anything else is in them

    Raises
    ------
    RelstudyError
        names the argument, what it takes, and what was given

    Examples
    --------
    >>> def draw(seed: int = 0, missing: list[str] | None = None): check_arguments(draw, locals())
    >>> draw(3, ["NA"])
    >>> draw(missing="NA")
    Traceback (most recent call last):
    ...
    relstudy.common.runtime.errors.RelstudyError: missing: a list of texts or None is needed, not 'NA'
    """
    for name, kind in _declared(function).items():
        refused = refusal(given[name], kind, SEED if name == "seed" else None) if name in given else None
        if refused is not None:
            raise RelstudyError(f"{name}: {refused}")


QUOTE = "'"
"""The beginning of a list of words to choose from."""


def refusal(value: Any, kind: Any, limits: Limits | None = None) -> str | None:
    """The reason why a value is not taken, as a sentence without its subject; None where it is.

    Parameters
    ----------
    kind : the declared type
    limits : of a number, which must be finite then; None: any number

    Examples
    --------
    >>> refusal(1, int, Limits(at_least=2)), refusal(3, int, Limits(at_least=2))
    ('a whole number from 2 is needed, not 1', None)
    """
    fits = _fits(value, kind)
    if fits and isinstance(value, Real) and not isinstance(value, bool):
        number: Any = value
        whole = isinstance(value, Integral)
        if whole and abs(number) > LARGEST and not (limits and limits.any_size):
            return f"a number up to {LARGEST:,} is needed, not {shown(value)}"
        fits = limits is None or (limits.holds(number) and (whole or math.isfinite(number)))
    elif fits and limits is not None and isinstance(value, tuple):
        fits = all(limits.holds(each) for each in value if isinstance(each, int | float))
    if fits:
        return None
    what = needed(kind, limits)
    return f"{f'choose {what}' if what.startswith(QUOTE) else f'{what} is needed'}, not {_refused(value, kind)}"


def shown(value: object) -> str:
    """A number or short text as it is written, and of anything else its type.

    Examples
    --------
    >>> shown("NA"), shown(2.5), shown([1, 2]), shown(pd.Series([1]))
    ("'NA'", '2.5', 'a list', 'a pandas.Series')
    """
    if value is None or isinstance(value, bool | Real | str):
        text = repr(value if not isinstance(value, np.generic) else value.item())
        return text if len(text) <= 60 else text[:56] + "...'"
    module = type(value).__module__.split(".")[0]
    name = type(value).__qualname__ if module == "builtins" else f"{module}.{type(value).__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


@cache
def _declared(function: Callable[..., Any]) -> dict[str, Any]:
    """Each parameter's type; the result's may name what is imported for type checkers alone."""
    function = inspect.unwrap(function)
    kinds = hints_of(function, {name: kind for name, kind in function.__annotations__.items() if name != "return"})
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            del kinds[name]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            kinds[name] = list[kinds[name]]  # type: ignore[valid-type]
    return kinds


def hints_of(function: Callable[..., Any], annotations: dict[str, Any]) -> dict[str, Any]:
    """Annotations of a function as types."""
    return typing.get_type_hints(types.SimpleNamespace(__annotations__=annotations), function.__globals__)


def _fits(value: Any, kind: Any) -> bool:
    kinds = members(kind)
    return pd.DataFrame in kinds or any(_is(value, each) for each in kinds)


def _is(value: Any, kind: Any) -> bool:
    """True where a value is of a type that is not a union."""
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is bool:
        return isinstance(value, bool | np.bool_)
    if origin in (int, float):
        number = Integral if origin is int else Real
        return isinstance(value, number) and not isinstance(value, bool | np.bool_)
    if origin is np.ndarray:
        return isinstance(value, list | tuple) or (hasattr(value, "__array__") and not isinstance(value, np.generic))
    if origin is Any:
        return True
    if issubclass(origin, Mapping):
        return isinstance(value, origin) and (not inner or all(_fits(each, inner[1]) for each in value.values()))
    if origin is str or not issubclass(origin, Iterable):
        return isinstance(value, origin)
    if isinstance(value, str | bytes | Mapping | pd.DataFrame) or not isinstance(value, Iterable):
        return False
    # A list, tuple, array or set alike; what can be gone through once is taken as it is.
    return not inner or not isinstance(value, Collection) or all(_fits(each, inner[0]) for each in value)


def _refused(value: Any, kind: Any) -> str:
    """The value in words; of a list or dict whose kind is right, the member that is not."""
    wrong: list[str] = []
    for member in members(kind):
        origin, inner = typing.get_origin(member), typing.get_args(member)
        if not isinstance(origin, type) or not issubclass(origin, Iterable) or not inner:
            continue
        if issubclass(origin, Mapping) and isinstance(value, Mapping):
            wrong += [f"in which {at!r} is {shown(each)}" for at, each in value.items() if not _fits(each, inner[1])]
        elif isinstance(value, list | tuple | set | np.ndarray | pd.Series | pd.Index):
            wrong += [f"with {shown(each)} in it" for each in value if not _fits(each, inner[0])]
    return " ".join([shown(value), *wrong[:1]])


def needed(kind: Any, limits: Limits | None = None) -> str:
    """A type and the limits of its numbers in words; of several numbers, of each.

    Examples
    --------
    >>> needed(int | None, Limits(at_least=2)), needed(Literal["a", "b", "c"])
    ('a whole number from 2 or None', "'a', 'b' or 'c'")
    """
    union = members(kind)
    # A path may be a text too, which goes without saying.
    paths = any(typing.get_origin(member) is os.PathLike for member in union)
    within = limits.words() if limits else ""
    words = [
        f"{_words_of(member)} {within}" if within and _is_of_numbers(member) else _words_of(member)
        for member in union
        if not (paths and member is str)
    ]
    return " or ".join(dict.fromkeys(words))


def _is_of_numbers(kind: Any) -> bool:
    return kind in (int, float) or (typing.get_origin(kind) is tuple and typing.get_args(kind)[0] in (int, float))


def _words_of(kind: Any) -> str:
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin is Literal:
        return listed([*map(repr, inner)], "or")
    if origin is np.ndarray:
        return "an array"
    if origin is os.PathLike:
        return "a path"
    if origin in WORDS:
        return WORDS[origin]
    if issubclass(origin, Mapping) and inner:
        of = _name(inner[1])
        return "a dict" if of is None else f"a dict of {of}"
    if issubclass(origin, Iterable) and inner:
        of = _name(inner[0])
        return "a list" if of is None else f"a list of {of}"
    return f"a {origin.__name__}"


def _name(kind: Any) -> str | None:
    """Several of a kind, if there is a word for them."""
    if kind is Any:
        return None
    if typing.get_origin(kind) is Literal:
        return listed([*map(repr, typing.get_args(kind))], "or")
    if len(members(kind)) > 1:
        return " or ".join(filter(None, (_name(member) for member in members(kind)))) or None
    return SEVERAL.get(kind, f"{kind.__name__}s")
