"""Options of a command: made from the dataclass that declares them, and listed in the help under headings."""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from relstudy.common.options.declaration import Declared, declared_in, fields_given, one_of
from relstudy.common.options.limits import Limits, members, without_none
from relstudy.common.runtime.errors import RelstudyError

Command = TypeVar("Command", bound=Callable[..., Any])
FILES = ("PATH", "FILE", "FOLDER")
"""What the help calls the value of an option that is a file or a folder, also where Python takes it as text."""


class Finite(click.types.FloatParamType):
    """A number that is not nan and not infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or click's refusal."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"a number is needed, not {value}.", param, ctx)
        return number


class FiniteRange(Finite, click.FloatRange):
    """A finite number within bounds; click's own range lets nan through, which is neither below nor above any."""


class HeadedOption(click.Option):
    """An option that stands under a heading of its command's help.

    Parameters
    ----------
    heading : over it and its kind; "" puts it under "Other options"
    """

    def __init__(self, *arguments: Any, heading: str = "", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.heading = heading


class DeclaredOption(HeadedOption):
    """An option made from its declaration: None where it is left out, with the default and the limits in its help."""

    def __init__(self, *arguments: Any, declaration: Declared, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.declaration = declaration

    def get_help_extra(self, ctx: click.Context) -> Any:
        """The default in words, and the limits."""
        shown, limits = self.declaration.default_words(), self.declaration.said.limits.words()
        return {**({"default": shown} if shown else {}), **({"range": limits} if limits else {})}

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value as Python takes it, refused in the words in which Python refuses it."""
        read = self.declaration.said.read
        try:
            taken = super().type_cast_value(ctx, value)
            if taken is not None and self.declaration.said.typed is not None:
                taken = self.declaration.from_text(taken)
            if taken and read is not None:
                read(taken)
            return taken
        except RelstudyError as error:
            raise click.BadParameter(f"{error}.", ctx=ctx, param=self) from None
        except click.BadParameter:
            if read is not None:
                raise
            from relstudy.common.options.argument_checks import QUOTE, needed

            text = next((each for each in value if not self._taken(each, ctx)), value) if self.multiple else value
            what = needed(without_none(self.declaration.kind), self.declaration.said.limits)
            said = f"choose {what}, not" if what.startswith(QUOTE) else f"{what} is needed, not"
            raise click.BadParameter(f"{said} {_as_typed(text)}.", ctx=ctx, param=self) from None

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value, None where an option that may be repeated or is a switch was not given."""
        taken = super().process_value(ctx, value)
        return None if taken == () or (self.is_flag and taken is False and not self.secondary_opts) else taken

    def _taken(self, text: Any, ctx: click.Context) -> bool:
        try:
            self.type(text, self, ctx)
        except click.BadParameter:
            return False
        return True


def _as_typed(text: Any) -> str:
    try:
        float(text)
    except (TypeError, ValueError):
        return repr(text)
    return str(text)


def options_of(*options: type, only: Collection[str] = (), heading: str | None = None) -> Callable[[Command], Command]:
    """Give a command the options that dataclasses declare, each None where it is left out.

    Parameters
    ----------
    options : the dataclasses; of an option that several have, the first says what it is
    only : fields to take; all of them, where none is named
    heading : over them in this command's help; None: those that they declare
    """

    def decorate(command: Command) -> Command:
        for each in reversed(declared_in(*options).values()):
            if not only or each.field in only:
                command = _option(each, heading)(command)
        return command

    return decorate


def taking(options: type, name: str = "options") -> Callable[[Command], Command]:
    """Give a command the options that a dataclass declares, and its function the object that they make.

    Parameters
    ----------
    options : the dataclass
    name : of the function's argument
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(**arguments: Any) -> Any:
            fields = fields_given(options, arguments)
            others = {key: value for key, value in arguments.items() if key not in declared_in(options)}
            return command(**others, **{name: options(**fields)})

        return options_of(options)(call)  # type: ignore[return-value]

    return decorate


def _option(each: Declared, heading: str | None) -> Callable[[Command], Command]:
    kinds = [kind for kind in members(each.kind) if kind is not type(None)]
    settings: dict[str, Any] = {"help": each.help(), "metavar": each.said.metavar, "required": each.required}
    one = one_of(kinds[0])
    if kinds == [bool]:
        paired = any("/" in flag for flag in each.flags)
        settings |= {"is_flag": True, "default": None} if paired else {"is_flag": True}
    elif each.choices:
        settings["type"] = click.Choice(each.choices)
    elif int in kinds or float in kinds:
        settings["type"] = _number(int in kinds and float not in kinds, each.said.limits)
    elif one in (int, float) and each.said.read is None:
        settings["type"] = _number(one is int, each.said.limits)
    elif one is Path or each.said.metavar in FILES:
        settings["type"] = click.Path(path_type=Path if one is Path else None)
    elif typing.get_origin(one) is tuple and each.said.read is None:
        parts = typing.get_args(one)
        settings |= {"nargs": len(parts)} | ({"type": (Finite(),) * len(parts)} if set(parts) == {float} else {})
    settings["multiple"] = each.said.typed is None and any(_is_repeated(kind) for kind in kinds)
    under = each.said.heading if heading is None else heading
    return click.option(*each.flags, each.argument, cls=DeclaredOption, declaration=each, heading=under, **settings)


def _is_repeated(kind: Any) -> bool:
    """True where a value is several, each stated by itself."""
    return typing.get_origin(kind) is Mapping or (typing.get_origin(kind) is tuple and ... in typing.get_args(kind))


def _number(whole: bool, limits: Limits) -> click.ParamType:
    low = limits.above if limits.at_least is None else limits.at_least
    high = limits.below if limits.at_most is None else limits.at_most
    ends = {"min": low, "max": high, "min_open": limits.above is not None, "max_open": limits.below is not None}
    if low is None and high is None:
        return click.INT if whole else Finite()
    return click.IntRange(**ends) if whole else FiniteRange(**ends)  # type: ignore[arg-type]


class GroupedCommand(click.Command):
    """A command whose help lists its options under their headings, in the order in which these come first; options
    without a heading come last.

    Parameters
    ----------
    most_used : flags of the options that come before all others
    """

    def __init__(self, *arguments: Any, most_used: Collection[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.most_used = most_used

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options to the formatter, heading by heading."""
        by_heading: dict[str, list[tuple[str, str]]] = {"Most used": []} if self.most_used else {}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if record is not None:
                heading = "Most used" if set(self.most_used) & set(each.opts) else getattr(each, "heading", "")
                by_heading.setdefault(heading, []).append(record)
        others = by_heading.pop("", [])
        for heading, records in [*by_heading.items(), ("Other options", others)]:
            with formatter.section(heading):
                formatter.write_dl(records)


def option_under(heading: str, *names: str, **settings: Any) -> Callable[[Command], Command]:
    """`click.option`, under a heading of the help."""
    return click.option(*names, cls=HeadedOption, heading=heading, **settings)


def refuse_all_but(*names: str, beside: str) -> None:
    """Refuse what was stated on the command line of the command at work, beside what cannot be done with it.

    Parameters
    ----------
    names : parameters that may be stated
    beside : what the others do not go with, in words

    Raises
    ------
    UsageError
        naming the option
    """
    context = click.get_current_context()
    for each in context.command.params:
        stated = context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE
        if stated and each.name not in names:
            raise click.UsageError(f"{each.opts[0]} does not go with {beside}")
