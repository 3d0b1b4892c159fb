"""The wording of a way out: as an option of a command, or as an argument where a public function was called."""

from __future__ import annotations

import contextlib
import functools
import re
import shlex
import types
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def list_entry(text: str) -> str:
    """An entry of a comma-separated list: in double quotes where it contains a comma, a quote or a line break.

    Examples
    --------
    >>> print(list_entry("3,5=3.5"))
    "3,5=3.5"
    """
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def _quoted(text: str) -> str:
    """An entry as the shell takes it."""
    entry = list_entry(text)
    return f'"{text}"' if entry == text and not set(text) & set("$`\\!") else shlex.quote(entry)


class CommandWords:
    """As options of a command.

    Examples
    --------
    >>> CommandWords().missing("not seen"), CommandWords().value("yes"), CommandWords().scale("0-100")
    ('--missing "not seen"', '--values "yes=NUMBER"', '--scale 0-100')
    """

    def missing(self, text: str) -> str:
        """A text that stands for no answer."""
        plain = re.fullmatch(r"[\w.-]+", text)
        return f"--missing {text}" if plain else f"--missing {_quoted(text)}"

    def value(self, text: str) -> str:
        """A text that stands for a number."""
        return f"--values {_quoted(f'{text}=NUMBER')}"

    def scale(self, name: str) -> str:
        """The scale."""
        return f"--scale {name}"

    def column(self, name: str) -> str:
        """The column of the table that is relstudy's `name`."""
        return f"--columns {name}=NAME"

    def where(self, condition: str) -> str:
        """Rows by what stands in a column."""
        return f"--where {_quoted(condition)}"

    def by(self, column: str) -> str:
        """Each value of a column by itself."""
        return f"--by {column}"

    def option(self, name: str, value: str | int | None = None) -> str:
        """An option by its name in Python, with its value; True for one that is a switch."""
        option = f"--{name.replace('_', '-')}"
        return option if value is None or value is True else f"{option} {value}"


class PythonWords(CommandWords):
    """As arguments of a function.

    Examples
    --------
    >>> PythonWords().missing("not seen"), PythonWords().value("yes"), PythonWords().scale("0-100")
    ("missing=['not seen']", "values={'yes': NUMBER}", "scale='0-100'")
    """

    def missing(self, text: str) -> str:
        return f"missing=[{text!r}]"

    def value(self, text: str) -> str:
        return f"values={{{text!r}: NUMBER}}"

    def scale(self, name: str) -> str:
        return f"scale={name!r}"

    def column(self, name: str) -> str:
        return f"columns={{'NAME': {name!r}}}"

    def where(self, condition: str) -> str:
        return f"where={condition!r}"

    def by(self, column: str) -> str:
        return f"calibrate_by(..., {column!r})"

    def option(self, name: str, value: str | int | None = None) -> str:
        return name if value is None else f"{name}={value!r}"


_WORDS: ContextVar[type[CommandWords]] = ContextVar("words", default=CommandWords)


def words() -> CommandWords:
    """The words of the caller: a command's, or a public function's."""
    return _WORDS.get()()


def option(name: str, value: str | int | None = None) -> str:
    """A choice as the reader of a message makes it.

    Parameters
    ----------
    name : of the argument; the command's option has the same, with hyphens
    value : what it is to be; True for a switch; None names the choice alone

    Examples
    --------
    >>> option("policy", "worst"), option("allow_low_coverage", True)
    ('--policy worst', '--allow-low-coverage')
    >>> called_in_python(option)("policy", "worst")
    "policy='worst'"
    """
    return words().option(name, value)


def either(command: str, python: str) -> str:
    """The one or the other, for a choice whose argument is not the option's name with other letters.

    Examples
    --------
    >>> either("--format hex", "form='hex'"), called_in_python(either)("--format hex", "form='hex'")
    ('--format hex', "form='hex'")
    """
    return python if isinstance(words(), PythonWords) else command


@contextlib.contextmanager
def in_words(of: type[CommandWords]) -> Iterator[None]:
    """Within, messages have these words."""
    before = _WORDS.set(of)
    try:
        yield
    finally:
        _WORDS.reset(before)


def called_in_python(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose messages name its arguments in place of a command's options while it runs."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with in_words(PythonWords):
            return function(*args, **kwargs)

    return call


def members_called_in_python(cls: type) -> None:
    """Let the methods and properties that a class defines name arguments, too: what they say is worked out when
    somebody looks, long after the function that made the object has returned."""
    for name, member in list(vars(cls).items()):
        if isinstance(member, types.FunctionType) and not name.startswith("__"):
            setattr(cls, name, called_in_python(member))
        elif isinstance(member, property) and member.fget is not None:
            setattr(cls, name, property(called_in_python(member.fget)))
        elif isinstance(member, functools.cached_property):
            member.func = called_in_python(member.func)
