"""Studies of any size and shape: one answer to one question, no traceback, no sentence that its figures contradict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.commands.score_output import MOST_LINES, Brief
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.verdict.verdict import Verdict, verdict_of

OPTIONS = ScoringOptions(replicates=40, measures=(), low_coverage=True, method="none", directions={"*": "higher"})
SHAPES: dict[str, dict[str, Any]] = {
    "two systems": {"systems": 2},
    "three queries": {"queries": 3, "results": 12},
    "one query": {"queries": 1, "results": 40},
    "a system under two names": {"twins": True},
    "a constant system": {"constant": True},
    "two systems, one constant": {"systems": 2, "constant": True},
    "missing scores": {"systems": 4, "missing": 0.3},
    "no query in common": {"systems": 2, "disjoint": True},
    "binary ratings": {"binary": True},
    "ties": {"systems": 6, "rounded": True},
    "strange names": {"names": ["a. b: c", 'x, y and "z" <b>', "1= {s}"]},
    "everything is poor": {"judgment": 1.0},
    "no probabilities": {"drawn": False},
    "forty systems": {"systems": 40, "results": 5},
}


def made(
    seed: int, queries: int = 24, results: int = 8, systems: int = 3, *, twins: bool = False, constant: bool = False,
    missing: float = 0.0, disjoint: bool = False, binary: bool = False, rounded: bool = False, drawn: bool = True,
    names: list[str] | None = None, judgment: float | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """Judgments, and scores of systems that follow them less and less."""
    random, number = np.random.default_rng(seed), queries * results
    truth, query = random.normal(size=number), np.repeat(np.arange(queries), results)
    ids = {"query_id": [f"q{each}" for each in query], "result_id": [f"r{k}" for k in range(number)]}
    rated = (truth > 0.8) * 1.0 if binary else np.clip(np.round(3 + truth), 1, 5)
    judgments = pd.DataFrame(ids | {"judgment": rated if judgment is None else judgment})
    if drawn:
        judgments["inclusion_probability"] = 0.5
    tables = []
    for k, name in enumerate(names or [f"s{k}" for k in range(systems)]):
        score = (0.8 - 0.6 * k / max(systems - 1, 1)) * truth + 0.7 * random.normal(size=number)
        if twins and k == 1:
            score = tables[0]["score"].to_numpy()
        if constant and k == systems - 1:
            score = np.zeros(number)
        kept = random.random(number) >= (missing if k % 2 else 0.0)
        kept &= (query % 2 == k % 2) if disjoint else True
        table = pd.DataFrame(ids | {"system": name, "score": np.round(score) if rounded else score})
        tables.append(table[kept])
    return judgments, pd.concat(tables, ignore_index=True)


def contradictions(verdict: Verdict) -> list[str]:
    """What of a verdict does not agree with the rest of it."""
    ranked, found = verdict.standings, []
    best, head = ranked.best, verdict.headline
    for name in ranked.names:
        ends = ranked.ranks(name)
        if ends is None:
            continue
        if not 1 <= ends[0] <= ends[1] <= len(ranked.names):
            found.append(f"rank {ends} of {name}")
        if (ends[0] == 1) != (name in best):
            found.append(f"{name} is of the best set or has a rank from 1, not both")
        if ends[1] == 1 and best != [name]:
            found.append(f"{name} is first, and {best} may be the best")
    if head.startswith("Use ") and best and not all(name in head for name in best[:3]):
        found.append(f"{head!r} does not name {best}")
    if verdict.choice is not None and not verdict.choice.startswith(f"If you must choose now: {best[0]}. "):
        found.append(f"the choice is not {best[0]}")
    if "cannot" in head and verdict.dropped is not None and head.startswith("The "):
        found.append("nothing is compared and something is dropped")
    if any(ranked.ahead(a, b) and ranked.ahead(b, a) for a in ranked.names for b in ranked.names):
        found.append("two systems are ahead of each other")
    said = " ".join(verdict.sentences())
    found += [bad for bad in ("nan", "None", "no interval: ", "  ", "..") if bad in said]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_verdict_does_not_contradict_itself(shape: str, seed: int) -> None:
    judgments, scores = made(seed, **SHAPES[shape])
    result = score_systems(judgments, scores, options=OPTIONS)
    verdict = verdict_of(result)
    assert contradictions(verdict) == []
    brief = Brief.of(result, verdict)
    cut = brief.systems < len(verdict.standings.names)
    assert len(brief.said) + 1 + brief.systems + cut + 1 + len(brief.notes) + 1 <= MOST_LINES


def test_a_system_under_two_names_is_not_better_than_itself() -> None:
    judgments, scores = made(1, twins=True)
    verdict = verdict_of(score_systems(judgments, scores, options=OPTIONS))
    assert verdict.standings.best[:2] == ["s0", "s1"]
    assert not verdict.standings.ahead("s0", "s1") and not verdict.standings.ahead("s1", "s0")
    assert verdict.choice is not None and "as does s1" in verdict.choice
    assert verdict.headline.startswith("Use s0 or s1: the two are the same for practical purposes")


def test_the_order_of_systems_in_a_table_turns_no_word() -> None:
    judgments, scores = made(3, systems=5)
    turned = pd.concat([rows for _, rows in reversed(list(scores.groupby("system")))])
    first, other = (verdict_of(score_systems(judgments, each, options=OPTIONS)) for each in (scores, turned))
    assert first.sentences() == other.sentences()
