"""The paper's tables and figures on one page, in the paper's order."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from relstudy.analysis.report.layout import Command, Page, Paragraph, Section
from relstudy.analysis.report.paper import correlations, disputed, figures, indices, people, text_queries
from relstudy.analysis.report.paper.claims import Here, claims_of, claims_table
from relstudy.analysis.report.paper.fits import ALL, STANDARD, fits_of, jobs_of
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.tables import Table

T = TypeVar("T")
Progress = Callable[[Iterable[T], str, int | None], Iterator[T]]


def paper_page(
    study: PaperStudy,
    command: Sequence[str],
    progress: Progress[object],
    methods: Sequence[str] = STANDARD,
    seconds: dict[str, float] | None = None,
) -> Page:
    """Tables 5.1 to 5.10 and figures 2.2, 4.2 to 4.7 and 5.1 to 5.3 of Shirahatti and Barnard 2005, for this study.

    Parameters
    ----------
    command : the command line, without any path of this machine
    progress : wraps the loop over fits, as `relstudy.common.runtime.console.progress`
    methods : of the mappings, names among METHODS
    seconds : the time that the fits of each method took is added to it; the page itself has no time in it
    """
    jobs = jobs_of(study)
    fits = fits_of(study, progress(jobs, "fitting", len(jobs)), methods, seconds)  # type: ignore[arg-type]
    text, text_fits = study.by_text, {}
    if text is not None:
        jobs = [job for job in jobs_of(text) if job[1] == ALL]
        text_fits = fits_of(text, progress(jobs, "fitting queries by text", len(jobs)), methods, seconds)  # type: ignore[arg-type]
    parted = people.by_person(study)
    sections = [
        Section(
            "pairs",
            "Choosing pairs (sections 2.2 and 5.4)",
            [*figures.shaping(study), *people.uniformity(study)],
        ),
        Section(
            "people",
            "Raters and interfaces (sections 5.2 and 5.3)",
            [
                *people.calibration(study),
                *disputed.equal_words(study),
                *disputed.disputed(study),
                *disputed.interfaces(study),
            ],
        ),
        Section(
            "mappings",
            "Mappings (chapter 4)",
            [*figures.mappings(study, fits), *figures.against_judgments(study, fits)],
        ),
        Section(
            "selections",
            "Correlation by selecting system (section 5.5.1)",
            [*correlations.by_selection(study, fits), *correlations.orders(study)],
        ),
        Section(
            "systems",
            "The systems compared (sections 5.5.2 to 5.5.4)",
            [*correlations.at_its_best(study, fits), *indices.curves(study), *indices.normalised_ranks(study)],
        ),
        Section("one-person", "One person's ratings (section 5.6)", people.one_person(study, parted)),
        Section("text", "Queries by text (section 5.7)", text_queries.text_queries(study, fits, text_fits)),
        Section("features", "Low-level features (section 5.8)", indices.features(study)),
        Section(
            "claims",
            "Which of the paper's claims hold",
            claims_table(claims_of(Here(study, fits, text_fits, parted))),
        ),
        Section("provenance", "How this page was made", [Command(shlex.join(command))]),
    ]
    lead = (
        "The tables and figures of Shirahatti and Barnard 2005 for this study, each under its number there. Below "
        "each is what differs from the paper. For reading the study itself, see its report."
    )
    if text is not None:
        lead += " As in the paper, all but table 5.1, figure 5.2 and section 5.7 are of the queries by image alone."
    return Page(study.tables.title, "The paper's tables", [lead], [s for s in sections if s.blocks])


def table_of_claims(page: Page) -> Table:
    """The table that the page ends with: the paper's claims, on its own numbers and here."""
    return next(table for table in page.tables() if table.name == "claims")


def missing(page: Page) -> list[str]:
    """Parts that the page could not show, and their needs: one sentence each."""
    blocks = [block for section in page.sections for block in section.blocks]
    return [block.text for block in blocks if isinstance(block, Paragraph) and " needs " in block.text]
