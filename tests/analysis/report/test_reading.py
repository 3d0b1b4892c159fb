"""What the page says of its numbers is true of the numbers it shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.report.best_few import measures
from relstudy.analysis.report.reading import reading_graded, reading_indices
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.scoring.judged_pairs import Weighting
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from tests.analysis.report.pages import page_of, run_of


def run(**options: object) -> ScoringRun:
    """Two systems on twelve queries whose probability is known."""
    random = np.random.default_rng(4)
    truth = random.normal(3, 1, 120)
    pairs = {"query_id": np.repeat([f"q{k}" for k in range(12)], 10), "result_id": [f"r{k}" for k in range(120)]}
    judgments = pd.DataFrame(pairs | {"judgment": truth, "inclusion_probability": 0.2, "query_probability": 0.4})
    scores = [
        pd.DataFrame(pairs | {"system": name, "score": truth + spread * random.normal(size=120)})
        for name, spread in (("near", 0.5), ("far", 2.0))
    ]
    chosen = ScoringOptions(replicates=60, method="none", **options)  # type: ignore[arg-type]
    return run_of(judgments, pd.concat(scores), chosen)


def scored(**options: object) -> ScoreResult:
    """The figures of `run`."""
    return run(**options).result


@pytest.mark.slow
@pytest.mark.parametrize(("level", "bar", "often"), [(0.95, "95 %", "19 of 20"), (0.8, "80 %", "80 of 100")])
def test_the_page_names_the_level_of_its_intervals_wherever_it_speaks_of_them(
    level: float, bar: str, often: str
) -> None:
    page = html_of(page_of(run(level=level, measures=())))
    assert f"the bar its {bar} interval" in page and f"Intervals at {bar}" in page
    assert page.count(f"in {often} studies that draw other queries of this collection") == 1
    assert f"Below {1 - level:g} this page speaks of more than chance" in page
    assert level == 0.95 or ("95 %" not in page and "19 of 20" not in page)


def test_an_interval_speaks_of_the_collection_only_where_it_was_made_for_it() -> None:
    assert "other queries of this collection" in str(reading_indices(scored(measures=())))
    opened = str(reading_indices(scored(measures=(), population="open")))
    assert "studies that take other queries like these" in opened and "this collection" not in opened


def test_only_what_is_on_the_page_is_explained() -> None:
    result = scored(measures=())
    assert [term for term, _ in reading_indices(result)][-2:] == ["p", "Weight"]
    alone = replace(result, systems=result.systems[:1], weighting=Weighting.EQUAL)
    assert [term for term, _ in reading_indices(alone)][-1] == "Interval"
    assert "Raw correlation" not in str(reading_indices(alone))


def test_each_graded_measure_is_explained_once_and_unknown_ones_are_left_alone() -> None:
    names = ["AP", "AP(rel=2)", "nDCG@5", "nDCG@10", "P@3", "RR", "APX", "Judged@10"]
    assert [term for term, _ in reading_graded(names)] == ["nDCG@5, nDCG@10", "P@3", "AP, AP(rel=2)", "RR"]
    assert len(list(measures(scored(measures=("Judged@10",))))) == 1
