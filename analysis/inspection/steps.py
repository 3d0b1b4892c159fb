"""From what some files are to the commands that make a page of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from relstudy.analysis.inspection.finding import Inspection
from relstudy.common.options.option_wording import list_entry, option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import as_argument, count_of, listed, quoted
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.reading import Reading
from relstudy.common.tables.meaning.reading_options import FILE_ENDING
from relstudy.common.tables.meaning.study_folder import answers_file, score_files, table_in
from relstudy.mapping.fitted import mapping_files
from relstudy.mapping.scores.score_files import read_scores

ANSWERS = ("ratings", "judgments")
"""Parts of a page of which there is one; beside it stand scores."""
PAGE, SCRIPT = "report.html", "commands.sh"


def part_of(reading: Inspection) -> str:
    """The part of a page that a file is by the command of its reading: ratings, judgments, scores or pairs; else ""."""
    words = shlex.split(reading.command or reading.draft or "")
    if reading.kind == "pairs":
        return "pairs"
    if words[1:2] == ["calibrate"]:
        return "ratings"
    if words[1:4] == ["score", "SCORES", "-j"]:
        return "judgments"
    return "scores" if words[1:2] == ["score"] and "SCORES" not in words else ""


def narrowed(findings: Sequence[Inspection]) -> list[Inspection]:
    """The findings without the readings that the other files rule out, since one file holds people's answers and the
    others do not.

    Examples
    --------
    >>> grades = Inspection("a.csv", "judgments", "", command="relstudy score SCORES -j a.csv")
    >>> numbers = Inspection("a.csv", "scores", "", command="relstudy score a.csv -j judgments.csv")
    >>> run = Inspection("b.run", "run", "", command="relstudy score b.run -j judgments.csv")
    >>> either = Inspection.of_several("a.csv", [grades, numbers], "a table")
    >>> [each.kind for each in narrowed([either, run])], [each.kind for each in narrowed([either, grades])]
    (['judgments', 'run'], ['scores', 'judgments'])
    """
    answers = [[part_of(each) in ANSWERS for each in finding.readings or (finding,)] for finding in findings]
    certain = [number for number, each in enumerate(answers) if all(each)]
    possible = [number for number, each in enumerate(answers) if any(each)]
    if len(certain or possible) != 1:
        return list(findings)
    (holder,) = certain or possible
    return [_kept(finding, number == holder) for number, finding in enumerate(findings)]


def _kept(finding: Inspection, answers: bool) -> Inspection:
    """The finding with its readings as answers alone, or with all others."""
    fitting = [each for each in finding.readings if (part_of(each) in ANSWERS) == answers]
    if len(fitting) == 1:
        return replace(fitting[0], notes=(*finding.notes, *fitting[0].notes))
    return replace(finding, readings=tuple(fitting)) if fitting else finding


def of_people(findings: Sequence[Inspection], people: str) -> list[Inspection]:
    """The findings, of which those of one file are people's answers; grades in the others are taken for a system's.

    Parameters
    ----------
    people : the file, as it was given

    Raises
    ------
    RelstudyError
        where it is none of the files or holds no answers, or another's grades are words
    """
    named = [each for each in findings if each.file == people]
    if not named:
        files = listed([each.file for each in findings])
        raise RelstudyError(f"{option('people', people)}: one of the files is needed, which are {files}")
    if part_of(named[0]) not in ANSWERS:
        raise RelstudyError(f"{people} holds no people's answers: it is {named[0].sentence}")
    return [each if each.file == people or part_of(each) not in ANSWERS else _as_scores(each) for each in findings]


def _as_scores(judged: Inspection) -> Inspection:
    """Grades without raters as the scores of one system."""
    stated = _stated(judged)
    if part_of(judged) != "judgments" or "--values" in stated:
        why = "words" if "--values" in stated else "by several raters"
        raise RelstudyError(f"{judged.file} cannot be a system's scores: its grades are {why}")
    theirs = {each.role: each.column for each in judged.columns}
    entries = [f"{ours}={theirs[ours]}" for ours in PAIR if theirs[ours] != ours]
    entries.append(f"score={theirs.get('rating', 'judgment')}")
    columns = shlex.quote(",".join(map(list_entry, entries)))
    command = f"relstudy score {quoted(judged.file)} -j judgments.csv --columns {columns}"
    sentence = f"grades of a system: {judged.sentence}"
    return replace(judged, kind="scores", sentence=sentence, notes=(), command=command)


QUICK = ("--method", "isotonic")
"""Comparing the methods takes ten times as long if there are many ratings."""
MAPPED_QUICKLY = f"scores are mapped by isotonic regression; in {SCRIPT}, --method best compares it with other methods"


@dataclass(frozen=True)
class Steps:
    """The commands that make a page, in their order.

    Parameters
    ----------
    commands : each without `relstudy` before it
    notes : what was decided on the way, one sentence each
    page : the page that they write; None if there are no scores to make one of
    """

    commands: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    page: Path | None = None

    @property
    def script(self) -> str:
        """The commands, one a line, as a shell runs them."""
        return "\n".join(shlex.join(["relstudy", *words]) for words in self.commands)


def steps_of_study(study: Path, out: Path) -> Steps:
    """The commands for a study's folder: what is there already is taken as it is.

    Raises
    ------
    RelstudyError
        if there are no ratings and no judgments
    """
    commands: list[tuple[str, ...]] = []
    notes = [f"{study}: takes its judgments.csv as it is"]
    if not (study / "judgments.csv").is_file():
        table_in(study, "ratings.csv", f"relstudy export {quoted(study)}")
        commands.append(("calibrate", as_argument(study)))
        notes = []
    of_answers = answers_file(study) is not None
    if not score_files(study) and not of_answers:
        return Steps(tuple(commands), (*notes, f"{study}: there are no scores of systems in its scores/"))
    if not of_answers and not mapping_files(study / "mappings"):
        commands.append(("fit", as_argument(study), *QUICK))
        notes.append(MAPPED_QUICKLY)
    commands.append(("report", as_argument(study), "--out", str(out / PAGE)))
    return Steps(tuple(commands), tuple(notes), out / PAGE)


def steps_of(readings: Sequence[Inspection], out: Path) -> Steps:
    """The commands for some tables, each read in one way.

    Parameters
    ----------
    readings : with a command each
    out : the folder that everything is written to

    Raises
    ------
    RelstudyError
        where no file holds people's answers, or several do
    """
    by_part: dict[str, list[Inspection]] = {}
    for each in readings:
        by_part.setdefault(part_of(each), []).append(each)
    answers = [each for part in ANSWERS for each in by_part.get(part, [])]
    if not answers:
        lacking = f"people's ratings or judgments are needed, and none of the files holds any: {_said(readings)}"
        asked = [quoted(each.file) for each in readings if each.kind == "results"]
        raise RelstudyError(f"{lacking}; relstudy ask {asked[0]} asks people for them" if asked else lacking)
    if len(answers) > 1:
        raise RelstudyError(
            f"{listed([each.file for each in answers])} look like people's ratings or judgments. If only "
            f"{answers[0].file} holds such, and the others a system's scores, add {option('people', answers[0].file)}"
        )
    scores, pairs = by_part.get("scores", []), by_part.get("pairs", [])
    notes = [f"{each.file} has no part in this: {each.sentence}" for each in by_part.get("", [])]
    commands: list[tuple[str, ...]] = []
    answered, judged = answers[0], answers[0].file
    stated = _stated(answered)
    if part_of(answered) == "ratings":
        judged = str(out / "judgments.csv")
        drawn = ["--pairs", pairs[0].file] if pairs else []
        what = ["calibrate", "preferences"] if answered.kind == "preferences" else ["calibrate"]
        commands.append((*what, answered.file, "-o", str(out), *stated, *drawn))
        stated = []
    if not scores:
        return Steps(
            tuple(commands), (*notes, "no file holds scores of systems, so there is nothing to make a page of")
        )
    files, renamed = _named_apart(scores)
    notes += renamed
    columns = _columns_of(scores, answered.file if stated else None, stated)
    how = [*_without_columns(stated), *(["--columns", columns] if columns else [])]
    fitted = str(out / "mappings")
    commands.append(("fit", *files, "-j", judged, "-o", fitted, *QUICK, *how))
    commands.append(
        ("score", *files, "-j", judged, "--mappings", fitted, "-o", str(out), "--report", str(out / PAGE), *how)
    )
    return Steps(tuple(commands), (*notes, MAPPED_QUICKLY), out / PAGE)


def _said(readings: Iterable[Inspection]) -> str:
    return "; ".join(f"{each.file} is {each.sentence}" for each in readings)


def _stated(reading: Inspection) -> list[str]:
    """The options that the reading's command states, with what each is given."""
    words = shlex.split(reading.command or "")
    first = next((number for number, word in enumerate(words) if word.startswith("--")), len(words))
    return words[first:]


def _without_columns(stated: Sequence[str]) -> list[str]:
    at = stated.index("--columns") if "--columns" in stated else None
    return list(stated) if at is None else [*stated[:at], *stated[at + 2 :]]


def _columns_of(scores: Sequence[Inspection], judged: str | None, stated: Sequence[str]) -> str:
    """The renamings of all tables for one --columns; before one that is of one table alone stands which."""
    tables = [(each.file, "scores", _stated(each)) for each in scores if each.kind == "scores"]
    if judged is not None:
        tables.insert(0, (judged, "judgments", list(stated)))
    places: dict[str, list[str]] = {}
    for file, kind, options in tables:
        name = Path(file).name
        read = Reading.typed(columns=options[options.index("--columns") + 1] if "--columns" in options else None)
        for ours, theirs in read.columns.items():
            for each in theirs:
                places.setdefault(f"{ours}={each}", []).append(name if re.search(FILE_ENDING, name) else kind)
    entries = [
        entry if len(tables) == 1 or len(where) > 1 else f"{where[0]}:{entry}" for entry, where in places.items()
    ]
    return ",".join(map(list_entry, entries))


def _named_apart(scores: Sequence[Inspection]) -> tuple[list[str], list[str]]:
    """The files, with a name before those runs that call their system as another does; and a sentence on it."""
    files = [each.file for each in scores]
    if len(scores) < 2:
        return files, []
    runs = {each.file: read_scores(each.file).systems for each in scores if each.kind == "run"}
    tags = [tag for systems in runs.values() for tag in systems]
    alike = [file for file, systems in runs.items() if any(tags.count(tag) > 1 for tag in systems)]
    names = [Path(file).name.split(".")[0] for file in alike]
    if not alike or len(set(names)) < len(names):
        return files, []
    note = f"{count_of(len(alike), 'run')} of one tag are called after their files: {listed(names)}"
    return [f"{names[alike.index(file)]}={file}" if file in alike else file for file in files], [note]
