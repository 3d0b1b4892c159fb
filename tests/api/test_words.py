"""What is said in Python names arguments, whenever it is worked out; what a command says names its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.options.option_wording import called_in_python, option
from relstudy.common.results.result import Result
from tests.places import ROOT

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
FROM_PYTHON = ("analysis", "calibration", "mapping", "relstudy/common", "relstudy/api", "studyapp/sampling")
"""Folders whose sentences a function of relstudy may say."""
OF_COMMANDS = {
    "relstudy/common/options/option_wording.py": "makes the words of both",
    "mapping/scores/stated_directions.py": "the texts of --direction are of commands alone",
    "analysis/report": "a page, which a command wrote",
    "relstudy/common/tables/formats/overwriting.py": "declares the option of commands",
    "analysis/inspection": "says the command to run next",
    "analysis/hashing/inspected.py": "says the command to run next",
    "studyapp/sampling/judge_round.py": "of rounds that relstudy sample draws",
    "analysis/hashing/encoders/deep/items.py": "folders of pictures are of commands alone",
}
"""Where an option may be named, and why."""
PAIRS = {"query_id": list("aabbccdd"), "result_id": list("stuvwxyz")}


def sentences(file: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings, a text with values in it as its parts."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("option", "either"):
            said |= {id(each) for each in ast.walk(node)}
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


@pytest.mark.slow
def test_no_sentence_that_python_may_say_names_an_option_of_a_command_alone() -> None:
    found = []
    for folder in FROM_PYTHON:
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if "command" in name or name.endswith("/options.py") or any(name.startswith(each) for each in OF_COMMANDS):
                continue
            for line, text in sentences(file):
                without_commands = re.sub(r"relstudy [a-z][^.;`]*", "", text)
                found += [f"{name}:{line}: {text}" for _ in OPTION.findall(without_commands)]
    assert found == []


def test_every_exception_is_needed() -> None:
    for name in OF_COMMANDS:
        files = [ROOT / name] if name.endswith(".py") else sorted((ROOT / name).rglob("*.py"))
        assert any(OPTION.search(text) for file in files for _, text in sentences(file)), name


def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Ratings, judgments and scores of a small study that leaves much to be said."""
    random = np.random.default_rng(1)
    ratings = pd.DataFrame(
        [
            {"rater_id": rater, "query_id": f"q{pair % 6}", "result_id": f"r{pair}", "rating": random.integers(1, 6)}
            for rater in "abcd"
            for pair in range(24)
            if (pair + ord(rater)) % 3
        ]
    )
    judgments = pd.DataFrame({**PAIRS, "judgment": [5, 1, 4, 2, 3, 3, 1, 5]})
    return ratings, judgments, pd.DataFrame({**PAIRS, "new": [9, 1, 2, 8, 3, 4, 0, 5.0], "old": range(8)})


def results() -> dict[str, Callable[[], Any]]:
    ratings, judgments, scores = tables()
    codes = np.array([[0, 0], [0, 1], [1, 1]])
    labels = ["a", "b", "a"]
    items = pd.DataFrame({"item_id": list("abcdef"), "text": "words", "keywords": ["sky", "sea"] * 3})
    return {
        "calibrate": lambda: rs.calibrate(ratings),
        "calibrate_by": lambda: rs.calibrate_by(ratings.assign(part="one"), "part"),
        "fit": lambda: rs.fit(scores, judgments, method="isotonic"),
        "score": lambda: rs.score(scores, judgments, replicates=20),
        "judge": lambda: rs.judge(judgments.rename(columns={"judgment": "rating"}), judgments, replicates=20),
        "plan": lambda: rs.plan(correlations=(0.9, 0.1), results=8, studies=20),
        "sample": lambda: rs.sample(items, ["keywords"], queries=3, results=2, base=2),
        "evaluate": lambda: rs.hashing.evaluate(rs.hashing.count(codes, codes, labels, labels)),
    }


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "plan" else name for name in results()]
)
def test_no_result_names_an_option_of_a_command(name: str) -> None:
    result = results()[name]()
    said = [*result.remarks(), *getattr(result, "notes", ()), str(result), str(result.summary())]
    assert [text for text in said if OPTION.search(re.sub(r"relstudy [a-z][^.;`]*", "", text))] == []


def test_what_a_result_works_out_when_somebody_looks_names_arguments() -> None:
    class Late(Result):
        @property
        def table(self) -> pd.DataFrame:
            return pd.DataFrame({"said": [option("pairs")]})

        def heading(self) -> str:
            return option("pairs", "pairs.csv")

    assert Late().heading() == "pairs='pairs.csv'"
    assert Late().table["said"].tolist() == ["pairs"]
    assert option("pairs") == "--pairs"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda folder: rs.hashing.read_codes(folder / "codes.npy"), "form='packed'"),
        (lambda folder: rs.hashing.read_codes(folder / "codes.txt", code_bits=5), "not of the 5 of code_bits"),
    ],
)
def test_errors_of_hashing_name_arguments(call: Callable[[Path], Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "codes.txt").write_text("0101\n0111\n")
    np.save(tmp_path / "codes.npy", np.tile(np.array([0, 255], dtype="u1"), (200, 40)))
    with pytest.raises(rs.RelstudyError) as caught:
        call(tmp_path)
    assert said in str(caught.value) and not OPTION.search(str(caught.value))


def test_a_function_of_hashing_is_pickled_by_its_public_name() -> None:
    assert rs.hashing.read_codes.__module__ == "relstudy.analysis.hashing.api"
    assert called_in_python(option)("bits", 8) == "bits=8"
