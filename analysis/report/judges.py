"""The report's section on automatic judges: people alone beside people with each judge's help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from relstudy.analysis.indices.precision_recall import RELEVANT, at_share
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.judges.agreement import explained
from relstudy.analysis.judges.estimator import Assisted
from relstudy.analysis.judges.indices import assisted_indices
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import AssistedScores, assist_scores
from relstudy.analysis.judges.study import JudgedStudy, human_study, judged_study
from relstudy.analysis.report.layout import Block, Folded, Heading, Paragraph, Section
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.verdict import by_who_judges, verdict_of
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import whole_files
from relstudy.common.runtime.wording import count_of, percent, span

AT_SHARE = {
    RELEVANT: "Relevant share",
    at_share("precision", 0.2): "Precision at 20 %",
    at_share("recall", 0.2): "Recall at 20 %",
}
NOTHING = 0.99
"""A mean ratio of widths above this is not a gain."""


def judges_section(folder: Path, judgments: Judgments, result: ScoreResult) -> Section | None:
    """The gain by each judge of the study in `folder`, or the reason why there is none; None if there are no judges.

    Parameters
    ----------
    result : the run of people alone, with a system's figures by its name
    """
    files = whole_files(folder / "judges", "*.csv")
    if not files:
        return None
    human = human_study(folder, judgments)
    blocks: list[Block] = [
        Paragraph(
            "An automatic judge graded many more pairs than people did. It is used only in this section, where it "
            "narrows the intervals of people's figures without biasing the estimates."
        )
    ]
    plain = replace(result.options, method="none", measures=())
    for file in files:
        blocks.append(Heading(f"Judge {file.stem}"))
        try:
            study = judged_study(human, file, plain)
            blocks += _blocks_of(study, plain, result)
        except RelstudyError as error:
            blocks.append(Paragraph(f"It adds nothing: {error}."))
    return Section("judges", "With an automatic judge", blocks)


def _blocks_of(study: JudgedStudy, options: ScoringOptions, result: ScoreResult) -> list[Block]:
    numbers = study.judge.as_json()
    universe = Universe.of(study.pairs, study.judge, options)
    squared = explained(universe)["r_squared"]
    blocks: list[Block] = [
        Paragraph(
            f"{_explains(squared)} It gave {count_of(numbers['answered'], 'answer')} for "
            f"{count_of(numbers['rows'], 'pair')} of {count_of(numbers['queries'], 'query', 'queries')}."
        )
    ]
    if not study.candidates:
        return [*blocks, *_said(study.notes)]
    indices = {*titles(), result.primary.name}
    assisted = assist_scores(universe, study.candidates, study.scores, indices)
    figures = [_table(assisted), *_said((*study.notes, *assisted.notes))]
    ratios = [each.width_ratio for figures in assisted.systems.values() for each in figures.values()]
    return [
        Paragraph(gain(ratios, len(study.pairs))),
        *(Paragraph(sentence) for sentence in _verdicts(assisted, result)),
        Folded("Every figure, with and without its help", [*blocks, *figures]),
    ]


def _verdicts(assisted: AssistedScores, result: ScoreResult) -> list[str]:
    """The verdict of people alone, with the judge's help, and of the judge alone."""
    if len(assisted.systems) < 2:
        return []
    helped = {who: verdict_of(each) for who, each in assisted.decided(result).items()}
    return by_who_judges({"people alone": verdict_of(result), **helped}, result.primary)


def titles() -> dict[str, str]:
    """Titles of indices in the table, by name: precision and recall, and the indices of relevance."""
    return AT_SHARE | {index.name: index.title for index in assisted_indices() if not index.of_judgments}


def _said(notes: Sequence[str]) -> list[Block]:
    return [Paragraph(" ".join(notes), quiet=True)] if notes else []


def gain(ratios: Sequence[float | None], judged: int) -> str:
    """By how much intervals are shorter, and what that is worth.

    Parameters
    ----------
    ratios : width of each interval with the judge over that of people alone
    judged : pairs that people judged

    Examples
    --------
    >>> gain([0.4, 0.6, None], 100)[:95]
    'With its help intervals are 50 % shorter on average, as about 300 more judged pairs would make '
    >>> gain([0.995, 1.0], 100)
    "It does not shorten intervals noticeably: people's judgments alone count."
    """
    defined = [ratio for ratio in ratios if ratio is not None]
    if not defined or (width := sum(defined) / len(defined)) > NOTHING:
        return "It does not shorten intervals noticeably: people's judgments alone count."
    more = round(judged * (width**-2 - 1))
    return (
        f"With its help intervals are {percent(1 - width)} shorter on average, as about {more:,} more judged pairs "
        f"would make them; people judged {judged:,}."
    )


def _ends(estimate: Estimate) -> tuple[float, ...]:
    """Value and ends, to the digits that sums in another order share."""
    return tuple(-1.0 if each is None else round(each, 9) for each in (estimate.value, estimate.low, estimate.high))


def _explains(squared: Estimate) -> str:
    if squared.value is None:
        return f"What it explains of people's judgments is not known ({squared.reason})."
    ends = "" if squared.low is None else f"; {span(squared.low, squared.high, '.2f')}"
    share = "nothing" if squared.value <= 0 else f"{percent(squared.value)}"
    return f"Its grades explain {share} of the variance of people's judgments (R² {squared.value:.2f}{ends})."


def _table(assisted: AssistedScores) -> Table:
    by_system = [(system, titles(), figures) for system, figures in assisted.systems.items()]
    shares = [_ends(figures[RELEVANT].estimate) for _, _, figures in by_system]
    if len(shares) > 1 and len(set(shares)) == 1:
        # it is of the pairs, and each system has the same
        others = {index: name for index, name in titles().items() if index != RELEVANT}
        share_alone = ("all", {RELEVANT: AT_SHARE[RELEVANT]}, by_system[0][2])
        by_system = [share_alone, *((system, others, figures) for system, _, figures in by_system)]
    names = dict.fromkeys(reversed([index for _, indices, _ in by_system for index in indices]))
    rows: list[list[Cell]] = [
        [system, indices[index], *_as_shown(index, figures[index]), figures[index].width_ratio]
        for index in names
        for system, indices, figures in by_system
        if index in indices
    ]
    return Table(
        f"judge-{assisted.judge.name}",
        "People alone, and with the judge's help.",
        [
            Column("System"),
            Column("Index"),
            Column("People alone"),
            Column("With the judge"),
            Column("Width"),
        ],
        rows,
        note="Width: of the interval with the judge against that of people alone. Shares are of the judge's pairs.",
        shown=2 * len(assisted.systems),
    )


def _as_shown(name: str, figure: Assisted) -> list[Estimate]:
    """People alone, and with the judge's help, as readers see them."""
    both = [figure.people, figure.estimate]
    return both if name in AT_SHARE else [index_of(name).shown(each) for each in both]
