"""Figures do not depend on the units of scores or weights, nor on what a library can hold of a number."""

from __future__ import annotations

import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.scoring.options import ScoringOptions
from tests.commands import succeeds
from tests.places import ROOT

EXAMPLE = ROOT / "data" / "example"


def test_pairs_whose_weights_span_thirteen_powers_of_ten_are_compared(capsys):
    """Two systems kept different queries: a query was dropped by the size of its weights."""
    scores = [EXAMPLE / "scores" / f"{name}.csv" for name in ("gift", "keywords")]
    done = succeeds("score", *scores, "-j", EXAMPLE / "judgments.csv", "--weights", "rank-power", "--replicates", 50)

    assert "No verdict with --weights rank-power" in done.output
    assert "Use " not in done.output and "If you need one" not in done.output


def _table(panel, factor: float, **options) -> pd.DataFrame:
    scores = pd.read_csv(EXAMPLE / "scores" / "gift.csv").assign(system="gift")
    scores["score"] *= factor
    result = rs.score(scores, panel, options=ScoringOptions(replicates=60, method="none", **options))
    return result.table.select_dtypes("number")


@pytest.mark.slow
@pytest.mark.parametrize("factor", [2.0**-300, 2.0**-100, 2.0**40, 2.0**300])
def test_scores_in_other_units_have_the_same_figures_and_intervals(factor):
    """Powers of two, so that no digit of a score changes; 1e-100 narrowed the intervals of r."""
    panel = rs.calibrate(EXAMPLE / "ratings.csv", pairs=EXAMPLE / "pairs.csv")
    pd.testing.assert_frame_equal(_table(panel, factor), _table(panel, 1.0), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [2.0**-900, 2.0**-100, 2.0**340, 2.0**900])
def test_weights_of_queries_in_other_units_have_the_same_figures_and_intervals(factor):
    """Weights of 1e-103 or 1e103 lost three figures, those of 1e270 six, without a word."""
    judgments = pd.read_csv(EXAMPLE / "judgments.csv")
    worth = judgments["query_id"].rank(method="dense").mod(6).rpow(2.0)
    scores = pd.concat([pd.read_csv(EXAMPLE / "scores" / f"{n}.csv").assign(system=n) for n in ("gift", "keywords")])

    def scored(unit: float):
        return rs.score(scores, judgments.assign(query_weight=worth * unit), replicates=60, method="none")

    one, other = scored(1.0), scored(factor)
    assert one.verdict.headline == other.verdict.headline
    for part in ("table", "comparisons"):
        frames = [getattr(each, part).select_dtypes("number") for each in (one, other)]
        pd.testing.assert_frame_equal(*frames, rtol=1e-9)


def _run(tmp_path, name: str, base: float, gap: float) -> list[str]:
    """Twenty queries, the relevant result first of ten; the last ranks the relevant results by chance."""
    return [f"q{q} Q0 d{k} {k + 1} {base + (10 - k) * gap!r} {name}" for q in range(20) for k in range(10)]


def test_large_scores_that_are_close_are_ranked_as_they_are_and_trec_evals_own_figure_is_named(tmp_path):
    """Seconds since 1970 are ties in single precision, in which trec_eval keeps scores: nDCG@10 .301 for 1."""
    (tmp_path / "time.run").write_text("\n".join(_run(tmp_path, "time", 1.7e9, 1.0)) + "\n")
    (tmp_path / "small.run").write_text("\n".join(_run(tmp_path, "small", 0.0, 1.0)) + "\n")
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 d0 1\n" for q in range(20)))

    runs = [tmp_path / "time.run", tmp_path / "small.run"]
    done = succeeds("score", *runs, "-j", tmp_path / "qrels", "--measure", "nDCG@10", "--verbose")

    assert "time has scores that differ by less than single precision holds" in " ".join(done.output.split())
    named = {name: tmp_path / f"{name}.run" for name in ("time", "small")}
    values = rs.score(named, tmp_path / "qrels", measures=["nDCG@10"]).table["nDCG@10"]
    assert values.tolist() == pytest.approx([1.0, 1.0])


def test_condensed_measures_leave_out_what_a_run_did_not_retrieve(tmp_path):
    """Unretrieved results were ranked just below the last, a difference that single precision does not hold."""
    judged = [(f"q{q}", f"d{k}", 5 if k < 2 else 1) for q in range(8) for k in range(6)]
    judgments = pd.DataFrame(judged, columns=["query_id", "result_id", "judgment"])
    # each query: one relevant result retrieved, at place 1; the other relevant one is not retrieved
    rows = [
        f"q{q} Q0 {result} {place} {9 - place} run" for q in range(8) for place, result in enumerate(("d0", "d3"), 1)
    ]
    (tmp_path / "a.run").write_text("\n".join(rows) + "\n")

    table = rs.score(tmp_path / "a.run", judgments, measures=["P@4", "P@1"], scale="1-5", replicates=50).table

    assert table["condensed P@1"].tolist() == [1.0]
    assert table["condensed P@4"].tolist() == [0.25]


def test_a_frame_that_lost_its_raters_says_so():
    """Its intervals hold for these raters alone: narrower or wider than those of the panel, without a word."""
    panel = rs.calibrate(EXAMPLE / "ratings.csv", pairs=EXAMPLE / "pairs.csv")
    scores = EXAMPLE / "scores" / "gift.csv"

    frame = rs.score(scores, panel.judgments, replicates=50, method="none")
    whole = rs.score(scores, panel, replicates=50, method="none")

    assert any("who gave which rating" in note for note in frame.notes)
    assert not any("who gave which rating" in note for note in whole.notes)
