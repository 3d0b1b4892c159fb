"""The whole design: two stages, the base block, further rounds, and what their probabilities promise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, kendalltau

from relstudy.analysis.indices.precision_recall import precision_recall_curve
from relstudy.analysis.scoring.judged_pairs import rank_power_weights
from relstudy.calibration.reliability.scale_use import uniformity_table
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import simple_random_sample, systematic_sample
from relstudy.common.tables.meaning.pairs_table import COLUMNS
from relstudy.mapping.fitted import FittedMapping
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
from relstudy.studyapp.sampling import next_round
from relstudy.studyapp.sampling.first_round import draw_sample_from
from relstudy.studyapp.sampling.further_pairs import DrawnStudy, extend
from relstudy.studyapp.sampling.next_round import draw_next_round_from
from relstudy.studyapp.sampling.options import NextOptions, SampleOptions
from relstudy.studyapp.sampling.query_draw import draw_results
from relstudy.studyapp.sampling.response_model import MappedTerm, ResponseShape, RoundPlan
from relstudy.studyapp.sampling.sampling_design import Design, Round, candidate_probabilities
from relstudy.studyapp.sampling.sources import BuiltInSource
from relstudy.studyapp.systems.keywords import Keywords
from tests.studyapp.sampling.worlds import MatrixSource, demo_world, noise_world

pytestmark = pytest.mark.slow


def first_round(results=6, queries=5, population=12, floor=0.05, number=1, draw=1, shapes=None):
    return Round(
        number=number,
        systems={},
        results=results,
        exponent=1.0,
        floor=floor,
        query_draw=draw,
        query_probability={"image": queries / population},
        population={"image": population},
        seed=0,
        shapes=shapes or {},
    )


def test_the_size_measure_is_the_mixture_of_shaping_functions_and_a_uniform_floor():
    collection, sources = noise_world(30, 3, seed=5)
    query = collection.items[4]
    found = candidate_probabilities(first_round(results=5), query, collection, sources)
    expected = np.zeros(29)
    others = [place for place in range(30) if place != 4]
    for source in sources:
        own = source.scored(query).scores[others]
        rank = (-own).argsort().argsort() + 1.0
        expected += 0.95 * (1 / rank) / (1 / np.arange(1, 30)).sum() / 3
    expected += 0.05 / 29
    assert found.candidates.tolist() == others
    np.testing.assert_allclose(found.parts.sum(axis=0), expected, rtol=1e-12)
    assert found.probability.sum() == pytest.approx(5)


def test_pairs_of_the_sample_have_the_probability_that_is_written_beside_them():
    collection, sources = noise_world(12, 2, seed=1)
    options = {"queries": 5, "results": 4, "base": 8, "page": {"image": 4}}
    draws = 250
    counts = np.zeros((12, 12))
    base = np.zeros((12, 12))
    written = np.full((12, 12), np.nan)
    place = {item.id: position for position, item in enumerate(collection)}
    for seed in range(draws):
        pairs = draw_sample_from(collection, sources, SampleOptions(**options, seed=seed)).pairs
        at = ([place[name] for name in pairs["query_id"]], [place[name] for name in pairs["result_id"]])
        counts[at] += 1
        base[at] += pairs["block"].to_numpy() == "base"
        previous = written[at]
        new = pairs["inclusion_probability"].to_numpy()
        assert np.all(np.isnan(previous) | np.isclose(previous, new, rtol=1e-12))
        written[at] = new
    pair = ~np.eye(12, dtype=bool)
    assert not np.isnan(written[pair]).any()
    # one draw takes whole queries, so cells of a row depend on each other: chi-square over rows (queries), and each
    # cell alone at five standard errors
    row = counts.sum(axis=1) / 4
    assert chi2.sf((((row - draws * 5 / 12) ** 2) / (draws * 5 / 12 * 7 / 12)).sum(), 12) > 0.001
    p = written[pair]
    assert (abs(counts[pair] / draws - p) < 5 * np.sqrt(p * (1 - p) / draws)).all()
    # within a query, given that it was drawn, the cells follow their conditional probabilities
    for query in range(12):
        taken = counts[query].sum() / 4
        given = np.delete(written[query], query) * 12 / 5
        cells = np.delete(counts[query], query)
        free = given < 1 - 1e-9
        statistic = ((cells - taken * given)[free] ** 2 / (taken * given * (1 - given))[free]).sum()
        assert chi2.sf(statistic, free.sum()) > 1e-5
    # the base block is a random part of the sample: a pair is in it with 8 / 20 of its probability in the sample
    assert (abs(base[pair] / draws - 0.4 * p) < 5 * np.sqrt(0.4 * p * (1 - 0.4 * p) / draws)).all()


def test_sources_are_credited_in_proportion_to_what_they_proposed():
    collection, sources = noise_world(40, 2, seed=2)
    this, query = first_round(results=8), collection.items[0]
    found = candidate_probabilities(this, query, collection, sources)
    rng = np.random.default_rng(0)
    counts = dict.fromkeys(found.names, 0)
    draws = 1500
    this.query_probability["image"] = 1.0
    for _ in range(draws):
        for name in draw_results(this, query, found, collection, rng)["source"]:
            counts[name] += 1
    share = (found.parts / found.parts.sum(axis=0) * found.probability).sum(axis=1)
    for name, expected in zip(found.names, share, strict=True):
        # a sum of 1,500 x 8 draws with variance below that of a Poisson count
        assert abs(counts[name] - draws * expected) < 5 * np.sqrt(draws * expected)


def at_cut(relevant, score, weight, cut):
    """Precision and recall of the weighted curve where it retrieves every pair that scores at least `cut`."""
    curve = precision_recall_curve(relevant, score, weight)
    point = np.flatnonzero(curve.threshold >= cut)[-1]
    return curve.precision[point], curve.recall[point]


def offsets(truth, collection, choosing, scored, results, seed, draws=200):
    """How far precision and recall at the best 2 % of each system's pairs lie from the truth on average over the draws,
    in standard errors of that average: by (system, rule), array [precision, recall].

    `choosing` propose the pairs; `scored` are evaluated, whether they proposed any or not.
    """
    number = len(collection)
    this = first_round(results=results, queries=number // 2, population=number)
    shapes = [candidate_probabilities(this, query, collection, choosing) for query in collection]
    relevant = truth > 3
    scores = {source.name: np.array([source.scored(query).scores for query in collection]) for source in scored}
    others = ~np.eye(number, dtype=bool)
    cut = {name: np.quantile(values[others], 0.98) for name, values in scores.items()}
    estimates: dict[tuple[str, str], list[tuple[float, float]]] = {}
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        queries = simple_random_sample(number, number // 2, rng)
        chosen = [systematic_sample(shapes[query].probability, rng) for query in queries]
        rows = np.repeat(queries, [len(places) for places in chosen])
        columns = np.concatenate([shapes[q].candidates[c] for q, c in zip(queries, chosen, strict=True)])
        probability = 0.5 * np.concatenate([shapes[q].probability[c] for q, c in zip(queries, chosen, strict=True)])
        for name, values in scores.items():
            good, score = relevant[rows, columns], values[rows, columns]
            for rule, weight in (("design", 1 / probability), ("rank-power", rank_power_weights(score))):
                estimates.setdefault((name, rule), []).append(at_cut(good, score, weight, cut[name]))
    found = {}
    for (name, rule), values in estimates.items():
        expected = at_cut(relevant[others], scores[name][others], np.ones(others.sum()), cut[name])
        error = np.std(values, axis=0, ddof=1) / np.sqrt(draws)
        found[name, rule] = abs(np.mean(values, axis=0) - expected) / error
    return found


def test_on_the_demos_truth_design_weights_lie_within_two_standard_errors_and_rank_power_weights_do_not():
    demo, collection, sources = demo_world(
        300, {"strong": 0.85, "middling": 0.6, "weak": 0.35, "newcomer": 0.5}, seed=0
    )
    choosing = [source for source in sources if source.name != "newcomer"]
    # Of figures without any bias, one in 22 lies beyond two standard errors by chance alone, so not every seed would
    # pass: `python evidence/benchmarks/sampling.py --bias` prints how many do. The seed is the first one and was
    # not chosen.
    for (name, rule), off in offsets(demo.truth, collection, choosing, sources, 30, seed=0).items():
        if rule == "design":
            assert (off < 2).all(), (name, off)
        else:
            assert (off > 2).any(), (name, off)


SPECIFIED_QUERIES, SPECIFIED_RESULTS = 200, 1000


@pytest.fixture(scope="module")
def specified_world():
    """200 queries x 1,000 results, 2.3 % relevant, four systems of falling strength."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(SPECIFIED_QUERIES, SPECIFIED_RESULTS))
    items = [Item(f"q{n}", "image", role="query") for n in range(SPECIFIED_QUERIES)]
    items += [Item(f"r{n}", "image", role="result") for n in range(SPECIFIED_RESULTS)]
    collection = Collection(items)
    unscored = np.full((SPECIFIED_QUERIES, SPECIFIED_QUERIES), np.nan)
    sources = []
    for strength in (0.9, 0.6, 0.45, 0.3):
        scores = strength * latent + np.sqrt(1 - strength**2) * rng.normal(size=latent.shape)
        sources.append(MatrixSource(f"s{strength}", collection, np.hstack([unscored, scores])))
    return latent > 2, collection, sources


def shapes_of_all(this, collection, sources):
    return [candidate_probabilities(this, query, collection, sources) for query in collection.queries("image")]


@pytest.mark.parametrize(("exponent", "share"), [(0.2, 0.033), (0.5, 0.064), (1.0, 0.17), (5.0, 0.12)])
def test_the_share_of_relevant_pairs_drawn_is_that_of_the_specification(specified_world, exponent, share):
    relevant, collection, sources = specified_world
    this = replace(first_round(results=40), exponent=exponent)
    found = [each.probability for each in shapes_of_all(this, collection, sources)]
    drawn = sum((chance * good).sum() for chance, good in zip(found, relevant, strict=True))
    # two figures are given
    assert drawn / (40 * SPECIFIED_QUERIES) == pytest.approx(share, abs=0.5 * 10 ** (-3 if share < 0.1 else -2))


def test_the_bias_of_three_weightings_is_that_of_the_specification(specified_world):
    relevant, collection, sources = specified_world
    shapes = shapes_of_all(replace(first_round(results=40), exponent=0.5), collection, sources)
    probability = np.array([found.probability for found in shapes])
    score = sources[1].scores[:, SPECIFIED_QUERIES:]
    rank = np.array([found.ranks[1] for found in shapes], dtype=float)
    top = score >= np.quantile(score, 0.98)
    truth = [(relevant & top).sum() / top.sum(), (relevant & top).sum() / relevant.sum()]
    np.testing.assert_allclose(truth, [0.2465, 0.2155], atol=5e-5)
    rng = np.random.default_rng(0)
    draws = 200
    found = np.empty((draws, 3, 2))
    for draw in range(draws):
        rows, columns = [], []
        for query in range(SPECIFIED_QUERIES):
            columns.append(systematic_sample(probability[query], rng))
            rows.append(np.full(len(columns[-1]), query))
        at = np.concatenate(rows), np.concatenate(columns)
        good, high = relevant[at], top[at]
        # the paper divides by the shaping function of the system's own ranks, which is to weigh by rank ** p
        for rule, weight in enumerate((1 / probability[at], rank[at] ** 0.5, np.ones(len(good)))):
            hits = (weight * (good & high)).sum()
            found[draw, rule] = hits / (weight * high).sum(), hits / (weight * good).sum()
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(draws)
    assert (abs(mean[0] - truth) < 2 * error[0]).all()
    for rule, specified in ((1, [0.317, 0.092]), (2, [0.349, 0.309])):
        # the specification's means are of other draws, so theirs scatter too, and are rounded
        assert (abs(mean[rule] - specified) < 5 * error[rule] + 0.0005).all()
        assert (abs(mean[rule] - truth) > 10 * error[rule]).all()


def flat_shape(knots=(-3.0, 3.0), densities=(0.01, 0.12)):
    return ResponseShape({"s0": MappedTerm(list(knots), [1.0, 5.0])}, [3.5], list(densities))


@pytest.mark.parametrize("draws_of_queries", [(1, 2), (1, 1)], ids=["new queries", "same queries"])
def test_the_union_of_two_rounds_holds_a_pair_with_the_combined_probability(draws_of_queries):
    collection, sources = noise_world(10, 1, seed=3)
    one = first_round(results=3, queries=4, population=10, draw=draws_of_queries[0])
    two = first_round(
        results=4, queries=4, population=10, number=2, draw=draws_of_queries[1], shapes={"s0": flat_shape()}
    )
    design = Design((one, two))
    shapes = {
        r.number: [candidate_probabilities(r, query, collection, sources) for query in collection]
        for r in design.rounds
    }
    combined = np.array(
        [design.combine({n: shapes[n][query].probability for n in (1, 2)}, "image") for query in range(10)]
    )
    first, second = (0.4 * np.array([shapes[n][query].probability for query in range(10)]) for n in (1, 2))
    if draws_of_queries == (1, 2):
        np.testing.assert_allclose(combined, 1 - (1 - first) * (1 - second), rtol=1e-12)
    rng = np.random.default_rng(6)
    draws = 4000
    counts = np.zeros((10, 9))
    for _ in range(draws):
        union = np.zeros((10, 9), dtype=bool)
        queries = simple_random_sample(10, 4, rng)
        for number in (1, 2):
            if number == 2 and draws_of_queries == (1, 2):
                queries = simple_random_sample(10, 4, rng)
            for query in queries:
                union[query, systematic_sample(shapes[number][query].probability, rng)] = True
        counts += union
    assert (abs(counts / draws - combined) < 5 * np.sqrt(combined * (1 - combined) / draws)).all()
    # the naive product would be wrong where the queries are shared: make sure the test could tell
    if draws_of_queries == (1, 1):
        naive = 1 - (1 - first) * (1 - second)
        assert (abs(counts / draws - naive) > 5 * np.sqrt(naive * (1 - naive) / draws)).any()


@pytest.mark.parametrize("same_queries", [False, True], ids=["new queries", "same queries"])
def test_what_is_written_beside_a_pair_of_two_rounds_is_how_often_it_is_in_their_union(same_queries, monkeypatch):
    collection, sources = noise_world(16, 1, seed=4)
    # The plan of a round rests on what the first one brought; held fixed, its probabilities can be counted.
    plan = RoundPlan({"s0": flat_shape()}, {"all": np.full(5, 0.2)}, {"s0": 1.0})
    monkeypatch.setattr(next_round, "_plan", lambda *_: plan)
    mapping = {"s0": FittedMapping(np.array([-3.0, 3.0]), np.array([1.0, 5.0]), system="s0")}
    place = {item.id: position for position, item in enumerate(collection)}
    every = [(one.id, other.id, 3.0) for one in collection for other in collection if one is not other]
    judgments = pd.DataFrame(every, columns=["query_id", "result_id", "judgment"])
    counts, written = np.zeros((16, 16)), np.full((16, 16), np.nan)
    draws = 120
    totals = []
    for seed in range(draws):
        first = draw_sample_from(collection, sources, SampleOptions(queries=8, results=7, base=0, seed=seed))
        assert (first.pairs["query_probability"] == 0.5).all()
        first = replace(first, pairs=first.pairs.sample(frac=1, random_state=seed, ignore_index=True))
        options = NextOptions(queries=6, results=4, same_queries=same_queries, seed=seed)
        pairs = draw_next_round_from(
            DrawnStudy(collection, sources, first.design, first.pairs), judgments, mapping, options
        ).pairs
        assert not pairs.duplicated(["query_id", "result_id"]).any()
        # of two independent draws it cannot be told by which a query came in
        assert pairs["query_probability"].eq(0.5).all() if same_queries else pairs["query_probability"].isna().all()
        at = ([place[name] for name in pairs["query_id"]], [place[name] for name in pairs["result_id"]])
        counts[at] += 1
        known = pairs["inclusion_probability"].to_numpy()
        assert np.all(np.isnan(written[at]) | np.isclose(written[at], known, rtol=1e-12))
        written[at] = known
        totals.append([(1 / known).sum(), (sources[0].scores[at] / known).sum()])
    pair = ~np.eye(16, dtype=bool)
    p = written[pair]
    assert not np.isnan(p).any()
    assert (abs(counts[pair] / draws - p) < 5 * np.sqrt(p * (1 - p) / draws) + 1e-12).all()
    # and the weights add up to all pairs, and to their scores
    truth = [pair.sum(), sources[0].scores[pair].sum()]
    assert (abs(np.mean(totals, axis=0) - truth) < 4 * np.std(totals, axis=0, ddof=1) / np.sqrt(draws)).all()


def isotonic(scores, judgments, name):
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression().fit(scores, judgments)
    knots, first = np.unique(fitted.X_thresholds_, return_index=True)
    return FittedMapping(knots, fitted.y_thresholds_[first], system=name)


@pytest.fixture(scope="module")
def two_rounds():
    demo, collection, sources = demo_world(400, {"pictures": 0.3}, seed=0)
    panel = SimulatedPanel(draw_raters(12, seed=0), demo, seed=0)
    first = draw_sample_from(collection, sources, SampleOptions(queries=100, results=20))
    rated = panel.rate(first.pairs)
    judgments = (
        rated.dropna(subset="rating")
        .groupby(["query_id", "result_id"], as_index=False)["rating"]
        .mean()
        .rename(columns={"rating": "judgment"})
    )
    mappings = {}
    for source in sources:
        scores = np.concatenate(
            [
                source.scored(collection[query]).scores[[collection.position(name) for name in group["result_id"]]]
                for query, group in judgments.groupby("query_id", sort=True)
            ]
        )
        mappings[source.name] = isotonic(scores, judgments["judgment"], source.name)
    later = draw_next_round_from(
        DrawnStudy(collection, sources, first.design, first.pairs),
        judgments,
        mappings,
        NextOptions(queries=100, results=20),
    )
    return panel, collection, sources, first, judgments, mappings, later


def test_one_round_from_mappings_brings_the_uniformity_error_of_the_demo_panel_below_five_hundredths(two_rounds):
    panel, *_, later = two_rounds
    responses = panel.rate(later.pairs).merge(later.pairs[["pair_id", "source", "round"]], on="pair_id")
    table = uniformity_table(responses[responses["block"] == "unique"], [1, 2, 3, 4, 5])
    error = table.set_index(["round", "source"])["error"]
    assert error[2, "all"] < 0.05 < error[1, "all"]
    for source in ("keywords", "pictures"):
        assert error[2, source] < error[1, source]


def test_a_further_round_keeps_the_old_pairs_and_gives_every_pair_of_the_union_its_combined_probability(two_rounds):
    _, collection, sources, first, _, _, later = two_rounds
    old, new = later.pairs[: len(first.pairs)], later.pairs[len(first.pairs) :]
    columns = [name for name in COLUMNS if name not in ("inclusion_probability", "query_probability")]
    assert old[columns].equals(first.pairs[columns])
    assert (old["inclusion_probability"].to_numpy() > first.pairs["inclusion_probability"].to_numpy()).all()
    assert set(new["round"]) == {2} and set(new["block"]) == {"unique"} and len(new) == later.new
    assert not later.pairs["pair_id"].duplicated().any()
    assert not later.pairs.duplicated(["query_id", "result_id"]).any()
    for row in later.pairs.sample(25, random_state=0).itertuples():
        query = collection[row.query_id]
        never = 1.0
        for this in later.design.rounds:
            found = candidate_probabilities(this, query, collection, sources)
            place = np.flatnonzero(found.candidates == collection.position(row.result_id))[0]
            never *= 1 - this.query_probability["image"] * found.probability[place]
        assert row.inclusion_probability == pytest.approx(1 - never, rel=1e-12)


def test_a_design_survives_being_written_and_read(two_rounds, tmp_path):
    later = two_rounds[-1]
    later.design.save(tmp_path)
    assert Design.load(tmp_path) == later.design


def test_a_changed_system_is_refused_because_old_probabilities_rest_on_it(two_rounds):
    _, collection, sources, first, judgments, mappings, _ = two_rounds
    with pytest.raises(RelstudyError, match="drawn with system 'pictures'; give it again"):
        first.design.check_stamps(sources[:1])
    with pytest.raises(RelstudyError, match="no mapping belongs to a system of this study"):
        draw_next_round_from(
            DrawnStudy(collection, sources, first.design, first.pairs),
            judgments,
            {"other": mappings["keywords"]},
            NextOptions(),
        )


def test_a_system_that_cannot_answer_is_left_out_of_the_mean():
    class Silent:
        name, stamp = "silent", "fixed"

        def scored(self, query):
            return None

    collection, sources = noise_world(20, 1)
    this, query = first_round(), collection.items[0]
    np.testing.assert_array_equal(
        candidate_probabilities(this, query, collection, [*sources, Silent()]).probability,
        candidate_probabilities(this, query, collection, sources).probability,
    )
    alone = candidate_probabilities(this, query, collection, [Silent()])
    np.testing.assert_allclose(alone.probability, 6 / 19)
    assert alone.names == ("random",)


def test_designs_that_leave_a_pair_without_a_chance_are_refused():
    collection, sources = noise_world(400, 1)
    with pytest.raises(RelstudyError, match="inclusion probability zero"):
        draw_sample_from(collection, sources, SampleOptions(queries=5, results=5, exponent=400.0, floor=0.0, base=0))
    shapes = {"s0": flat_shape(densities=(0.0, 0.1))}
    with pytest.raises(RelstudyError, match="inclusion probability zero"):
        candidate_probabilities(first_round(floor=0.0, shapes=shapes), collection.items[0], collection, sources)


def test_neither_the_row_nor_the_id_of_a_pair_tells_how_good_it_may_be():
    collection, sources = noise_world(120, 1, seed=8)
    pairs = draw_sample_from(collection, sources, SampleOptions(queries=100, results=10, base=40)).pairs
    assert (pairs["block"].to_numpy() == np.where(np.arange(1000) < 40, "base", "unique")).all()
    assert list(pairs["pair_id"]) == [f"p{number:04d}" for number in range(1, 1001)]
    unique = pairs[pairs["block"] == "unique"]
    # pairs of one query stand together, queries and the pairs of each in random order
    first = unique.drop_duplicates("query_id").index
    assert (np.diff(np.r_[first, 1000]) == unique.groupby("query_id", sort=False).size()).all()
    # tau of ten values in random order has a standard deviation of 0.25; over 100 queries, five standard errors are
    # 0.125
    unique = unique.assign(position=[collection.position(name) for name in unique["result_id"]])
    for column in ("inclusion_probability", "position"):
        tau = [kendalltau(group.index, group[column]).statistic for _, group in unique.groupby("query_id")]
        assert abs(np.mean(tau)) < 0.125
    places = [collection.position(name) for name in unique["query_id"].unique()]
    # a random order of 100 has a standard deviation of 0.067; five of them
    assert abs(kendalltau(range(len(places)), places).statistic) < 0.34


def test_a_given_list_of_queries_is_used_whole_with_probability_one():
    collection, sources = noise_world(15, 2)
    chosen = draw_sample_from(collection, sources, SampleOptions(given=["i3", "i9"], results=5, base=4))
    assert set(chosen.pairs["query_id"]) == {"i3", "i9"}
    assert set(chosen.pairs["query_probability"]) == {1.0}
    assert chosen.design.rounds[0].given == ["i3", "i9"]


def test_a_further_round_stays_with_the_queries_that_were_given(monkeypatch):
    collection, sources = noise_world(40, 1)
    given = [f"i{place}" for place in range(5, 15)]
    first = draw_sample_from(collection, sources, SampleOptions(given=given, results=8, base=4))
    plan = RoundPlan({"s0": flat_shape()}, {"all": np.full(5, 0.2)}, {"s0": 1.0})
    monkeypatch.setattr(next_round, "_plan", lambda *_: plan)
    mapping = {"s0": FittedMapping(np.array([-3.0, 3.0]), np.array([1.0, 5.0]), system="s0")}
    judgments = first.pairs[["query_id", "result_id"]].assign(judgment=3.0)
    # more queries are asked for than were given, and others stand in the collection
    later = draw_next_round_from(
        DrawnStudy(collection, sources, first.design, first.pairs), judgments, mapping, NextOptions(queries=30)
    )
    assert set(later.pairs["query_id"]) == set(given)
    this = later.design.rounds[-1]
    assert (this.query_probability, this.given) == ({"image": 1.0}, given)


def test_a_base_block_larger_than_the_sample_is_refused():
    collection, sources = noise_world(15, 1)
    with pytest.raises(RelstudyError, match="base block of 100 pairs is larger than the whole sample of 20 pairs"):
        draw_sample_from(collection, sources, SampleOptions(queries=4, results=5, base=100))


def test_texts_ask_pictures_and_pictures_ask_pictures_but_never_themselves():
    items = [Item(f"i{n}", "image", keywords=frozenset({f"w{n % 3}"})) for n in range(12)]
    items += [Item("q1", "text", text="w1", role="query"), Item("q2", "text", text="w2", role="query")]
    collection = Collection(items)
    sources = [BuiltInSource("keywords", "fixed", Keywords().fit(collection), collection)]
    pairs = draw_sample_from(collection, sources, SampleOptions(queries=4, results=5, base=5)).pairs
    assert set(pairs.loc[pairs["paradigm"] == "text", "query_id"]) == {"q1", "q2"}
    assert pairs["result_id"].str.startswith("i").all()
    assert (pairs["query_id"] != pairs["result_id"]).all()
    assert pairs.loc[pairs["block"] == "base", "paradigm"].value_counts().to_dict() == {"image": 5, "text": 5}
    pairs = draw_sample_from(collection, sources, SampleOptions(queries=4, results=5, base=2)).pairs
    of_query = pairs[pairs["block"] == "base"].groupby(["paradigm", "query_id"]).size()
    assert of_query["image"].tolist() == [2], "of one query, since a page by image has four results"
    assert of_query["text"].to_dict() == {"q1": 1, "q2": 1}, "a page by text has one"


def test_a_further_round_by_texts_keeps_the_scores_of_the_pictures_that_asked_before():
    items = [Item(f"i{n}", "image", keywords=frozenset({f"w{n % 3}"})) for n in range(12)]
    items += [Item(f"q{n}", "text", text=f"w{n}", role="query") for n in range(3)]
    collection = Collection(items)
    sources = [BuiltInSource("keywords", "fixed", Keywords().fit(collection), collection)]
    first = draw_sample_from(collection, sources, SampleOptions(queries=2, results=4, base=0))
    drawn = DrawnStudy(collection, sources, first.design, first.pairs)
    study = drawn.with_round(replace(first.design.rounds[0], number=2))
    later = extend(study, [collection[f"q{n}"] for n in range(3)], "text", np.random.default_rng(0))
    scored = later.scores.table("keywords")
    assert set(scored["query_id"]) == {"q0", "q1", "q2", *first.pairs["query_id"]}
    pair = ["query_id", "result_id"]
    assert not scored.duplicated(pair).any()
    assert len(later.pairs[pair].merge(scored[pair])) == len(later.pairs)
