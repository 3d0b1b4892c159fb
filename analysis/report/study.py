"""The page of a scoring run: the answer first, then what is known of raters and pairs, and where it all comes from."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version

import numpy as np
import pandas as pd

from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.report import score_sections
from relstudy.analysis.report.by_group import groups_section
from relstudy.analysis.report.citing import citing_section
from relstudy.analysis.report.inputs import PageTables, with_source_and_round
from relstudy.analysis.report.judges import judges_section
from relstudy.analysis.report.layout import Block, Command, Folded, Page, Paragraph, Section, Terms
from relstudy.analysis.report.opening import disagreements_section, parting_section
from relstudy.analysis.report.questions import questions_section
from relstudy.analysis.report.raters_sections import MOST_COUNTED, raters_section, scale_values
from relstudy.analysis.report.significance_sections import section_of_left_out, section_of_tests
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.report.trust import number_or_none, trust_section
from relstudy.analysis.scoring.relevance import RelevanceRule
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.calibration.reliability.scale_use import uniformity_table
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of, percent, tenths
from relstudy.common.tables.meaning.pairs_table import RANDOM, one_row_per_source


def study_page(
    run: ScoringRun,
    tables: PageTables,
    command: Sequence[str],
    with_pictures: bool = True,
    question: str | None = None,
) -> Page:
    """The one page of a scoring run: `relstudy report`, and `relstudy score --report`.

    Parameters
    ----------
    run : whose figures and notes it shows
    tables : what is known beside them
    command : the command line, without any path of this machine
    with_pictures : whether thumbnails of the collection's pictures are put into the page
    question : the further question that the judgments answer; None: the blocks' own
    """
    result, verdict = run.result, run.verdict
    shown = disagreements_section(result, verdict.standings, tables.items, tables.ratings_each, with_pictures)
    answer, *first, conventions = score_sections.score_sections(result, verdict, tables.items, with_pictures)
    raters = None if tables.ratings is None else int(tables.ratings.frame["rater_id"].nunique())
    sections = [
        answer,
        *_some(parting_section(result, verdict, tables.items, with_pictures)),
        *_some(shown),
        *_some(trust_section(tables, verdict)),
        *first,
        *_some(None if run.tests is None else section_of_tests(result, run.tests)),
        *_some(None if run.left_out is None else section_of_left_out(run.left_out)),
        *_some(None if run.within is None else groups_section(run.within)),
        *_some(raters_section(tables, result.options.seed)),
        *_some(pairs_section(tables)),
        *_of_folder(tables, run, question),
        *_some(truth_section(tables)),
        citing_section(result, raters, simulated(tables)),
        conventions,
        provenance(tables, result, command),
    ]
    banner = SIMULATED if simulated(tables) else None
    kind = "Score report" if tables.folder is None else "Relevance study"
    return Page(tables.title, kind, [lead(tables, result)], sections, banner)


def _of_folder(tables: PageTables, run: ScoringRun, question: str | None) -> Iterator[Section]:
    """The rest of the study's folder: judgments of other questions, and automatic judges of the blocks' own."""
    if tables.folder is None:
        return
    yield from _some(questions_section(tables.folder, run.study.judgments, question))
    if question is None:
        yield from _some(judges_section(tables.folder, run.study.judgments, run.result))


TRUE_SHOWN = 12
"""Rows of the truth that the page shows, those outside of their interval first."""
SIMULATED = ("Simulated study.", "The raters are programs; nothing here says what people think.")


def simulated(tables: PageTables) -> bool:
    """True where the truth is known, which it is where raters are programs."""
    return tables.truth is not None and not tables.truth.empty


def _some(section: Section | None) -> list[Section]:
    return [] if section is None else [section]


def lead(tables: PageTables, result: ScoreResult) -> str:
    """The study and its good matches, in three sentences."""
    pairs, queries = int(result.pairs["judged"]), int(result.pairs["queries"])
    systems = count_of(len(result.systems), "system")
    what = f"{count_of(pairs, 'pair')} of a query and a result ({count_of(queries, 'query', 'queries')})"
    shared = result.relevance.rule is RelevanceRule.SHARE
    good = (
        f"{tenths(result.pairs['relevant'])} of the pairs are good matches (judgment above {result.relevance.cut:g})."
    )
    if shared:
        share = percent(result.pairs["relevant"] / pairs)
        good = f"On average {share} of the ratings of a pair call it a good match (above {result.relevance.cut:g})."
    if tables.ratings is None:
        return f"People judged {what}. {good} This report compares {systems} with these judgments."
    frame = tables.ratings.frame
    decided = int(frame["rating"].notna().sum())
    undecided = len(frame) - decided
    people = ("simulated rater", "simulated raters") if simulated(tables) else ("person", "people")
    said = f"{count_of(frame['rater_id'].nunique(), *people)} gave {count_of(decided, 'rating')} of {what}"
    if undecided:
        said += f" and were undecided {count_of(undecided, 'time')}"
    return f"{said}. {good} This report compares {systems} with those ratings{_when(frame)}."


def _when(frame: pd.DataFrame) -> str:
    if "rated_at" not in frame:
        return ""
    days = frame["rated_at"].astype(str).str.slice(0, 10)
    days = days[days.str.fullmatch(r"\d{4}-\d{2}-\d{2}")]
    if days.empty:
        return ""
    first, last = days.min(), days.max()
    return f"; ratings are from {first}" + ("" if first == last else f" to {last}")


def pairs_section(tables: PageTables) -> Section | None:
    """Where the pairs came from, and how evenly they fill the scale."""
    if tables.ratings is None or tables.pairs is None:
        return None
    frame = with_source_and_round(tables.ratings, tables.pairs)
    values = scale_values(tables.ratings)
    if not (frame["source"] != "").any() or not 2 <= len(values) <= MOST_COUNTED:
        return None
    blocks: list[Block] = [
        Paragraph(
            "Random pairs are nearly all poor matches, so the systems themselves proposed pairs, high ranks more "
            "often. "
            "Good matches are then frequent enough to learn from; weighting by the known probability corrects for this."
        ),
        Folded("How evenly the ratings use the scale", [uniformity(frame, values)]),
    ]
    probability = tables.judgments.probability
    probabilities = probability[np.isfinite(probability)]
    if len(probabilities):
        low, high = probabilities.min(), probabilities.max()
        blocks.append(
            Paragraph(
                f"The probability of a rated pair to be chosen runs from {low:.2g} to {high:.2g}, "
                f"so one judged pair represents between {1 / high:,.0f} and {1 / low:,.0f} "
                "pairs of the collection.",
                quiet=True,
            )
        )
    return Section("pairs", "The pairs", blocks)


def uniformity(ratings: pd.DataFrame, categories: Sequence[float]) -> Table:
    """Table 5.2: how evenly the responses to each system's pairs use the scale.

    Parameters
    ----------
    ratings : one row per rating, with rating (NaN: undecided), source and round
    categories : the values of the scale
    """
    frame = one_row_per_source(ratings[["round", "rating", "source"]])
    table = uniformity_table(frame, categories)
    table = table[table["source"] != "all"]
    whole = uniformity_table(ratings.assign(source="all"), categories, by=("round", "source"))
    table = pd.concat([table, whole[whole["source"] == "all"].drop_duplicates(["round"])], ignore_index=True)
    table = table.sort_values("round", kind="stable")
    several = table["round"].nunique() > 1
    columns = [Column("Pairs proposed by"), *([Column("Round")] if several else []), Column("Ratings")]
    columns += [Column(f"{value:g}", 0, percent=True) for value in categories] + [Column("Uniformity error")]
    cells: list[list[Cell]] = []
    for entry in table.to_dict("records"):
        name = {"all": "all pairs", RANDOM: "drawn at random"}.get(str(entry["source"]), str(entry["source"]))
        row: list[Cell] = [name, *([str(entry["round"])] if several else []), int(entry["responses"])]
        row += [_share(entry[f"share_{value:g}"]) for value in categories]
        cells.append([*row, _share(entry["error"])])
    even = 1 / len(categories)
    return Table(
        "uniformity",
        "How evenly the ratings use the scale, by the system that proposed the pair (table 5.2 of the paper).",
        columns,
        cells,
        note=f"The error is the mean distance of the shares from {percent(even)}: 0 when every value is used equally. "
        "A pair proposed by several systems counts for each.",
    )


def _share(value: float) -> Cell:
    return Estimate.missing("no rating") if not np.isfinite(value) else float(value)


def truth_section(tables: PageTables) -> Section | None:
    """The section of recovered against true figures, where the study was simulated."""
    if tables.truth is None or tables.truth.empty:
        return None
    rows: list[list[Cell]] = []
    for entry in tables.truth.to_dict("records"):
        true, recovered, low, high = (number_or_none(entry.get(name)) for name in ("true", "recovered", "low", "high"))
        inside = None if true is None or low is None or high is None else low <= true <= high
        estimate = Estimate.missing("not found") if recovered is None else Estimate(recovered, low, high)
        said = "" if inside is None else "inside" if inside else "outside"
        rows.append([str(entry["quantity"]).capitalize(), str(entry["system"]), true, estimate, said])
    rows.sort(key=lambda row: row[-1] != "outside")
    text = "This study was simulated, so the truth is known: here is what it found beside what is true."
    table = Table(
        "truth",
        "Recovered against true.",
        [Column("Quantity"), Column("System"), Column("True"), Column("Recovered"), Column("Truth is")],
        rows,
        shown=TRUE_SHOWN,
    )
    blocks: list[Block] = [Paragraph(text), table]
    return Section("truth", "Against the truth", blocks, folded=True)


def provenance(tables: PageTables, result: ScoreResult, command: Sequence[str]) -> Section:
    """The section on the page's files, versions and command."""
    rows: list[list[Cell]] = [[file.name, file.size, file.sha256] for file in tables.files]
    packages = ["relstudy", "numpy", "scipy", "pandas", "scikit-learn", "cvxpy", "matplotlib"]
    items = [
        ("Python", ".".join(map(str, sys.version_info[:3]))),
        *((name, version(name)) for name in packages),
        ("Judgments, fingerprint", str(result.pairs["fingerprint"])),
    ]
    return Section(
        "provenance",
        "Input files and versions",
        [
            Paragraph("The same files, versions and seed give the same page. It was made by"),
            Command(shlex.join(command)),
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
