"""The root command. A subcommand's module is imported only when it is called, so that `--help` is instant."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from typing import Any

import click

from relstudy.common.options.command_group import CheckedGroup
from relstudy.common.runtime.by_name import load

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Most used": {
        "try": ("relstudy.analysis.commands.try_files:try_files", "Turn your tables into a report, in one command."),
        "new": ("relstudy.studyapp.commands.new:new", "Start a study: study.toml and an example collection."),
        "serve": ("relstudy.studyapp.commands.serve:serve", "Serve the rating app and the admin pages."),
        "score": ("relstudy.analysis.commands.score:score", "Score a system against the judgments, with intervals."),
        "plan": ("relstudy.analysis.commands.plan:plan", "Find how many queries, pairs and raters you need."),
    },
    "Tables, one step at a time": {
        "inspect": ("relstudy.analysis.commands.inspect:inspect", "Describe a file and suggest the next command."),
        "calibrate": ("relstudy.calibration.command:calibrate", "Put ratings on one scale: judgments, rater profiles."),
        "calibrate preferences": (
            "relstudy.calibration.preferences_command:preferences",
            "Turn answers to 'which is better?' into judgments.",
        ),
        "calibrate join": (
            "relstudy.analysis.commands.join:join",
            "Convert judgments on several scales to one scale.",
        ),
        "fit": ("relstudy.mapping.command:fit", "Map system scores to judgments, out of sample."),
        "report": ("relstudy.analysis.commands.report:report", "Write the report page of a study."),
    },
    "Before people rate": {
        "start": ("relstudy.studyapp.commands.start:start", "Set up a study in the browser."),
        "ask": ("relstudy.studyapp.commands.ask:ask", "Let people rate a table of results or answers."),
        "demo": ("relstudy.studyapp.demo.command:demo", "Run everything on an example with simulated raters."),
        "sample": ("relstudy.studyapp.commands.sample:sample", "Choose pairs with known inclusion probabilities."),
        "sample couples": ("relstudy.studyapp.commands.couples:couples", "Choose couples of results to compare."),
        "systems": (
            "relstudy.studyapp.commands.systems:systems",
            "Score a study's queries with the built-in systems.",
        ),
        "systems lists": ("relstudy.studyapp.commands.lists:lists", "Show each system's results for a query."),
    },
    "While people rate": {
        "export": ("relstudy.studyapp.commands.export:export", "Write the ratings to a table."),
        "admin": ("relstudy.studyapp.cli:admin", "Look after studies: invite, status, access, copies."),
    },
    "Automatic judges": {
        "judge": ("relstudy.studyapp.commands.judge:judge", "Ask an automatic judge, or read its grades."),
        "judge check": (
            "relstudy.analysis.commands.judge_check:judge_check",
            "Check how well an automatic judge agrees with people.",
        ),
    },
    "Hash codes": {
        "hash": ("relstudy.analysis.hashing.commands.group:hash_group", "Hamming metrics for binary hash codes."),
    },
}
"""Where each command is and what it does, under the headings of the help; `relstudy` alone says what those of the first
do, and names the others."""

ADMIN: dict[str, dict[str, tuple[str, str]]] = {
    "A running study": {
        "status": ("relstudy.studyapp.commands.status:status", "Show progress; pause, close or reopen a study."),
        "doctor": ("relstudy.studyapp.commands.doctor:doctor", "Check a study for problems, and say how to fix them."),
        "change": (
            "relstudy.studyapp.commands.change:change",
            "Apply edited files to a running study, with a preview.",
        ),
        "log": ("relstudy.studyapp.commands.log:log", "Show the audit log."),
    },
    "Raters": {
        "invite": ("relstudy.studyapp.commands.invite:invite", "Make personal links, crowd links, completion codes."),
        "exclude": (
            "relstudy.studyapp.commands.exclude:set_aside",
            "Exclude a rater's ratings, or include them again.",
        ),
        "erase": ("relstudy.studyapp.commands.erase:forget", "Erase one rater's data."),
        "prolific": (
            "relstudy.studyapp.prolific.command:prolific",
            "Match Prolific submissions with raters; places, bonuses.",
        ),
    },
    "Servers and access": {
        "host": ("relstudy.studyapp.commands.host:host", "Serve several studies on one port."),
        "account": ("relstudy.studyapp.commands.account:account", "Manage researchers' passwords and roles."),
        "token": ("relstudy.studyapp.commands.token:token", "Manage API tokens of a running study."),
    },
    "Copies": {
        "backup": ("relstudy.studyapp.commands.backup:backup", "Copy a live database."),
        "restore": ("relstudy.studyapp.commands.restore:restore", "Restore a backup."),
        "archive": ("relstudy.studyapp.commands.archive:archive", "Pack a study into one anonymised file."),
    },
}
"""The same of `relstudy admin`."""

FORMER = {"couples": "sample couples", "lists": "systems lists", "judge-check": "judge check"}
FORMER |= {"preferences": "calibrate preferences", "join": "calibrate join"}
FORMER |= {"set-aside": "admin exclude", "forget": "admin erase"}
FORMER |= {name: f"admin {name}" for section in ADMIN.values() for name in section if name not in ("exclude", "erase")}
"""Names that commands had, which go on working and appear in no help."""


REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EIO)
"""Answers of a system where a file cannot be had, whatever the program does."""


class LazyGroup(CheckedGroup):
    """A group that knows its subcommands by name and imports one only to run it; a name may be of two words."""

    def __init__(self, *args: Any, sections: dict[str, dict[str, tuple[str, str]]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections
        self.places = {name: place for section in sections.values() for name, (place, _) in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.places:
            return None
        command: click.Command = load(self.places[cmd_name])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if " ".join(args[:2]) in self.places:
            args = [" ".join(args[:2]), *args[2:]]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.places))
        for heading, section in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in section.items()])


class Root(LazyGroup):
    """The command `relstudy`: former names lead where they led, and errors become sentences."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, [*FORMER[args[0]].split(), *args[1:]] if args[0] in FORMER else args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(_overview())
            ctx.exit()
        return super().parse_args(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        from relstudy.common.runtime.terminal import plain_terminal

        # Threads of numpy's and scipy's OpenBLAS, made as these are imported, sleep where they would spin for .2 s.
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
        gc.set_threshold(50_000)  # hardly anything that imports or numba make is garbage: up to .2 s a command
        atexit.register(gc.freeze)  # what ends with the process is not searched for cycles first: .1 to .5 s a command
        with plain_terminal():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        from relstudy.common.runtime.console import fail
        from relstudy.common.runtime.errors import RelstudyError
        from relstudy.common.tables.formats.overwriting import guarded

        try:
            with guarded():
                return super().invoke(ctx)
        except RelstudyError as error:
            fail(error)
        except (
            Exception
        ) as error:  # a program's fault stays a traceback; what the machine or a database refuses does not
            sentence = _sentence_of(error)
            if sentence is None:
                raise
            fail(RelstudyError(sentence))


def _overview() -> str:
    """The five commands most used, with what they do, and the names of the others."""
    first, *others = SECTIONS
    lines = [f"  relstudy {name:<6} {line}" for name, (_, line) in SECTIONS[first].items()]
    width = max(map(len, others)) + 2
    return "\n".join(
        [
            "Find out whether people agree with a retrieval system.",
            "",
            *lines,
            "",
            *(f"{heading:<{width}}{', '.join(SECTIONS[heading])}" for heading in others),
            "",
            "relstudy COMMAND --help says more, with an example; relstudy --help names what each command does.",
        ]
    )


def _sentence_of(error: Exception) -> str | None:
    """Sentence for an error of the disk, the memory or the database; None for anything else."""
    if isinstance(error, OSError):
        from relstudy.common.runtime.files import FULL

        if error.errno in FULL:
            return f"the output cannot be written ({error.strerror})"
        return f"{error.filename}: {error.strerror}" if error.errno in REFUSED and error.filename else None
    if isinstance(error, MemoryError):
        return (
            f"this takes more memory than there is; smaller numbers or tables are needed ({error or 'out of memory'})"
        )
    if "sqlalchemy" not in sys.modules:
        return None
    from relstudy.studyapp.database.errors import DATABASE_ERRORS, classify_error

    if not isinstance(error, DATABASE_ERRORS):
        return None
    if isinstance(getattr(error, "orig", None), OSError):
        return _sentence_of(error.orig)  # type: ignore[union-attr,arg-type]
    reason = str(getattr(error, "orig", error))
    said = {"full": "the disk under the database is full", "busy": "the database is busy or away; try again"}
    if "readonly" in reason or "unable to open" in reason:
        return f"the database cannot be written ({reason})"
    trouble = classify_error(error)
    return f"{said[trouble]} ({reason})" if trouble in said else None


def _one_name(word: str) -> str:
    """--output and --out are one option, in every command."""
    return "out" if word == "output" else word


SETTINGS = {"help_option_names": ["-h", "--help"], "token_normalize_func": _one_name}


@click.group(cls=LazyGroup, sections=ADMIN)
def admin() -> None:
    """Look after studies: links for people, progress, who has access, changes, hosting and copies.

    \b
    Examples:
      relstudy admin invite my-study -n 12 -o links.csv
      relstudy admin status my-study
      relstudy admin doctor my-study
      relstudy admin backup my-study -o /mnt/safe/my-study.db
    """


@click.group(cls=Root, sections=SECTIONS, context_settings=SETTINGS)
@click.version_option(package_name="relstudy", message="relstudy %(version)s")
def main() -> None:
    """Find out whether people agree with a retrieval system.

    \b
    With tables of your own: relstudy try ratings.csv scores.csv
    With people of your own:
      new -> sample -> serve -> export -> calibrate -> fit -> score -> report
    All of it at once, on painted pictures: relstudy demo
    """


if __name__ == "__main__":
    main(prog_name="relstudy")
