"""Captions of tables for a paper speak of the job at hand."""

from __future__ import annotations

import pandas as pd

import relstudy as rs

QRELS = {f"q{n}": {"x": 1, "y": 0, "z": 0} for n in range(6)}
RUN = {query: {"x": 0.9, "y": 0.5, "z": 0.1 * (n % 3)} for n, query in enumerate(QRELS)}


def test_against_qrels_a_system_is_effective_and_against_people_it_agrees():
    by_qrels = rs.score({"good": RUN}, QRELS, method="none", replicates=20).to_latex()
    people = pd.DataFrame(
        [(query, result, 1.5 + 3 * grade) for query, of in QRELS.items() for result, grade in of.items()],
        columns=["query_id", "result_id", "judgment"],
    )
    by_people = rs.score({"good": RUN}, people, scale="1-5", method="none", replicates=20).to_latex()
    assert "Retrieval effectiveness of each system." in by_qrels and "agrees with people" not in by_qrels
    assert "How well each system agrees with people." in by_people and "effectiveness" not in by_people
