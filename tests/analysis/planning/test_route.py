"""What plan simulates is what the commands do: the same tables give the same test and the same best set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import relstudy as rs
from relstudy.analysis.indices.index import Index, Needs
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.planning.options import Assumptions, PlanOptions
from relstudy.analysis.planning.power import plan_study
from relstudy.analysis.planning.route import ScoredStudy
from relstudy.analysis.planning.simulated_worlds import Drawing, NormalShape, People, World
from relstudy.analysis.planning.sources import Pilot, assumed_studies, piloted_studies
from relstudy.analysis.resampling.bootstrap import REPLICATES
from relstudy.analysis.resampling.spread import CORRELATION
from relstudy.api.inputs import study_tables_of
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.runtime.errors import RelstudyError

INDICES = ("pearson", "average_precision", "normalised_rank", "same_query")


def test_probabilities_of_all_queries_together_are_those_of_one_query_after_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collection = NormalShape((0.6, 0.5), items=40).collection(5, np.random.default_rng(2))
    drawing = Drawing(12, 1.5, 0.05)
    together = drawing.probabilities(collection)
    monkeypatch.setattr(Drawing, "_all_at_once", lambda *_: None)
    assert (together == 1).any() and together.tolist() == drawing.probabilities(collection).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("careless", [0.0, 0.25])
def test_the_short_way_says_what_calibrate_and_score_say(careless: float) -> None:
    shape, random = NormalShape((0.6, 0.5, 0.3), items=60), np.random.default_rng(7)
    people = People(raters=8, ratings_each=2, base=30, relevant=0.2, careless=careless, undecided=0.05)
    study = World(shape.collection(40, random), Drawing(12, 0.5, 0.4), people).draw(30, random)
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    found = rs.score(
        study.scores, panel, method="none", measures=[], direction="higher", replicates=200, seed=5,
        primary="average_precision",
    ).result  # fmt: skip
    short = ScoredStudy.of(study, seed=5)
    for name in INDICES:
        compared = short.comparison(index_of(name))
        alone = ScoredStudy.of(study, seed=5, primary=name, asked=[]).comparison(index_of(name))
        assert alone.p_value.tolist() == compared.p_value.tolist()
        beside = [each for each in found.comparisons if each.index == name]
        assert [each.p_value for each in beside] == pytest.approx(compared.p_value.tolist(), abs=1e-12)
    listed = rs.score(
        study.rankings, panel, method="none", measures=["P@5", "nDCG@5"], direction="higher", replicates=200, seed=5,
        primary="P@5",
    ).result  # fmt: skip
    short_listed = ScoredStudy.of(study, seed=5, primary="P@5", asked=[index_of("P@5"), index_of("nDCG@5")])
    for name in ("estimated P@5", "estimated nDCG@5"):
        compared = short_listed.comparison(index_of(name))
        beside = [np.nan if each.p_value is None else each.p_value for each in listed.comparisons if each.index == name]
        assert compared.p_value.tolist() == pytest.approx(beside, abs=1e-12, nan_ok=True)
        if name == "estimated P@5":
            assert np.isfinite(beside).all() and listed.ranks.low.tolist() == compared.ranks.low.tolist()
    ranks = short.comparison(index_of("average_precision")).ranks
    assert found.ranks.low.tolist() == ranks.low.tolist()
    assert found.ranks.high.tolist() == ranks.high.tolist()


def test_judgments_under_other_raters_are_drawn_for_every_index_that_may_see_them() -> None:
    """One that was registered with `draws` ended in an error: its name does not say what it looks at."""
    shape, random = NormalShape((0.6, 0.5), items=40), np.random.default_rng(7)
    people = People(raters=6, ratings_each=2, base=20, relevant=0.3)
    study = World(shape.collection(20, random), Drawing(12, 0.5, 0.4), people).draw(20, random)
    own = Index(
        name="own", term="own", definition="", needs=Needs.RELEVANCE, scale=CORRELATION,
        draws=lambda pairs: pairs.correlation(), each_query=lambda pairs: pairs.correlation_in_each_query(),
    )  # fmt: skip
    for index, drawn in ((own, True), (index_of("pearson"), True), (index_of("same_query"), False)):
        scored = ScoredStudy.of(study, primary="same_query", asked=[index])
        assert scored.comparison(index).p_value[0] > 0
        assert scored.context.raters is not None
        assert (scored.context.raters.drawn.judgment.size > 0) == drawn


@pytest.mark.slow
def test_a_hand_out_that_looks_uneven_by_chance_is_calibrated_as_calibrate_does() -> None:
    """One study in a thousand, which plan pooled all the same: of 1,200 simulated both ways, one had another p."""
    assumed = Assumptions(
        (0.6, 0.35), base=20, results=10, candidates=80, exponent=0.5, floor=0.4, relevant_share=0.3
    )  # fmt: skip
    source, random = assumed_studies(assumed, raters=15)[0], np.random.default_rng([660_100, 1, 94])
    study = source.world(30, random).draw(30, random)
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    assert panel.calibration.choice.method == "shrunk"
    found = rs.score(
        study.scores, panel, method="none", measures=[], direction="higher", replicates=200, seed=94
    ).result.comparisons[0]  # fmt: skip
    assert source.answer(study, index_of("pearson"), None, 94).p_value == pytest.approx(found.p_value, abs=1e-12)


@pytest.mark.slow
def test_a_pilot_taken_as_it_is_says_what_score_says_of_it() -> None:
    shape, random = NormalShape((0.7, 0.5), items=40), np.random.default_rng(9)
    study = World(shape.collection(30, random), Drawing(12, 0.5, 0.4), People(raters=5, base=10, relevant=0.3)).draw(
        30, random
    )
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    found = rs.score(
        study.scores, panel, method="none", measures=[], replicates=200, raters="these", population="open"
    ).result  # fmt: skip
    source = piloted_studies(Pilot(StudyTables(panel.calibration.judgments), study.scores))
    assert source.decides == found.primary.name == "same_query"
    whole = source.of_queries(np.arange(30))
    for name in INDICES:
        compared = whole.comparison(index_of(name), 0)
        beside = next(each for each in found.comparisons if each.index == name)
        assert compared.better[0] == pytest.approx(index_of(name).sign * (beside.difference.value or np.nan), abs=1e-12)
        assert compared.p_value[0] == pytest.approx(beside.p_value, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("collection", [30, 60])
def test_a_pilots_raters_vary_as_score_has_them_and_in_proportion_to_the_queries(collection: int) -> None:
    """They counted as they were, whatever score made of them: 255 queries beside the verdict's 414 in the demo. Of
    queries drawn from a finite collection, raters' part was for these, and queries' for any like them."""
    shape, random = NormalShape((0.7, 0.5), items=40), np.random.default_rng(9)
    people = People(raters=6, base=10, relevant=0.3, leniency=0.8)
    study = World(shape.collection(collection, random), Drawing(12, 0.5, 0.4), people).draw(30, random)
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    found = rs.score(study.scores, panel, method="none", measures=[], population="open").result
    for name in INDICES:
        source = piloted_studies(Pilot(study_tables_of(panel), study.scores), PlanOptions(name))
        assert source.notes[-1] == "studies are of any raters like these 6, in proportion to the queries"
        beside = next(each for each in found.comparisons if each.index == name)
        low, high = beside.difference.ends or (np.nan, np.nan)
        error = (high - low) / 2 / stats.t.ppf(0.975, beside.freedom)
        whole = source.of_queries(np.arange(30)).comparison(index_of(name), 0, REPLICATES)
        assert whole.error[0] == pytest.approx(error, rel=1e-9)
        alone = replace(source, raters={})
        twice = np.tile(np.arange(30), 2)
        widening = whole.error[0] / alone.of_queries(np.arange(30)).comparison(index_of(name), 0, REPLICATES).error[0]
        again = source.of_queries(twice).comparison(index_of(name), 0, REPLICATES).error[0]
        # 60 queries with 12 raters: both parts of the variance are half as large, but for other draws of queries
        assert again / alone.of_queries(twice).comparison(index_of(name), 0, REPLICATES).error[0] == pytest.approx(
            widening, rel=0.1
        )
        moved = {source.of_queries(np.arange(30)).comparison(index_of(name), seed).better[0] for seed in range(3)}
        assert len(moved) == (3 if widening > 1 else 1), "other raters make another difference"


@pytest.mark.slow
def test_a_plan_for_a_measure_is_said_to_be_of_the_pilots_raters_alone() -> None:
    """It was said to be of any raters like these, in proportion to the queries, which no measure varies by."""
    shape, random = NormalShape((0.7, 0.5), items=40), np.random.default_rng(9)
    people = People(raters=6, base=10, relevant=0.3)
    study = World(shape.collection(25, random), Drawing(12, 0.5, 0.4), people).draw(25, random)
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    source = piloted_studies(Pilot(study_tables_of(panel), study.rankings), PlanOptions("P@5"))
    assert source.notes[-1] == "studies are of these raters alone: measures vary by queries alone"


@pytest.mark.slow
def test_a_pilots_verdict_rests_on_what_score_would_have_decide_or_on_what_is_stated() -> None:
    """It was read by the index that is planned for, which is another: 85 of 100 were promised where 30 came true."""
    shape, random = NormalShape((0.7, 0.4), items=40), np.random.default_rng(9)
    study = World(shape.collection(30, random), Drawing(12, 0.5, 0.4), People(raters=5, base=10, relevant=0.3)).draw(
        30, random
    )
    judgments = rs.calibrate(study.ratings, pairs=study.pairs).calibration.judgments
    for primary, named in ((None, "same_query"), ("correlation", "pearson"), ("P@5", "estimated P@5")):
        source = piloted_studies(Pilot(StudyTables(judgments), study.rankings), PlanOptions(primary=primary))
        outcomes = [
            source.outcome(25, index_of("pearson"), primary, seed, np.random.default_rng(seed)) for seed in range(8)
        ]
        assert {each.primary for each in outcomes} == {named}
        if named == "pearson":  # of two systems, the verdict by an index is its test
            assert [each.first for each in outcomes] == [each.p_value < 0.05 for each in outcomes]


@pytest.mark.slow
def test_a_pilot_is_redrawn_with_the_values_that_score_gives_its_queries() -> None:
    shape, random = NormalShape((0.7, 0.4), items=40), np.random.default_rng(9)
    study = World(shape.collection(25, random), Drawing(12, 0.5, 0.4), People(raters=5, base=10)).draw(20, random)
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    judgments = panel.calibration.judgments
    for asked, named, unjudged in (("P@5", "estimated P@5", "auto"), ("condensed nDCG@5", "condensed nDCG@5", "skip")):
        source = piloted_studies(Pilot(StudyTables(judgments), study.rankings), PlanOptions(asked))
        assert source.as_scored(asked).name == named
        whole = rs.score(
            study.rankings, panel, method="none", measures=[named.split()[1]], replicates=20, unjudged=unjudged
        ).result.per_query
        by_system = [whole.loc[whole["system"] == name, named] for name in shape.names]
        np.testing.assert_allclose(source.measured[named], np.stack(by_system), atol=1e-12)
        assert np.isfinite(source.outcome(30, index_of(named), None, 1, np.random.default_rng(2)).p_value)
    with pytest.raises(RelstudyError, match="RR cannot be planned for, as score has no test of it: only a sample"):
        piloted_studies(Pilot(StudyTables(judgments), study.rankings), PlanOptions("RR"))
    with pytest.raises(RelstudyError, match="cannot be compared by RR; score has no test of it: only a sample"):
        plan_study(assumed_studies(Assumptions(results=8, candidates=40))[0], PlanOptions("RR", studies=20), sizes=[6])


@pytest.mark.slow
def test_a_pilots_queries_count_by_their_weights_as_in_score() -> None:
    """Measures counted them alike, and weights that score refuses were taken, or ended in a ValueError."""
    shape, random = NormalShape((0.7, 0.4), items=40), np.random.default_rng(9)
    study = World(shape.collection(30, random), Drawing(12, 0.5, 0.4), People(raters=5, base=10, relevant=0.3)).draw(
        30, random
    )
    frame = rs.calibrate(study.ratings, pairs=study.pairs).judgments
    weights = {name: 1.0 + 9.0 * (k % 3 == 0) for k, name in enumerate(sorted(set(frame["query_id"])))}
    frame = frame.assign(query_weight=frame["query_id"].map(weights))
    asked, words = ["P@5"], {"method": "none", "replicates": 200, "population": "open"}
    found = rs.score(study.rankings, frame, measures=asked, **words).result
    for name in ("pearson", "same_query", "estimated P@5"):
        source = piloted_studies(Pilot(study_tables_of(frame), study.rankings), PlanOptions(name))
        assert any(note.startswith("Queries count by query_weight (the judgments), unequally") for note in source.notes)
        compared = source.of_queries(np.arange(30)).comparison(index_of(name), 0)
        beside = next(each for each in found.comparisons if each.index == name)
        assert compared.better[0] == pytest.approx(index_of(name).sign * (beside.difference.value or np.nan), abs=1e-12)
        assert compared.p_value[0] == pytest.approx(beside.p_value, abs=1e-12)
    for wrong in ("heavy", -1.0):
        with pytest.raises(RelstudyError, match="needs a number above 0 in query_weight, which says what it counts"):
            rs.plan(frame.assign(query_weight=wrong), scores=study.rankings)
