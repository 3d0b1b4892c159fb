"""A judge of answers that favours a model is named, and a fair one is not, however good the models and noisy people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.judges.self_preference import ModelFavour, model_favours
from relstudy.analysis.judges.table import JudgeTable
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.commands import succeeds

MODELS = 4


def study(seed: int, questions: int = 60, lean: float = 0.0, quality: float = 0.0) -> tuple[JudgeTable, pd.DataFrame]:
    """A judge that leans to the third model, and people's judgments: two ratings each, on whole steps."""
    draw = np.random.default_rng(seed)
    rows = [(f"m{m}", f"q{q}", f"{m}-{q}") for q in range(questions) for m in range(MODELS)]
    answers = pd.DataFrame(rows, columns=["system", *PAIR])
    number = len(rows)
    good = np.tile(np.linspace(-quality, quality, MODELS), questions)
    true = 3 + good + np.repeat(draw.normal(0, 0.7, questions), MODELS) + draw.normal(0, 0.8, number)
    people = np.mean([np.clip(np.round(true + draw.normal(0, 0.8, number)), 1, 5) for _ in range(2)], axis=0)
    grades = true + draw.normal(0, 0.6, number) + lean * (answers["system"] == "m2").to_numpy()
    ids = [answers[name].to_numpy(object) for name in PAIR]
    ok = np.full(number, "ok", dtype=object)
    judge = JudgeTable("j", ids[0], ids[1], np.clip(np.round(grades), 1, 5), ok, np.ones(number))
    return judge, answers.assign(judgment=people)


def named(seed: int, **world: float) -> list[ModelFavour]:
    judge, judgments = study(seed, **world)  # type: ignore[arg-type]
    return [each for each in model_favours(judge, judgments, judgments) if each.named]


@pytest.mark.parametrize("quality", [0.0, 0.8])
def test_a_fair_judge_draws_no_remark(quality):
    accused = sum(bool(named(seed, quality=quality)) for seed in range(60))
    assert accused <= 5  # of a rate of .02, more than five of 60 come once in a hundred


def test_a_lean_of_a_step_is_found_and_laid_to_the_model_that_has_it():
    found = [named(seed, lean=1.0, quality=0.5) for seed in range(20)]
    assert sum(any(each.model == "m2" and each.named > 0 for each in one) for one in found) >= 12
    assert not any(each.named > 0 and each.model != "m2" for one in found for each in one)


def test_few_questions_and_judges_without_a_word_say_nothing():
    judge, judgments = study(0, questions=4)
    assert model_favours(judge, judgments, judgments) == []
    judge, judgments = study(0)
    silent = JudgeTable("j", judge.query_id, judge.result_id, np.full(240, 3.0), judge.status, judge.probability)
    assert model_favours(silent, judgments, judgments) == []


def test_the_command_names_the_model(tmp_path: Path):
    judge, judgments = study(3, lean=1.2)
    folder = tmp_path / "study"
    (folder / "judges").mkdir(parents=True)
    judgments[["system", *PAIR]].assign(place=1).to_csv(folder / "answers.csv", index=False)
    judgments[[*PAIR, "judgment"]].to_csv(folder / "judgments.csv", index=False)
    table = pd.DataFrame({"query_id": judge.query_id, "result_id": judge.result_id, "rating": judge.rating})
    table.assign(status="ok").to_csv(folder / "judges" / "j.csv", index=False)
    done = succeeds("judge-check", folder, "--judge", "j")
    assert "j favours m2: its grades of answers that people judged the same are higher by" in done.output
