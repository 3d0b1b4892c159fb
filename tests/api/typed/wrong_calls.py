"""Calls that a type checker refuses, each on a line that says so; test_typed_calls.py runs mypy on it, nothing else."""

from typing import TYPE_CHECKING

import relstudy as rs

if TYPE_CHECKING:  # nothing runs
    rs.score("a.run", "j.csv", method="zscores")  # refused
    rs.score("a.run", "j.csv", folds="ten")  # refused
    rs.score("a.run", "j.csv", metod="isotonic")  # refused
    rs.score("a.run", "j.csv", direction="up")  # refused
    rs.score("a.run", "j.csv", direction={"bm25": "up"})  # refused
    rs.score("a.run", "j.csv", raters="all")  # refused
    rs.score("a.run", "j.csv", allow_low_coverage="yes")  # refused
    rs.score(3, "j.csv")  # refused
    rs.ScoringOptions(weights="heavy")  # refused
    rs.calibrate("ratings.csv", method="isotonic")  # refused
    rs.calibrate("ratings.csv", handed_out="by topic")  # refused
    rs.calibrate("ratings.csv", fources=True)  # refused
    rs.calibrate_by("ratings.csv", "scale", method="best")  # refused
    rs.read_ratings("ratings.csv", trust_rater=True)  # refused
    rs.read_ratings("ratings.csv", columns="worker=rater_id")  # refused
    rs.read_ratings("ratings.csv", values={"no": "0"})  # refused
    rs.calibrate("ratings.csv", scale=5)  # refused
    rs.calibrate_by("ratings.csv", "scale", missing=["NA", None])  # refused
    rs.calibrate("ratings.csv", items=3)  # refused
    rs.calibrate("ratings.csv", gains={"exact": 1})  # refused
    rs.fit("scores.csv", "j.csv", colums={"q": "query_id"})  # refused
    rs.fit("scores.csv", "j.csv", similarity="cosin")  # refused
    rs.fit_by("scores.csv", "j.csv", "part", where=3)  # refused
    rs.score("a.run", "j.csv", gains=["exact"])  # refused
    rs.score("a.run", "j.csv", query_vectors=3)  # refused
    rs.plan("pilot.csv", values=["no"])  # refused
    rs.fit("scores.csv", "j.csv", method="none")  # refused
    rs.fit("scores.csv", "j.csv", weights="rank-power")  # refused
    rs.fit_by("scores.csv", "j.csv", "part", folds=2.5)  # refused
    rs.plan(power="high")  # refused
    rs.plan(query_spread=0.2)  # refused
    rs.join({"a": "a.csv", "b": "b.csv"}, method="isotonic")  # refused
    rs.judge("judge.csv", "j.csv", level=0.9)  # refused
    rs.sample("study", querys=3)  # refused
    rs.sample("study", one_from_each=1.5)  # refused
    counts = rs.hashing.CountTable.load("counts.npz")
    rs.hashing.evaluate(counts, denominator="all")  # refused
    rs.hashing.evaluate(counts, empty_bal="skip")  # refused
    rs.hashing.compare({"itq": counts}, no_hit="leave")  # refused
