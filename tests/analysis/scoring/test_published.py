"""Correlations that others published, from their data through our readers and our scoring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.scoring.mapped_scores import map_scores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.mapping.scores.score_files import read_scores

# README of the data, (a): against tifa_human_avg; Pearson / Kendall tau-b, six digits
TIFA = {
    "meteor": ".339659/.274076",
    "bleu": ".183340/.187910",
    "rouge": ".328889/.244858",
    "spice": ".328053/.231758",
    "clipscore_vitb32": ".331818/.231446",
    "tifa_vilt": ".493225/.382409",
    "tifa_git-large": ".544501/.425508",
    "tifa_ofa-large": ".496147/.372478",
    "tifa_blip2-flant5xl": ".558983/.435997",
    "tifa_mplug-large": ".596720/.471716",
}
# (b): against the mean of ratings.csv; Spearman / Kendall tau-b, three digits
DSG = {
    "vq2a|mplug-large": ".212/.164",
    "dsg|mplug-large": ".463/.380",
    "dsg without dependency|mplug-large": ".464/.378",
    "vq2a|instruct-blip": ".426/.352",
    "dsg|instruct-blip": ".442/.364",
    "dsg without dependency|instruct-blip": ".436/.355",
    "vq2a|pali-17b": ".207/.157",
    "dsg|pali-17b": ".571/.458",
    "dsg without dependency|pali-17b": ".570/.457",
}
QUICK = ScoringOptions(replicates=20)


@pytest.mark.real_data
def test_tifas_twenty_published_correlations_are_reproduced_to_six_digits(shared_data: Path) -> None:
    file = shared_data / "tifa160_likert" / "system_scores_tifa_release.csv"
    human = pd.read_csv(file, dtype={"query_id": str, "result_id": str})
    judgments = human[["query_id", "result_id"]].assign(judgment=human["tifa_human_avg"])
    result = score_systems(judgments, read_scores(file, leave_out=["tifa_human_avg"]), options=QUICK)
    figures = {
        s.name: f"{s.raw.pearson.value:.6f}/{s.raw.kendall.value:.6f}".replace("0.", ".") for s in result.systems
    }
    assert figures == TIFA


@pytest.mark.real_data
def test_dsgs_eighteen_published_correlations_are_reproduced_to_three_digits(shared_data: Path) -> None:
    folder = shared_data / "tifa160_likert"
    judgments = read_judgments(folder / "ratings.csv")
    result = score_systems(judgments, read_scores(folder / "system_scores_dsg_release.csv"), options=QUICK)
    figures = {
        s.name: f"{s.raw.spearman.value:.3f}/{s.raw.kendall.value:.3f}".replace("0.", ".") for s in result.systems
    }
    assert figures == DSG


@pytest.mark.real_data
def test_out_of_fold_isotonic_correlation_is_near_4093_on_average_and_in_sample_near_4509(shared_data: Path) -> None:
    from relstudy.analysis.scoring.candidate import candidate_of
    from relstudy.analysis.scoring.judged_pairs import JudgedPairs
    from relstudy.analysis.scoring.run import score_candidates

    folder = shared_data / "tifa160_likert"
    judgments = read_judgments(folder / "ratings.csv")
    pairs = JudgedPairs.of(judgments)
    tables = [
        read_scores(folder / "system_scores_tifa_release.csv", leave_out=["tifa_human_avg"]).frame,
        read_scores(folder / "system_scores_dsg_release.csv").frame,
    ]
    rows = pd.concat(tables)
    candidates = [
        map_scores(pairs, candidate_of(pairs, str(name), group, QUICK)) for name, group in rows.groupby("system")
    ]
    result = score_candidates(pairs, candidates, QUICK)
    assert len(result.systems) == 19
    held_out = np.mean([system.mapped.pearson.value for system in result.systems])
    in_sample = np.mean([system.in_sample.pearson.value for system in result.systems if system.in_sample is not None])
    # folds are drawn by seed; over seeds the mean of 19 moves by about .002
    assert held_out == pytest.approx(0.4093, abs=0.006)
    assert in_sample == pytest.approx(0.4509, abs=0.0005)
