"""The report of a whole study: its tables, scored, and put on one page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TypeVar

import numpy as np
import pandas as pd

from relstudy.analysis.report import scored, selection
from relstudy.analysis.report.by_group import groups_section
from relstudy.analysis.report.choices import PageChoices
from relstudy.analysis.report.citing import citing_section
from relstudy.analysis.report.inputs import StudyTables
from relstudy.analysis.report.layout import Block, Command, Folded, Heading, Page, Paragraph, Section, Terms
from relstudy.analysis.report.opening import disagreements_section
from relstudy.analysis.report.raters import raters_section, scale_values
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.report.trust import coverage_sentence, trust_section
from relstudy.analysis.scoring.candidate import Candidate, MappedScores, candidate_of, with_mapping
from relstudy.analysis.scoring.direction import known_directions
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.mapped import cross_fitted, fitted_to_all, map_scores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_candidates
from relstudy.analysis.scoring.undecided import undecided_notes
from relstudy.analysis.verdict.facts import StudyFacts
from relstudy.analysis.verdict.verdict import Verdict, verdict_of
from relstudy.calibration.ratings import Ratings
from relstudy.common.estimates import Estimate
from relstudy.common.pairs_table import source_members
from relstudy.common.probabilities import PAIR
from relstudy.common.wording import count_of

T = TypeVar("T")
Progress = Callable[[Iterable[T], str, int | None], Iterator[T]]
PAPER_METHODS = ("isotonic", "correlation", "bayes")
PAPER_NAMES = {"isotonic": "isotonic (4.1)", "correlation": "correlation (4.2)", "bayes": "bayes (4.3)"}


def study_page(
    tables: StudyTables,
    options: ScoringOptions,
    command: Sequence[str],
    progress: Progress[tuple[str, str]],
    choices: PageChoices | None = None,
) -> tuple[Page, ScoreResult, Verdict]:
    """The page of a study, the result it shows, and the verdict on it.

    Parameters
    ----------
    tables : as `read_study` gives them
    options : the choices of the scoring run
    command : the command line, without any path of this machine
    progress : wraps the long loop, as `relstudy.common.console.progress`
    choices : what the page shows
    """
    choices = choices or PageChoices()
    pairs = JudgedPairs.of(tables.judgments)
    groups = None if choices.by is None else tables.groups(choices.by)
    candidates = _candidates(tables, pairs, options, progress)
    predictions = _predictions(tables, pairs, options, candidates, progress) if choices.by_source else {}
    result = score_candidates(pairs, candidates, options)
    pool = tables.pool
    outside = [] if pool is None else pool.notes(tables.whole_scores, candidates, tables.judgments.frame)
    blank = undecided_notes(tables.whole_scores, candidates, tables.judgments)
    result = replace(result, notes=(*result.notes, *tables.notes, *outside, *blank))
    verdict = verdict_of(result, StudyFacts.of(tables.judgments, result))
    ratings = tables.ratings_each
    shown = disagreements_section(result, verdict.standings, tables.items, ratings, choices.with_pictures)
    answer, *first, conventions = scored.score_sections(result, verdict, tables.items, choices.with_pictures)
    raters = None if tables.ratings is None else int(tables.ratings.frame["rater_id"].nunique())
    sections = [
        answer,
        *_some(shown),
        *_some(trust_section(tables, verdict)),
        *first,
        *_some(None if groups is None else groups_section(str(choices.by), pairs, candidates, groups, options)),
        *_some(raters_section(tables.raters, tables.ratings, options.seed)),
        *_some(pairs_section(tables)),
        *([paper_section(tables, result, pairs, predictions)] if choices.by_source else []),
        *_some(truth_section(tables)),
        citing_section(result, raters, simulated(tables)),
        conventions,
        provenance(tables, result, command),
    ]
    banner = SIMULATED if simulated(tables) else None
    return Page(tables.title, "Relevance study", [lead(tables, result)], sections, banner), result, verdict


SIMULATED = ("Simulated study.", "The raters are programs; nothing here says what people think.")


def simulated(tables: StudyTables) -> bool:
    """Whether the truth is known, which it is where raters are programs."""
    return tables.truth is not None and not tables.truth.empty


def _some(section: Section | None) -> list[Section]:
    return [] if section is None else [section]


def _candidates(
    tables: StudyTables, pairs: JudgedPairs, options: ScoringOptions, progress: Progress[tuple[str, str]]
) -> list[Candidate]:
    """Every system with its mapped scores: as the comparison has them where scores and choices are the same."""
    directions = known_directions(tables.mappings, tables.scores.directions)
    plain = [
        candidate_of(pairs, name, rows, options, directions, name in tables.scores.runs)
        for name, rows in tables.scores.by_system()
    ]
    scored_before = {} if tables.comparison is None else {each.name: each for each in tables.comparison.candidates}
    same_fits = tables.comparison is not None and _fits_of(tables.comparison.options) == _fits_of(options)
    candidates = []
    for name, _ in progress([(candidate.name, "") for candidate in plain], "mapping", len(plain)):
        candidate = next(each for each in plain if each.name == name)
        before, given = scored_before.pop(name, None), tables.mappings.get(name)
        if before is not None and before.mapped is not None and same_fits and _same_scores(before, candidate):
            whole = fitted_to_all(pairs, candidate, before.mapped.mapping.method, options, given)
            candidates.append(with_mapping(before, replace(before.mapped, fitted=whole)))
        else:
            candidates.append(map_scores(pairs, candidate, options, given))
    return [*candidates, *scored_before.values()]


def _fits_of(options: ScoringOptions) -> tuple[str, int, int, str]:
    """The choices that mapped scores rest on."""
    return options.method, options.folds, options.seed, options.policy


def _same_scores(one: Candidate, other: Candidate) -> bool:
    return one.direction.higher == other.direction.higher and np.array_equal(one.given, other.given, equal_nan=True)


def _predictions(
    tables: StudyTables,
    pairs: JudgedPairs,
    options: ScoringOptions,
    candidates: Sequence[Candidate],
    progress: Progress[tuple[str, str]],
) -> dict[str, dict[str, MappedScores]]:
    """Scores mapped out of fold by system and method, for the paper's tables; empty where no source is known."""
    sources = tables.pair_column("source")
    if sources is None or not any(sources) or len(pairs.queries) < 2:
        return {}
    chose = selection.chose_pairs([candidate.name for candidate in candidates], sources)
    chosen = {candidate.name: candidate for candidate in candidates if candidate.name in chose}
    predictions: dict[str, dict[str, MappedScores]] = {name: {} for name in chosen}
    jobs = [(name, method) for name in chosen for method in PAPER_METHODS]
    for name, method in progress(jobs, "mapping", len(jobs)):
        mapped, given = chosen[name].mapped, tables.mappings.get(name)
        if mapped is not None and mapped.mapping.method == method:
            predictions[name][PAPER_NAMES[method]] = mapped
        else:
            fresh = MappedScores(*cross_fitted(pairs, chosen[name], method, options, given))
            predictions[name][PAPER_NAMES[method]] = fresh
    return predictions


def lead(tables: StudyTables, result: ScoreResult) -> str:
    """What was done, in two sentences."""
    pairs, queries = int(result.pairs["judged"]), int(result.pairs["queries"])
    systems = count_of(len(result.systems), "retrieval system")
    what = f"{count_of(pairs, 'pair')} of a query and a result ({count_of(queries, 'query', 'queries')})"
    if tables.ratings is None:
        return f"People judged {what}. This page says how far {systems} agree with them."
    frame = tables.ratings.frame
    decided = int(frame["rating"].notna().sum())
    undecided = len(frame) - decided
    people = ("simulated rater", "simulated raters") if simulated(tables) else ("person", "people")
    said = f"{count_of(frame['rater_id'].nunique(), *people)} gave {count_of(decided, 'rating')} of {what}"
    if undecided:
        said += f" and were undecided {count_of(undecided, 'time')}"
    verb = "agrees" if len(result.systems) == 1 else "agree"
    return f"{said}. This page says how far {systems} {verb} with them{_when(frame)}."


def _when(frame: pd.DataFrame) -> str:
    if "rated_at" not in frame:
        return ""
    days = frame["rated_at"].astype(str).str.slice(0, 10)
    days = days[days.str.fullmatch(r"\d{4}-\d{2}-\d{2}")]
    if days.empty:
        return ""
    first, last = days.min(), days.max()
    return f"; ratings are from {first}" + ("" if first == last else f" to {last}")


def ratings_by_pair(tables: StudyTables, ratings: Ratings) -> pd.DataFrame | None:
    """The ratings with the source and round of their pair; None where no source is known."""
    if tables.pairs is None:
        return None
    drawn = tables.pairs.drop_duplicates(PAIR)[[*PAIR, "source", "round"]]
    frame = ratings.frame[[*PAIR, "rating"]].merge(drawn, on=PAIR, how="inner", validate="many_to_one")
    return frame if (frame["source"] != "").any() else None


def pairs_section(tables: StudyTables) -> Section | None:
    """Where the pairs came from, and how evenly they fill the scale."""
    if tables.ratings is None:
        return None
    frame = ratings_by_pair(tables, tables.ratings)
    values = scale_values(tables.ratings)
    if frame is None or not 2 <= len(values) <= 12:
        return None
    blocks: list[Block] = [
        Paragraph(
            "Random pairs are nearly all poor matches, so the systems themselves proposed pairs, high ranks more "
            "often. "
            "Good matches are then frequent enough to learn from, and every pair's known probability undoes the choice."
        ),
        Folded("How evenly the ratings use the scale", [selection.uniformity(frame, values)]),
    ]
    probability = tables.judgments.probability
    probabilities = probability[np.isfinite(probability)]
    if len(probabilities):
        low, high = probabilities.min(), probabilities.max()
        blocks.append(
            Paragraph(
                f"The probability of a rated pair to be chosen runs from {low:.2g} to {high:.2g}, "
                f"so one judged pair stands for between {1 / high:,.0f} and {1 / low:,.0f} "
                "pairs of the collection.",
                quiet=True,
            )
        )
    return Section("pairs", "The pairs", blocks)


def paper_section(
    tables: StudyTables,
    result: ScoreResult,
    pairs: JudgedPairs,
    predictions: dict[str, dict[str, MappedScores]],
) -> Section:
    """The tables of Shirahatti and Barnard 2005, chapter 5, for this study."""
    blocks: list[Block] = [
        Paragraph(
            "The same tables as in Shirahatti and Barnard's study, chapter 5, for comparison with theirs. "
            "Here a correlation is out of fold unless its column says otherwise, and its interval is over queries; "
            "theirs are in sample, with standard deviations over the selecting systems (tables 5.3 to 5.6) or standard "
            "errors (table 5.9)."
        )
    ]
    sources = tables.pair_column("source")
    chose = selection.chose_pairs([system.name for system in result.systems], sources)
    if sources is not None and any(predictions.values()):
        members = source_members(sources)
        options = result.options
        draws = pairs.draws(options.replicates, options.seed, options.population)
        by_source = selection.by_source(result, members, predictions, draws)
        if by_source:
            blocks += [
                Heading("Does it matter which system selected the pairs?"),
                Paragraph(
                    "One table for each system that chose pairs, as tables 5.3 to 5.6: rows are mappings, columns are "
                    "the pairs that each system selected.",
                    quiet=True,
                ),
                *by_source,
            ]
            blocks += selection.orders_by_selection(result, members, chose)
    blocks += [Heading("All pairs together"), selection.combined(result, chose), selection.ranks(result)]
    blocks += selection.orders(result, chose)
    blocks += selection.variants(result)
    return Section("paper", "The paper's tables", blocks, folded=True)


def truth_section(tables: StudyTables) -> Section | None:
    """What was found beside what is true, where the study was simulated."""
    if tables.truth is None or tables.truth.empty:
        return None
    rows: list[list[Cell]] = []
    for entry in tables.truth.to_dict("records"):
        true, recovered, low, high = (_number(entry.get(name)) for name in ("true", "recovered", "low", "high"))
        inside = None if true is None or low is None or high is None else low <= true <= high
        estimate = Estimate.missing("not found") if recovered is None else Estimate(recovered, low, high)
        said = "" if inside is None else "inside" if inside else "outside"
        rows.append([str(entry["quantity"]).capitalize(), str(entry["system"]), true, estimate, said])
    text = "This study was simulated, so the truth is known: here is what it found beside what is true."
    table = Table(
        "truth",
        "Recovered against true.",
        [Column("Quantity"), Column("System"), Column("True"), Column("Recovered"), Column("Truth is")],
        rows,
    )
    blocks: list[Block] = [Paragraph(f"{text} {coverage_sentence(tables)}".strip()), table]
    return Section("truth", "Against the truth", blocks, folded=True)


def _number(text: object) -> float | None:
    try:
        value = float(str(text))
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def provenance(tables: StudyTables, result: ScoreResult, command: Sequence[str]) -> Section:
    """What the page was made of, and how to make it again."""
    rows: list[list[Cell]] = [[file.name, file.size, file.sha256] for file in tables.files]
    packages = ["relstudy", "numpy", "scipy", "pandas", "scikit-learn", "cvxpy", "matplotlib"]
    items = [
        ("Python", ".".join(map(str, sys.version_info[:3]))),
        *((name, version(name)) for name in packages),
        ("Judgments, fingerprint", str(result.pairs["fingerprint"])),
        ("Seed", str(result.options.seed)),
        ("Bootstrap replicates", str(result.options.replicates)),
        ("Folds by query", str(result.options.folds)),
    ]
    return Section(
        "provenance",
        "Where this page comes from",
        [
            Paragraph("The same files, versions and seed give the same page. It was made by"),
            Command(" ".join(command)),
            Terms(items),
            Table(
                "inputs",
                "Files read, with their SHA-256.",
                [Column("File"), Column("Bytes"), Column("SHA-256")],
                rows,
                shown=40,
            ),
        ],
        folded=True,
    )
