"""`relstudy try`: from some files to a page, by the commands that `relstudy inspect` would name."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.analysis.commands.asking import is_terminal, settled
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import as_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relstudy.analysis.inspection.finding import Inspection
    from relstudy.analysis.inspection.steps import Steps

PRINTED = "printed.txt"
OF_A_STUDY = ("study.toml", "ratings.csv", "judgments.csv")


@dataclass(frozen=True, kw_only=True)
class TryOptions(CommandOptions):
    """Options of `relstudy try`."""

    out: Path = option(Path("try"), "Folder for the page, the tables and the commands.", flags=("--out", "-o"))
    people: str | None = option(
        None,
        "The file with people's answers, where several files hold grades: the others are then a model's, scored as a "
        "system.",
        metavar="FILE",
    )


@click.command("try")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@taking(TryOptions)
def try_files(files: tuple[str, ...], options: TryOptions) -> None:
    """Make a page of FILES: people's ratings or judgments, and the scores or runs of systems; or of a study's folder.

    Says how each file is read, puts raters on one scale, maps each system's scores to it, scores them, and writes
    report.html, with the tables behind it and commands.sh, the commands that do the same again. It asks on a terminal
    what the files do not tell; elsewhere it never asks, and ends with the readings that fit.

    \b
    Examples:
      relstudy try ratings.csv scores.csv
      relstudy try qrels.txt bm25.run dense.run
      relstudy try labels.csv grades_of_a_model.csv --people labels.csv
      relstudy try my-study
    """
    from relstudy.analysis.inspection.steps import SCRIPT
    from relstudy.common.runtime.files import write_text

    out, files = options.out, tuple(map(as_argument, files))
    if out.is_file():
        raise RelstudyError(f"{out}: this is a file; -o needs a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / SCRIPT).is_file():
        raise RelstudyError(f"{out} holds what `relstudy try` did not write; -o names another folder")
    steps = _steps(files, out, options.people)
    for note in steps.notes:
        click.echo(f"{note}.")
    if not steps.commands:
        raise RelstudyError("nothing to do; name the scores of a system or a run as well")
    start = os.path.relpath(Path.cwd(), out.resolve())
    opening = (
        f'#!/bin/sh\n# What `relstudy try` did, to be done again.\nset -e\ncd "$(dirname "$0")"/{shlex.quote(start)}\n'
    )
    write_text(f"{opening}{steps.script}\n", out / SCRIPT)
    _run(steps, out)
    click.echo(f"The commands are in {out / SCRIPT}; what all of them printed is in {out / PRINTED}.")
    if steps.page is None:
        click.echo(f"Next: relstudy try {shlex.join(files)} SCORES")


def _steps(files: Sequence[str], out: Path, people: str | None) -> Steps:
    """The commands for the files, whose readings are printed; ends where only a person can tell how one is read."""
    from relstudy.analysis.inspection.files import inspect_file
    from relstudy.analysis.inspection.steps import ANSWERS, narrowed, of_people, part_of, steps_of, steps_of_study

    if len(files) == 1 and any((Path(files[0]) / name).is_file() for name in OF_A_STUDY):
        return steps_of_study(Path(files[0]), out)
    findings = narrowed([inspect_file(file) for file in files])
    for number in range(len(findings)):
        findings[number] = _one_reading(findings[number])
        findings = narrowed(findings)
    answers = [each.file for each in findings if part_of(each) in ANSWERS]
    if people is None and len(answers) > 1 and is_terminal():
        people = click.prompt("Which file holds people's answers?", type=click.Choice(answers))
    if people is not None:
        findings = of_people(findings, people)
    return steps_of(findings, out)


def _one_reading(finding: Inspection) -> Inspection:
    """The finding, printed, with the one reading that it has or that the person at the terminal chooses."""
    open_still = bool(finding.readings or finding.draft)
    click.echo(str(finding) if open_still else "\n".join(finding.brief()))
    if not open_still:
        return finding
    if is_terminal():
        return settled(finding)
    raise RelstudyError(f"{finding.file}: it can be read in several ways; choose one of the commands above")


def _run(steps: Steps, out: Path) -> None:
    """Run the commands: the output of the last is printed, that of all is kept."""
    from relstudy.analysis.commands.report import report
    from relstudy.analysis.commands.score import score
    from relstudy.calibration.command import calibrate
    from relstudy.calibration.preferences_command import preferences
    from relstudy.common.runtime.files import write_text
    from relstudy.mapping.command import fit

    commands: dict[str, click.Command] = {"calibrate": calibrate, "fit": fit, "score": score, "report": report}
    printed = io.StringIO()
    for step in steps.commands:
        line = shlex.join(["relstudy", *step])
        click.echo(f"$ {line}")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            if step[:2] == ("calibrate", "preferences"):
                preferences.main(step[2:], prog_name="relstudy calibrate preferences", standalone_mode=False)
            else:
                commands[step[0]].main(step[1:], prog_name=f"relstudy {step[0]}", standalone_mode=False)
        printed.write(f"$ {line}\n{said.getvalue()}\n")
        write_text(printed.getvalue(), out / PRINTED)
    click.echo(said.getvalue(), nl=False)
