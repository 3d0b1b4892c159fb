"""A group of commands whose words are looked at before a command reads them."""

from __future__ import annotations

import click


class CheckedGroup(click.Group):
    """A group that refuses, for each of its commands, an empty word, and two files where one is taken.

    An empty word is most often a variable that is not set, and as a file it would be the folder that one is in. Of two
    files the first would be dropped without a word.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _check_words(click.Context(command, ctx, name, **command.context_settings), rest)
        return name, command, rest


def _check_words(ctx: click.Context, words: list[str]) -> None:
    try:
        given, _, order = ctx.command.make_parser(ctx).parse_args(list(words))
    except click.UsageError:
        return  # said where the command itself reads its words
    for each in ctx.command.params:
        value = given.get(each.name or "")
        if value == "" or (isinstance(value, list | tuple) and "" in value):
            raise click.UsageError(f"{each.get_error_hint(ctx)} is empty", ctx)
        if isinstance(each.type, click.Path) and not each.multiple and each.nargs == 1 and order.count(each) > 1:
            raise click.UsageError(f"{each.opts[0]} takes one file, and several are given", ctx)
