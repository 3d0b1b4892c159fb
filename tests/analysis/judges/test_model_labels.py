"""How many questions people have to judge beside a judge of answers: intervals that hold, and numbers that suffice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from relstudy.analysis.judges.model_labels import ModelLabels, model_labels
from relstudy.analysis.judges.table import JudgeTable
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.commands import succeeds

ROWS = [(model, f"q{q}", f"{model}{q}") for q in range(300) for model in ("x", "y")]
ANSWERS = pd.DataFrame(ROWS, columns=["system", *PAIR])
MATTERS = 0.4


def study(seed: int, judged: int, gap: float = MATTERS) -> tuple[JudgeTable, pd.DataFrame]:
    """People judge some questions of 300 in whole steps; a judge that leans by half a step to y grades all."""
    draw, is_x = np.random.default_rng(seed), (ANSWERS["system"] == "x").to_numpy()
    true = 3 + np.repeat(draw.normal(0, 0.6, 300), 2) + draw.standard_t(5, 600) * 0.6 + gap * is_x
    people = np.round(true + draw.normal(0, 0.3, 600))
    grades = np.round(0.7 * true + draw.normal(0, 0.4, 600) + 0.5 * ~is_x)
    ids = [ANSWERS[name].to_numpy(object) for name in PAIR]
    judge = JudgeTable("j", *ids, grades, np.full(600, "ok", dtype=object), np.ones(600))
    return judge, ANSWERS.assign(judgment=people)[: 2 * judged]


def found(seed: int, judged: int, gap: float = MATTERS) -> tuple[float, ModelLabels]:
    """The difference with the judge's help, of x from y whichever is ahead, and all that is found."""
    each = model_labels(*study(seed, judged, gap), ANSWERS, MATTERS)[0]
    sign = 1 if each.first == "x" else -1
    return sign * (each.helped.value or 0.0), each


@pytest.mark.slow
def test_what_the_judge_gets_wrong_shifts_nothing_and_the_numbers_suffice():
    """Of 150 studies: the share of intervals that hold the truth, and of those with so many questions that find it."""
    helped = [found(seed, 60) for seed in range(150)]
    holds = [abs(value - MATTERS) <= ((each.helped.high or 0) - (each.helped.low or 0)) / 2 for value, each in helped]
    assert stats.binomtest(sum(holds), 150, 0.95).pvalue > 0.001
    assert np.mean([value for value, _ in helped]) == pytest.approx(MATTERS, abs=4 * 0.1 / np.sqrt(150))
    narrower = [(h.helped.high - h.helped.low) / (h.alone.high - h.alone.low) for _, h in helped]
    assert np.median(narrower) < 0.9
    alone, beside = (
        int(np.median([getattr(each, name) for _, each in helped])) for name in ("needed", "needed_helped")
    )
    assert beside < 0.8 * alone
    tries = [found(1_000 + seed, beside)[1] for seed in range(120)]
    power = np.mean([(each.helped.low or 0) > 0 and each.first == "x" for each in tries])
    assert power == pytest.approx(0.8, abs=0.11)  # three standard errors of 120 studies


def test_too_few_grades_or_questions_are_said():
    judge, judgments = study(0, 40)
    assert model_labels(judge, judgments[:14], ANSWERS, MATTERS) == []
    silent = JudgeTable("j", judge.query_id, judge.result_id, np.full(600, 3.0), judge.status, judge.probability)
    each = model_labels(silent, judgments, ANSWERS, MATTERS)[0]
    assert each.needed_helped == each.needed and each.helped.value == each.alone.value, "it says nothing"
    rarely = model_labels(judge, judgments, ANSWERS, 0.02)[0]
    assert rarely.needed_helped is None and "grade more questions" in rarely.sentence()


def test_the_command_says_it_for_the_stated_difference(tmp_path: Path):
    judge, judgments = study(1, 60)
    (tmp_path / "judges").mkdir()
    ANSWERS.assign(place=1).to_csv(tmp_path / "answers.csv", index=False)
    judgments[[*PAIR, "judgment"]].to_csv(tmp_path / "judgments.csv", index=False)
    table = pd.DataFrame({"query_id": judge.query_id, "result_id": judge.result_id, "rating": judge.rating})
    table.assign(status="ok").to_csv(tmp_path / "judges" / "j.csv", index=False)
    assert "To find a difference of 0." in succeeds("judge-check", tmp_path, "--judge", "j").output
    (tmp_path / "study.toml").write_text("[analysis]\nmatters = 0.3\n")
    done = succeeds("judge-check", tmp_path, "--judge", "j")
    each = json.loads(succeeds("judge-check", tmp_path, "--judge", "j", "--json").stdout)["labels"][0]
    assert each["matters"] == 0.3 and each["needed_helped"] < each["needed"]
    said = f"people have to judge {each['needed']} questions alone, {each['needed_helped']} beside these grades."
    assert f"To find a difference of 0.3 with power 0.8 {said}" in done.output
