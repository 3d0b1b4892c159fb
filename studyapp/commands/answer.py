"""The answer of a study that is still rated: export, calibrate, score, and keep what comes of it."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from relstudy.analysis.answers import answers_of_study, sentences
from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.report.answers import answers_page, side_by_side_page
from relstudy.analysis.report.layout import Page
from relstudy.analysis.report.opening import answer_section
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.side_by_side import side_by_side_of_study
from relstudy.analysis.study_run import answer_of_study
from relstudy.calibration import pipeline
from relstudy.calibration.tables.decision import LookPlan
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.calibration.tables.study_tables import EXPORTED
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing, whole_files, write_json, write_text
from relstudy.common.runtime.wording import as_argument
from relstudy.common.tables.formats.table_files import read_table, write_parts
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.study_folder import ANSWERS, COLLECTION, answers_file, is_side_by_side
from relstudy.studyapp.assignment.versions import read_state, write_state
from relstudy.studyapp.commands.opening import open_ratings
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.feed import tell
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.audit_log import record_command
from relstudy.studyapp.monitoring.export import ratings_in_parts
from relstudy.studyapp.monitoring.saved_answer import ANSWER, KeptAnswer, computing, page_of, results_of
from relstudy.studyapp.monitoring.status import seconds_per_rating
from relstudy.studyapp.monitoring.traces import last_forgotten, look_for_traces
from relstudy.studyapp.sampling.judge_round import draw_judge_round
from relstudy.studyapp.sampling.next_round import FEWEST_JUDGED
from relstudy.studyapp.sampling.options import JudgeRoundOptions

WORK = "work"
"""The folder in which ratings and judgments lie while the answer is computed."""
UNRATED = "No answer yet: nobody has rated anything."
LOWER = 19
"""By how much a process that computes is nicer than those that raters wait for."""


def compute_answer(folder: Path) -> KeptAnswer:
    """Compute the answer of a study and keep it; a new state of the ratings is a look.

    Where a bound is crossed and study.toml says so (looks.on_bound), the study is paused.

    Raises
    ------
    RelstudyError
        where another process computes it just now, or the study cannot be read
    """
    if hasattr(os, "nice"):
        os.nice(LOWER)
    study, store = open_ratings(folder)
    with computing(folder) as free:
        if not free:
            raise RelstudyError(f"{folder}: the answer is being computed by another process; ask again soon")
        before = KeptAnswer.of(folder)
        work = folder / ANSWER / WORK
        shutil.rmtree(work, ignore_errors=True)  # of one that was killed
        forgotten = last_forgotten(folder)
        with store.read() as connection:
            state = read_state(connection)
        ratings = _exported(study, store, work / "ratings.csv")
        write_json({"state": state}, work / EXPORTED)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        found = KeptAnswer(at=at, ratings=ratings, headline=UNRATED, closed=state == "closed")
        plan: LookPlan | None = None
        page: Page | None = None
        whole: Callable[[], Page] | None = None
        try:
            if ratings:
                found, page, plan, whole = _answer(folder, work, found)
        except RelstudyError as error:
            said = str(error).replace(f"{work}{os.sep}", "").replace(f"{folder}{os.sep}", "")
            found, page = replace(found, headline=f"No answer yet: {said}"), None
        if page is None or found.hidden:
            page_of(folder).unlink(missing_ok=True)
        else:
            write_text(html_of(page, part=True), page_of(folder))
        earlier = () if before is None else tuple(each for each in before.widths if each[0] < found.ratings)
        found = replace(found, widths=(*earlier, *found.widths), seconds=seconds_per_rating(store))
        results_of(folder).unlink(missing_ok=True)
        if whole is not None and not found.hidden:
            try:
                _write_results(whole(), folder, work, results_of(folder))
            except RelstudyError as error:  # the answer stands without them
                found = replace(found, sentences=(*found.sentences, f"The report cannot be written: {error}"))
        shutil.rmtree(work)  # ratings lie nowhere but where people put them
        found.write(folder)
        if last_forgotten(folder) != forgotten:  # while it was computed
            look_for_traces(folder, store)
        if before is None or (before.ratings, before.headline) != (found.ratings, found.headline):
            with store.write() as connection:
                tell(connection, "answer")
        is_new = found.settled and not (before is not None and before.settled)  # who reopens it knows
        if is_new and plan is not None and plan.on_bound == "pause":
            _pause(store, f"paused at look {(found.look or {})['number']} (looks.on_bound)")
    return found


def _pause(store: Store, about: str) -> None:
    with store.write() as connection:
        is_open = read_state(connection) == "open"
        if is_open:
            write_state(connection, "paused")
    if is_open:
        record_command(store, "set state", about)


def _exported(study: Study, store: Store, file: Path) -> int:
    """Write the ratings on the scale of the first block; gives their number."""
    file.parent.mkdir(exist_ok=True)
    counts: list[int] = []

    def counted(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in parts:
            counts.append(len(part))
            yield part

    with ratings_in_parts(store, study, scale=study.blocks[0].scale.name) as (parts, _):
        write_parts(counted(parts), file)
    return sum(counts)


def _write_results(page: Page, folder: Path, work: Path, target: Path) -> None:
    """Write the report with its tables, the judgments, and what was judged, as one zip file."""
    with replacing(target) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as results:
        results.writestr("report/index.html", html_of(page))
        for table in page.tables():
            results.writestr(f"report/tables/{table.file}.csv", table.csv())
            results.writestr(f"report/tables/{table.file}.tex", table.latex())
        for file in (work / "judgments.csv", *(folder / name for name in (COLLECTION, "pairs.csv", ANSWERS))):
            if file.is_file():
                results.write(file, file.name)


def _answer(
    folder: Path, work: Path, found: KeptAnswer
) -> tuple[KeptAnswer, Page, LookPlan | None, Callable[[], Page]]:
    """The answer, its page, the looks that the study plans, and what makes the whole report."""
    if is_side_by_side(folder):
        compared = side_by_side_of_study(folder, work / "ratings.csv")
        headline, *rest = compared.sentences()
        page = side_by_side_page(folder, work / "ratings.csv")
        return replace(found, headline=headline, sentences=tuple(rest)), page, None, lambda: page
    pairs = folder / "pairs.csv"
    result = pipeline.calibrate(read_ratings(work / "ratings.csv"))
    if pairs.is_file():
        result = result.with_probabilities(read_table(pairs))
    result.write(work)
    answers = answers_file(folder)
    if answers is not None:
        headline, *rest = sentences(answers_of_study(answers, work / "judgments.csv"))
        page = answers_page(answers, work / "judgments.csv")
        return replace(found, headline=headline, sentences=tuple(rest)), page, None, lambda: page
    run, plan = answer_of_study(folder, work / "judgments.csv")
    said = _of_run(run, found)
    if not said.hidden:
        said = replace(said, next_round=_next_round(run, plan, folder, work / "judgments.csv"))
    return said, _page(run, folder), plan, lambda: _report(run, folder, work)


def _report(run: ScoringRun, folder: Path, work: Path) -> Page:
    """The whole report of what was scored."""
    from relstudy.analysis.report.inputs import page_tables
    from relstudy.analysis.report.study import study_page

    raters = read_table(work / "raters.csv").frame.astype(str)
    tables = replace(page_tables(run.study, folder), raters=raters)
    return study_page(run, tables, ["relstudy", "report", folder.resolve().name], True)


def _of_run(run: ScoringRun, found: KeptAnswer) -> KeptAnswer:
    verdict, look = run.verdict, run.look
    said = replace(
        found, headline=verdict.headline, sentences=tuple(each for each in (verdict.looks, *run.on_raters) if each),
        look=None if look is None else look.as_json(), settled=verdict.settled, widths=_width(run, found.ratings),
    )  # fmt: skip
    withheld = None if look is None else look.withheld(said.settled)
    return said if withheld is None else replace(said, headline=withheld, sentences=(), hidden=True, widths=())


def _width(run: ScoringRun, ratings: int) -> tuple[tuple[int, float], ...]:
    """Half the width of the interval of the first two systems' difference, with the ratings behind it."""
    ranked = run.verdict.standings
    compared = None if len(ranked.names) < 2 else ranked.comparison(run.result.primary.index.name, *ranked.names[:2])
    if compared is None or compared.difference.low is None or compared.difference.high is None:
        return ()
    return ((ratings, (compared.difference.high - compared.difference.low) / 2),)


def _next_round(run: ScoringRun, plan: LookPlan | None, folder: Path, judgments: Path) -> tuple[str, ...]:
    """What the further round by a judge brings that is to narrow an interval most, and its commands.

    It has as many pairs as lie between two planned looks. Where no judge can shape one it is the round by mappings, of
    whose gain nothing can be said before. Empty where pairs were not drawn by `relstudy sample`, no answers are to
    come, or too few pairs are judged.
    """
    look = run.look
    if plan is None or look is None or run.verdict.settled or look.is_over:
        return ()
    if not (folder / "design.json").is_file():
        return ()
    pairs = math.ceil(min(look.wanted / plan.planned, look.wanted - look.answers) / plan.ratings_per_pair)
    drawn = read_table(folder / "pairs.csv", *PAIR, "paradigm").frame
    first = [shlex.join(["relstudy", command, as_argument(folder)]) for command in ("export", "calibrate")]
    found: list[tuple[float, str, str]] = []
    for judge, paradigm in product(whole_files(folder / "judges", "*.csv"), sorted(set(drawn["paradigm"]))):
        stated: dict[str, Any] = {"pairs": pairs, "aim": run.result.primary.index.name, "paradigm": paradigm}
        try:
            widths = draw_judge_round(folder, JudgeRoundOptions(judge, judgments=judgments, **stated)).widths
        except RelstudyError:  # the command would refuse it, too
            continue
        words = [word for name, value in stated.items() for word in (f"--{name}", str(value))]
        command = shlex.join(["relstudy", "sample", as_argument(folder), "--next", "--judge", judge.stem, *words])
        found += [
            (
                each.expected / each.as_before,
                f"The next {pairs:,} pairs are worth most where judge {judge.stem} is least sure: by score --judge, "
                "expect "
                f"an interval of {each.system} {each.expected:.3f} wide, against {each.as_before:.3f} with pairs drawn "
                "as before. Draw them with:",
                command,
            )
            for each in widths
            if each.as_before and each.expected
        ]
    if found:
        _, sentence, command = min(found)
        return (sentence, *first, command)
    judged = drawn.merge(read_judgments(judgments).frame[[*PAIR]], on=PAIR)["paradigm"].value_counts()
    if judged.empty or judged.iloc[0] < FEWEST_JUDGED:
        return ()
    results = math.ceil(pairs / drawn.loc[drawn["paradigm"] == judged.index[0], "query_id"].nunique())
    words = ["--from-mappings", "--same-queries", "--results", str(results), "--paradigm", str(judged.index[0])]
    return (
        "No judge of this study can say which pairs are most informative. A round by mappings asks for more of the "
        "grades that are rare so far; some of its pairs may have been drawn before:",
        *first,
        shlex.join(["relstudy", "fit", as_argument(folder)]),
        shlex.join(["relstudy", "sample", as_argument(folder), *words]),
    )


def _page(run: ScoringRun, folder: Path) -> Page:
    """The first screen of the study's report."""
    return Page(folder.resolve().name, "Answer so far", [], [answer_section(run.result, run.verdict)])
