"""Options said once: a field of a dataclass, from which the command's option, the function's argument and the
documentation's row are made.

    @dataclass(frozen=True)
    class FitOptions:
        folds: int = option(10, "Folds, whole queries each.", at_least=2)

        def __post_init__(self) -> None:
            check_options(self)

`command_options` makes a command's options from it, `python_arguments` a public function's arguments. Nothing heavy is
imported here, so that a command's help waits for nothing.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from relstudy.common.options.limits import ANYWHERE, Limits, members, without_none
from relstudy.common.options.option_wording import option as worded
from relstudy.common.runtime.errors import RelstudyError

MOST_REPLICATES = 1_000_000
"""Of a bootstrap or a simulation; more of them say nothing more, and take any memory."""
EXAMPLE = re.compile("`([^`]+)`")


@dataclasses.dataclass(frozen=True)
class Option:
    """Facts on an option beside its type.

    Parameters
    ----------
    sentence : what it decides, for whoever reads help, docstring or documentation
    heading : over the options of its kind in the command's help
    shown : the default in words, where the value does not say what happens
    limits : of a number
    argument : the argument's name in Python, where not the field's
    flags : the command's option, where not the argument's name with hyphens
    metavar : what stands for its value in the command's help
    typed : from the text that a command is given to what Python takes; the sentence then has examples of such texts
        between backticks, and a docstring shows what Python takes in their place
    read : from what either door was given to the field's value
    """

    sentence: str
    heading: str = ""
    shown: str | None = None
    limits: Limits = ANYWHERE
    argument: str = ""
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    typed: Callable[[str], Any] | None = None
    read: Callable[[Any], Any] | None = None


def option(
    default: Any,
    sentence: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    any_size: bool = False,
    **said: Any,
) -> Any:
    """A dataclass's field that is an option; the default `...` means that it must be given; `said` are the further
    fields of `Option`."""
    about = Option(sentence, limits=Limits(at_least, above, at_most, below, any_size), **said)
    if default is ...:
        return dataclasses.field(metadata={"option": about})
    if callable(default):
        return dataclasses.field(default_factory=default, metadata={"option": about})
    return dataclasses.field(default=default, metadata={"option": about})


@dataclasses.dataclass(frozen=True)
class Declared:
    """An option as its dataclass declares it."""

    field: str
    kind: Any
    default: Any
    said: Option

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is dataclasses.MISSING

    @property
    def argument(self) -> str:
        """Its name in Python."""
        return self.said.argument or self.field

    @property
    def flags(self) -> tuple[str, ...]:
        """Its names on a command line."""
        return self.said.flags or (f"--{self.argument.replace('_', '-')}",)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes, where it takes words of a list, one or several."""
        kinds = (kind for each in members(self.kind) for kind in members(one_of(each)))
        return tuple(word for kind in kinds for word in _words_of(kind))

    def help(self) -> str:
        """The sentence as a command's help has it."""
        return self.said.sentence if self.said.typed is None else self.said.sentence.replace("`", "")

    def description(self) -> str:
        """The sentence as a docstring has it."""
        if self.said.typed is None:
            return self.said.sentence
        return EXAMPLE.sub(lambda example: repr(self.from_text(example[1])), self.said.sentence)

    def from_text(self, text: str) -> Any:
        """What Python takes, from the text that a command is given.

        Raises
        ------
        RelstudyError
            for a text that is not understood, with one that is
        """
        assert self.said.typed is not None
        try:
            return self.said.typed(text)
        except RelstudyError as error:
            example = EXAMPLE.search(self.said.sentence)
            raise RelstudyError(f"{error}; {example[1]} would be right" if example else str(error)) from None

    def default_words(self) -> str:
        """The default as help shows it; "" where leaving it out is not a choice."""
        if self.said.shown is not None:
            return self.said.shown
        if self.required or self.default in (None, "") or isinstance(self.default, bool | Mapping):
            return ""
        if isinstance(self.default, tuple):
            return ", ".join(map(str, self.default))
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)


def one_of(kind: Any) -> Any:
    """The type of one value of a kind of which several may be stated; any other kind itself."""
    several = typing.get_origin(kind) is tuple and ... in typing.get_args(kind)
    return typing.get_args(kind)[0] if several else kind


def _words_of(kind: Any) -> tuple[str, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


@cache
def declared(options: Any) -> tuple[Declared, ...]:
    """The options of a dataclass, in its order."""
    kinds = typing.get_type_hints(options)
    return tuple(
        Declared(
            field.name,
            kinds[field.name],
            field.default if field.default_factory is dataclasses.MISSING else field.default_factory(),
            field.metadata["option"],
        )
        for field in dataclasses.fields(options)
        if "option" in field.metadata
    )


def declared_in(*options: Any) -> dict[str, Declared]:
    """The options of several dataclasses by their arguments' names; of one that several have, the first says what it
    is."""
    named: dict[str, Declared] = {}
    for each in (one for every in options for one in declared(every)):
        named.setdefault(each.argument, each)
    return named


def fields_given(options: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass that a command or a caller stated, by their arguments' names; None is not stated.

    Raises
    ------
    RelstudyError
        for a value that its `read` refuses, with the option's name
    """
    fields = {}
    for each in declared(options):
        value = arguments.get(each.argument)
        if value is None:
            continue
        try:
            fields[each.field] = value if each.said.read is None else each.said.read(value)
        except RelstudyError as error:
            raise RelstudyError(f"{worded(each.argument)}: {error}") from None
    return fields


def differing(options: Any) -> dict[str, Any]:
    """The fields whose values are not the defaults."""
    return {
        each.field: value
        for each in declared(options.__class__)
        if (value := getattr(options, each.field)) != each.default
    }


def check_options(options: Any) -> None:
    """Refuse the first value that is not of its declared type, not finite or beyond its limits.

    Raises
    ------
    RelstudyError
        names the option as the reader states it, what it takes, and what was given
    """
    from relstudy.common.options.argument_checks import refusal

    for each in declared(options.__class__):
        value = getattr(options, each.field)
        allowed = value is None and types.NoneType in members(each.kind)
        refused = None if allowed else refusal(value, without_none(each.kind), each.said.limits)
        if refused is not None:
            raise RelstudyError(f"{worded(each.argument)}: {refused}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """The options of a command, refused where one is not of its declared type or beyond its limits."""

    def __post_init__(self) -> None:
        check_options(self)
