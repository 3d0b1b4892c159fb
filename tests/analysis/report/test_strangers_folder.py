"""A folder of a stranger's tables, on a slider's scale, has the same figures in `score` and in `report`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import succeeds

OPTIONS = ("--replicates", "40", "--method", "none")


def run(*arguments: object) -> dict:
    done = succeeds(*arguments, "--json")
    content: dict = json.loads(done.stdout)
    return content


@pytest.mark.slow
def test_score_and_report_agree_on_a_sliders_ratings_and_a_run(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    rows, scores, lines = ["rater_id,query_id,result_id,rating"], ["query_id,result_id,mine"], []
    for query in range(8):
        for result in range(8):
            worth = random.uniform(0, 100)
            near = [int(np.clip(worth + random.normal(0, 10), 0, 100)) for _ in range(3)]
            rows += [f"r{rater},q{query},d{result},{rating}" for rater, rating in enumerate(near)]
            scores.append(f"q{query},d{result},{worth + random.normal(0, 30):.3f}")
            lines.append(f"q{query} Q0 d{result} {result + 1} {worth + random.normal(0, 60):.3f} run")
    (tmp_path / "scores").mkdir()
    for name, content in (("slider.csv", rows), ("scores/mine.csv", scores), ("scores/theirs.run", lines)):
        (tmp_path / name).write_text("\n".join(content) + "\n")
    run("calibrate", tmp_path / "slider.csv", "-o", tmp_path, "--scale", "0-100")
    files = sorted((tmp_path / "scores").iterdir())
    scored = run("score", *files, "-j", tmp_path / "judgments.csv", *OPTIONS)
    reported = run("report", tmp_path, *OPTIONS)
    assert set(scored["systems"]) == {"mine", "run"}
    assert reported["systems"] == scored["systems"]
    assert scored["conventions"]["scale"]["name"] == reported["conventions"]["scale"]["name"] == "0-100"
    assert scored["pairs"] == reported["pairs"]
