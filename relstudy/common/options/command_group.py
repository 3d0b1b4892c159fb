"""A group of commands whose files are looked at before a command reads them."""

from __future__ import annotations

import click


class CheckedGroup(click.Group):
    """A group that refuses, for each of its commands, a file without a name, and two files where one is taken.

    An empty name is most often that of a variable that is not set, and would be the folder that one is in. Of two files
    the first would be dropped without a word.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _check_files(click.Context(command, ctx, name, **command.context_settings), rest)
        return name, command, rest


def _check_files(ctx: click.Context, words: list[str]) -> None:
    try:
        given, _, order = ctx.command.make_parser(ctx).parse_args(list(words))
    except click.UsageError:
        return  # said where the command itself reads its words
    if any(each.is_eager for each in order):
        return  # help, which reads no file
    for each in ctx.command.params:
        if not isinstance(each.type, click.Path):
            continue
        named = given.get(each.name or "")
        if "" in (named if isinstance(named, list | tuple) else [named]):
            raise click.UsageError(f"{each.get_error_hint(ctx)} is empty", ctx)
        if not each.multiple and each.nargs == 1 and order.count(each) > 1:
            raise click.UsageError(f"{each.opts[0]} takes one file, and several are given", ctx)
