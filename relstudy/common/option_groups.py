"""Help of a command with many options, in groups under headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click


class GroupedCommand(click.Command):
    """A command whose help lists its options under headings; what no heading names comes last.

    Parameters
    ----------
    option_groups : the options, by their long names without dashes, under each heading

    Raises
    ------
    ValueError
        when a heading names an option that the command does not have
    """

    def __init__(self, *arguments: Any, option_groups: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.option_groups = option_groups
        known = {_long_name(option) for option in self.params if isinstance(option, click.Option)}
        unknown = [name for names in option_groups.values() for name in names if name not in known]
        if unknown:
            raise ValueError(f"no such option of {self.name}: {', '.join(unknown)}")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options to the formatter, group by group."""
        records = {
            _long_name(option): record
            for option in self.get_params(ctx)
            if (record := option.get_help_record(ctx)) is not None
        }
        for heading, names in self.option_groups.items():
            with formatter.section(heading):
                formatter.write_dl([records.pop(name) for name in names])
        with formatter.section("Other options"):
            formatter.write_dl(list(records.values()))


def _long_name(option: click.Parameter) -> str:
    return max(option.opts, key=len).lstrip("-")
