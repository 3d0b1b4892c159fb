"""Raters as a sample: pairs under other raters against refitted lines, and which raters a figure speaks of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from relstudy.analysis.indices.index import Index, Needs
from relstudy.analysis.indices.pairs import WeightedPairs
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.indices.reweighted import ReweightedPairs
from relstudy.analysis.planning.simulated_worlds import Drawing, NormalShape, People, World
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, RaterReplicates, query_counts
from relstudy.analysis.resampling.spread import SHARE
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.rater_draws import _reweighted, moved_cuts
from relstudy.analysis.scoring.relevance import RelevanceRule
from relstudy.analysis.scoring.scored_pairs import ScoredPairs
from relstudy.api.calibrating import CalibratedPanel, calibrate
from relstudy.api.inputs import study_tables_of
from relstudy.api.scoring import score
from relstudy.calibration.tables.pair_ratings import PairRatings
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds
from tests.simulations import simulation

SINGLE = 1e-5
"""Tables of replicates are kept in single precision."""


def ratings(raters: int = 6, queries: int = 12, seed: int = 1) -> pd.DataFrame:
    """Three ratings per pair by raters with offsets, and a base block."""
    random = np.random.default_rng(seed)
    offset = random.normal(0, 0.5, raters)
    rows = []
    for pair in range(8 * queries):
        quality = random.uniform(1, 5)
        everyone = pair < 8
        for rater in range(raters) if everyone else random.choice(raters, min(3, raters), replace=False):
            value = np.clip(np.round(quality + offset[rater] + 0.4 * random.normal()), 1, 5)
            rows.append((f"r{rater}", f"q{pair // 8:02}", f"d{pair % 8}", value, everyone))
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating", "base"])


def scores(table: pd.DataFrame) -> pd.DataFrame:
    """Two systems that see the mean rating through noise."""
    random = np.random.default_rng(2)
    mean = table.groupby(["query_id", "result_id"], as_index=False)["rating"].mean()
    parts = [
        mean[["query_id", "result_id"]].assign(
            system=name, score=mean["rating"] + noise * random.normal(size=len(mean))
        )
        for name, noise in (("fine", 0.7), ("coarse", 1.5))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def panel() -> CalibratedPanel:
    return calibrate(ratings(), method="mean", base_column="base")


def test_a_moved_cut_is_what_lines_fitted_to_the_weighted_panel_say(panel: CalibratedPanel) -> None:
    """The method `mean` moves each rater's base mean to the panel's: refitted here, with weights, as it is defined."""
    table = panel.ratings
    rater = pd.factorize(table["rater_id"])[0]
    found = PairRatings(
        np.arange(len(table)), table["calibrated"].to_numpy(), rater, table["rating"].to_numpy(dtype=float)
    )
    shares = np.random.default_rng(0).exponential(size=(6, 40))
    shares *= 6 / shares.sum(axis=0)
    cuts = moved_cuts(found, rater, shares, 3.5)
    base = table["block"].eq("base").to_numpy()
    own = np.bincount(rater[base], table["rating"][base]) / np.bincount(rater[base])
    for column in range(40):
        refitted = found.given - own[rater] + shares[:, column] @ own / 6
        np.testing.assert_allclose(found.calibrated - cuts[column], refitted - 3.5, atol=1e-9)


@pytest.mark.slow
def test_indices_of_reweighted_pairs_are_those_of_the_libraries() -> None:
    random = np.random.default_rng(5)
    mass = random.exponential(size=(7, 50)).astype(np.float32)
    mass[:, ::9] = 0.0
    relevant = random.random((7, 50)) < 0.4
    judgment = random.normal(size=(7, 50)).astype(np.float32)
    score, weight = np.round(random.normal(size=50), 1), random.exponential(size=50)
    pairs = ReweightedPairs(*(np.ascontiguousarray(each.T) for each in (mass, mass * relevant, mass, judgment)))
    precision, rank = pairs.retrieval(score, weight)
    thresholds = np.quantile(score, [0.9, 0.5, 0.1])
    at, recall = pairs.points(score, weight, thresholds)
    r = pairs.judgments(weight).pearson([score])[0]
    for b in range(7):
        w, hit = weight * mass[b], relevant[b]
        assert precision[b] == pytest.approx(average_precision_score(hit, score, sample_weight=w), abs=SINGLE)
        assert rank[b] == pytest.approx(1 - roc_auc_score(hit, score, sample_weight=w), abs=SINGLE)
        for k, threshold in enumerate(thresholds):
            above = score >= threshold
            assert at[k, b] == pytest.approx((w * hit)[above].sum() / w[above].sum(), abs=SINGLE)
            assert recall[k, b] == pytest.approx((w * hit)[above].sum() / (w * hit).sum(), abs=SINGLE)
        covariance = np.cov(score, judgment[b], aweights=w)
        assert r[b] == pytest.approx(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]), abs=SINGLE)


def test_under_raters_any_index_counts_pairs_as_the_projects_own_do() -> None:
    """One minus the area, pair by pair, beside the walk down the ranking; weights of the design are unequal."""
    shape, people = NormalShape((0.7,), items=40), People(raters=5, base=10, relevant=0.3)
    study = World(shape.collection(20, np.random.default_rng(9)), Drawing(12, 0.5, 0.4), people).draw(
        20, np.random.default_rng(9)
    )
    judgments = study_tables_of(calibrate(study.ratings, pairs=study.pairs)).judgments
    pairs, options = JudgedPairs.of(judgments, None), ScoringOptions(replicates=20)
    context, rows = ScoringContext(pairs, options), study.scores[study.scores["system"] == shape.names[0]]
    scored = ScoredPairs.of(context, candidate_of(pairs, shape.names[0], rows, options))

    def poor_above_good(given: WeightedPairs) -> np.ndarray:
        above = (given.ranking[:, None] > given.ranking) + 0.5 * (given.ranking[:, None] == given.ranking)
        np.fill_diagonal(above, 0.0)
        good, poor = given.weight * given.relevance, given.weight * (1 - given.relevance)
        couples = good.sum(axis=0) * poor.sum(axis=0) - (good * poor).sum(axis=0)
        return np.asarray(1 - np.einsum("ib,ij,jb->b", good, above, poor) / couples)

    one = Index(
        name="by_hand", term="by hand", definition="", needs=Needs.RELEVANCE, figure=poor_above_good, scale=SHARE
    )
    found, expected = scored.figure(one).raters, scored.figure(index_of("normalised_rank")).raters
    assert found is not None and expected is not None and np.ptp(scored.weight) > 0.5
    np.testing.assert_allclose(found.drawn, expected.drawn, atol=SINGLE)
    np.testing.assert_allclose(found.both, expected.both, atol=SINGLE)


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_of_many_pairs_hold_fewer_replicates_so_that_all_fit(
    monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    """The limit was for each table, and weighted ratings need a fourth: a million pairs took 1.5 GB in place of 1.2."""
    monkeypatch.setattr("relstudy.analysis.scoring.rater_draws.MOST_CELLS", 40 * 60)
    number = np.arange(40)
    given = np.where(number % 3, 2.0, 4.0)
    weight = np.repeat([1.0, 2.0], 40) if weighted else None
    ratings = PairRatings(np.r_[number, number], np.r_[given, given[::-1]], number.repeat(2) % 5, weight=weight)
    names = [f"q{each // 8}" for each in number], [str(each) for each in number]
    frame = pd.DataFrame({"query_id": names[0], "result_id": names[1], "judgment": given})
    pairs = replace(JudgedPairs.of(frame), ratings=ratings)
    context = ScoringContext(pairs, ScoringOptions())
    assert context.raters is not None
    drawn = (context.raters.drawn, context.raters.both)
    tables = {id(table): table for each in drawn for table in (each.mass, each.hits, each.judgment, each.counted)}
    assert len(tables) == (8 if weighted else 6)
    assert {table.shape for table in tables.values()} == {(40, 7 if weighted else 10)}


def test_variances_of_queries_and_raters_add_up_once() -> None:
    """A mean of crossed effects: the interval's error is that of the effects, with single noise counted once."""
    random = np.random.default_rng(9)
    queries, raters = 40, 10
    values = random.normal(size=(queries, 1)) + 2 * random.normal(size=raters) + random.normal(size=(queries, raters))
    by_query = values.mean(axis=1) @ query_counts(queries, 4000, 1) / queries
    shares = random.exponential(size=(raters, 4000))
    drawn = values.mean(axis=0) @ (shares / shares.sum(axis=0))
    both = (random.exponential(size=(4000, queries * raters)) @ (values - values.mean()).ravel()) / values.size
    parts = RaterReplicates(drawn, both, queries, raters)
    figure = BootstrapStatistic(float(values.mean()), by_query, raters=parts).over_raters()
    expected = (
        values.mean(axis=1).var(ddof=1) / queries
        + values.mean(axis=0).var(ddof=1) / raters
        - values.var() / values.size
    )
    # 4,000 replicates tell a variance within 2 %, three times over
    assert np.var(figure.replicates) * queries / (queries - 1) == pytest.approx(expected, rel=0.07)


def test_a_difference_knows_what_raters_do_to_both_alike() -> None:
    random = np.random.default_rng(2)
    shared, own = random.normal(size=300), 0.1 * random.normal(size=300)
    one = BootstrapStatistic(0.5, 0.01 * random.normal(size=300), raters=RaterReplicates(shared, own, 30, 8))
    other = BootstrapStatistic(0.4, 0.01 * random.normal(size=300), raters=RaterReplicates(shared, own, 30, 8))
    assert np.std(one.over_raters().replicates) > 0.9
    assert np.std((one - other).over_raters().replicates) < 0.02
    assert (-one).raters is not None and np.array_equal((-one).raters.drawn, -shared)


@pytest.mark.slow
def test_figures_say_which_raters_they_speak_of(panel: CalibratedPanel) -> None:
    table = scores(ratings())
    any_raters = score(table, panel, replicates=100)
    these = score(table, panel, replicates=100, raters="these")
    assert any_raters.conventions["raters"] == "any raters like these 6"
    assert these.conventions["raters"] == "these raters alone: by request"
    wider = False
    for name in ("raw_pearson", "mapped_spearman", "average_precision", "normalised_rank"):
        assert any_raters.table[name].equals(these.table[name])
        widths = [t[f"{name}_high"] - t[f"{name}_low"] for t in (any_raters.table, these.table)]
        # where raters show nothing of their own, the interval is that of these raters
        assert (widths[0] >= widths[1]).all()
        wider |= bool((widths[0] > widths[1]).any())
    assert wider
    bare = score(table, panel.judgments, replicates=100)
    assert (
        "not known (calibrated.csv beside these or a stated table of ratings gives them)" in bare.conventions["raters"]
    )
    with pytest.raises(RelstudyError, match="any raters like these \\(--raters any\\): the ratings behind"):
        score(table, panel.judgments, raters="any")
    two = calibrate(ratings(raters=2), method="none")
    few = score(scores(ratings(raters=2)), two, replicates=20)
    assert few.conventions["raters"].endswith("2 raters do not show how others would differ")


@pytest.mark.slow
def test_what_raters_are_called_has_no_part_in_any_figure(panel: CalibratedPanel) -> None:
    """As in an archive: raters renamed in another order, and the rows in another one."""
    code = np.random.default_rng(8).permutation(6)
    new = {f"r{number}": f"rater-{code[number]}" for number in range(6)}
    renamed = panel.ratings.assign(rater_id=panel.ratings["rater_id"].map(new)).sample(frac=1, random_state=3)
    table = scores(ratings())
    own, archived = (
        score(table, panel.judgments, ratings=each, replicates=60).as_json() for each in (panel.ratings, renamed)
    )
    assert own["systems"] == archived["systems"]
    assert own["comparisons"] == archived["comparisons"]


@pytest.mark.slow
def test_the_command_finds_raters_beside_the_judgments_and_a_comparison_keeps_them(
    panel: CalibratedPanel, tmp_path: Path
) -> None:
    panel.judgments.to_csv(tmp_path / "judgments.csv", index=False)
    panel.ratings.to_csv(tmp_path / "calibrated.csv", index=False)
    table = scores(ratings())
    for name, rows in table.groupby("system"):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)

    def answer(*arguments: object) -> dict[str, object]:
        result = succeeds("score", *arguments, "--json")
        return json.loads(result.stdout)  # type: ignore[no-any-return]

    said = relstudy("score", tmp_path / "fine.csv", "-j", tmp_path / "judgments.csv")
    assert "any raters like these 6" in said.stdout
    said = relstudy("score", tmp_path / "fine.csv", "-j", tmp_path / "judgments.csv", "--primary", "nDCG@10")
    assert "these raters alone: measures vary by queries alone." in said.stdout and "any raters" not in said.stdout
    options = ("-j", tmp_path / "judgments.csv", "--replicates", 50)
    whole = answer(tmp_path / "fine.csv", tmp_path / "coarse.csv", *options)
    answer(tmp_path / "fine.csv", *options, "--save", tmp_path / "saved.json")
    apart = answer(tmp_path / "coarse.csv", "--against", tmp_path / "saved.json")
    for part in ("systems", "comparisons", "conventions"):
        assert apart[part] == whole[part]


@pytest.mark.slow
def test_intervals_over_raters_hold_what_other_raters_would_say() -> None:
    """Twelve raters with offsets of half a step: intervals of these raters alone are too short by far for precision."""
    module = simulation("raters")
    world, panels = module.make_world(), module.Panels(12, 3, 0.5)
    true = module.truth(world, panels, rounds=3)["average_precision"]
    held = {"these": 0, "any": 0}
    for number in range(16):
        pairs, candidate = module.study(world, panels, np.random.default_rng([3, number]))
        for which in held:
            _, low, high = module.figures(pairs, candidate, number, which)["average_precision"]
            held[which] += low <= true <= high
    assert held["any"] >= 14
    assert held["these"] <= 13


def test_other_raters_do_not_by_themselves_lower_a_correlation() -> None:
    """Three ratings a pair: with whole exponential weights their means are noisier, r falls and varies a third more."""
    random = np.random.default_rng(11)
    number = 720
    quality, pair = random.normal(size=number), np.repeat(np.arange(number), 3)
    rater = np.stack([random.permuted(np.tile(np.arange(12), number // 12)) for _ in range(3)], axis=1).ravel()
    found = PairRatings(pair, quality[pair] + 0.8 * random.normal(size=len(pair)), rater)
    times = random.exponential(size=(12, 200))
    times *= 12 / times.sum(axis=0)
    score = quality + random.normal(size=number)
    blocks = [slice(0, 300), slice(300, len(pair))]
    drawn = _reweighted(found, number, blocks, lambda rows: times[rater[rows]], RelevanceRule.SHARE, np.zeros(200))
    means = np.bincount(pair, found.calibrated) / 3
    value = float(np.corrcoef(means, score)[0, 1])
    # it falls by .02 with whole weights, and by a sixteenth of that with a quarter of them
    assert drawn.judgments(np.ones(number)).pearson([score])[0].mean() == pytest.approx(value, abs=0.006)
