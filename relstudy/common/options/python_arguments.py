"""Options of a public function: made from the dataclass that declares them, shown in its signature and docstring."""

from __future__ import annotations

import difflib
import functools
import inspect
import textwrap
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from relstudy.common.options.argument_checks import hints_of, refusal
from relstudy.common.options.declaration import Declared, declared_in
from relstudy.common.options.limits import without_none
from relstudy.common.runtime.errors import RelstudyError

P = ParamSpec("P")
R = TypeVar("R")


def takes_options(*options: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Show the options of dataclasses as the keyword arguments that a function's `**changes` are.

    `inspect.signature` and the docstring then name each that the TypedDict of `**changes` has, with its default; an
    unknown one is refused as Python does.
    The docstring has one entry for all of them, which begins with `changes : `.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from relstudy.common.options.declaration import option
    >>> @dataclass
    ... class Drawing:
    ...     size: int = option(3, "How many to draw.")
    >>> class Changes(typing.TypedDict, total=False):
    ...     size: int | None
    >>> @takes_options(Drawing)
    ... def draw(**changes: typing.Unpack[Changes]): return changes
    >>> str(inspect.signature(draw)), draw(size=4)
    ('(*, size: int = 3)', {'size': 4})
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        declared = inspect.signature(function)
        parameters = [each for each in declared.parameters.values() if each.kind is not each.VAR_KEYWORD]
        taken = _taken(function)
        named = {name: each for name, each in declared_in(*options).items() if name in taken}
        further = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if isinstance(each.default, Mapping) else each.default,
                annotation=taken[name],
            )
            for name, each in named.items()
        ]
        allowed = {each.name for each in (*parameters, *further)}

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, value in kwargs.items():
                if name not in allowed:
                    near = difflib.get_close_matches(name, allowed, 1)
                    meant = f"; did you mean {near[0]!r}?" if near else ""
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{meant}")
                if name in named and value is not None:
                    refused = refusal(value, taken[name], named[name].said.limits)
                    if refused is not None:
                        raise RelstudyError(f"{name}: {refused}")
            return function(*args, **kwargs)

        call.__signature__ = declared.replace(parameters=[*parameters, *further])  # type: ignore[attr-defined]
        call.__doc__ = _with_options(function.__doc__, named.values())
        return call

    return decorate


def _taken(function: Callable[..., Any]) -> dict[str, Any]:
    """The type of each argument that a function takes by its `**changes: Unpack[...]`, without None."""
    (unpacked,) = typing.get_args(hints_of(function, {"changes": function.__annotations__["changes"]})["changes"])
    return {name: without_none(kind) for name, kind in typing.get_type_hints(unpacked).items()}


def _with_options(text: str | None, named: Iterable[Declared]) -> str | None:
    """A docstring whose entry `changes : ...` has given way to one for each option."""
    lines, within = [], None
    for line in (text or "").split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if within is not None and len(indent) > len(within):
            continue
        within = indent if line.strip().startswith("changes : ") else None
        if within is None:
            lines.append(line)
            continue
        for each in named:
            shown_default = each.default_words()
            default = f" Default: {shown_default}." if shown_default else ""
            described = f"{each.argument} : {each.description()}{default}"
            lines += textwrap.wrap(described, 120, initial_indent=indent, subsequent_indent=f"{indent}    ")
    return "\n".join(lines) if text is not None else None
