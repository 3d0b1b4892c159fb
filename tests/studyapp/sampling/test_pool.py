"""A population that a design can estimate: the sparse draw, the pool, its strata, and what is said beforehand."""

import hashlib
import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from relstudy.api.scoring import score
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.design_reach import LEAST_REACH, REACH
from relstudy.common.sampling.probability_draws import (
    inclusion_probabilities,
    place_sum,
    rank_share,
    sparse_systematic_sample,
    systematic_sample,
)
from relstudy.common.tables.meaning.pairs_table import read_pairs, round_column
from relstudy.mapping.fitted import FittedMapping
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.commands.sample_output import estimates_of
from relstudy.studyapp.sampling import next_round
from relstudy.studyapp.sampling.first_round import draw_sample_from
from relstudy.studyapp.sampling.forecast import chance_of_each
from relstudy.studyapp.sampling.further_pairs import DrawnStudy
from relstudy.studyapp.sampling.next_round import draw_next_round_from
from relstudy.studyapp.sampling.options import AssumptionOptions, NextOptions, SampleOptions
from relstudy.studyapp.sampling.population import Eligible, ScoredItems, pool, tie_order
from relstudy.studyapp.sampling.query_draw import draw_entries
from relstudy.studyapp.sampling.response_model import MappedTerm, ResponseShape, RoundPlan
from relstudy.studyapp.sampling.sampling_design import Round, candidate_probabilities
from relstudy.studyapp.sampling.sources import TableSource, sources_of
from tests.commands import relstudy, succeeds
from tests.studyapp.sampling.worlds import MatrixSource, noise_world


def runs(collection, depth, systems=2, seed=0):
    """Runs that name the best `depth` results of each query, and the same as sources that score every item."""
    rng = np.random.default_rng(seed)
    rows, dense = [], []
    for number in range(systems):
        scores = np.full((len(collection), len(collection)), np.nan)
        for query in range(len(collection)):
            best = rng.permutation(np.delete(np.arange(len(collection)), query))[:depth]
            scores[query, best] = np.round(rng.random(depth), 1)  # ties
            rows += [(f"s{number}", f"i{query}", f"i{one}", scores[query, one]) for one in best]
        dense.append(MatrixSource(f"s{number}", collection, scores))
    table = pd.DataFrame(rows, columns=["system", "query_id", "result_id", "score"])
    return sources_of(table, collection, "stamp", "runs"), dense


def this_round(**other):
    options = {"results": 6, "exponent": 1.0, "floor": 0.05, "query_probability": {"image": 1.0}, "seed": 0}
    return Round(number=1, systems={}, query_draw=1, population={"image": 30}, **{**options, **other})


@pytest.mark.parametrize("exponent", [0.0, 0.2, 0.5, 1.0, 1.7, 5.0])
def test_a_sum_over_places_needs_no_number_for_each(exponent):
    for first, last in ((1, 90), (1, 70_000), (35, 400), (900, 200_000), (5_000, 5_070)):
        exact = (np.arange(first, last + 1, dtype=np.longdouble) ** -np.longdouble(exponent)).sum()
        # the formula's own error is below 1e-13, and doubles add a few 1e-16 for each of the numbers summed
        assert place_sum(first, last, exponent) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("exponent", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("worst_is_listed", [True, False])
def test_candidates_that_no_system_scores_have_the_probability_that_a_table_of_all_would_give(
    exponent, worst_is_listed
):
    listed, others = np.array([0.9, 0.4, 0.4, np.nan if worst_is_listed else 0.1]), 96
    share, rank = rank_share(np.append(listed, np.nan), exponent, last=others)
    dense_share, dense_rank = rank_share(np.append(listed, np.full(others, np.nan)), exponent)
    np.testing.assert_allclose(share, dense_share[:5], rtol=1e-12)
    assert rank.tolist() == dense_rank[:5].tolist()
    size, dense_size = 0.95 * share + 0.05 / 100, 0.95 * dense_share + 0.05 / 100
    for number in (3, 20, 90, 99.5, 100):
        np.testing.assert_allclose(
            inclusion_probabilities(size, number, last=others),
            inclusion_probabilities(dense_size, number)[:5],
            rtol=1e-10,
        )


def test_probabilities_from_runs_are_those_of_the_dense_computation():
    collection = Collection([Item(f"i{number}", "image") for number in range(30)])
    listed, dense = runs(collection, 7)
    for query in collection.items[:10]:
        sparse = candidate_probabilities(this_round(), query, collection, listed)
        assert len(sparse.candidates) < 15 and sparse.population.others == 29 - len(sparse.candidates)
        everything = np.delete(np.arange(30), collection.position(query.id))
        scores = np.array([source.scored(query).scores[everything] for source in dense])
        size = 0.95 * np.mean([rank_share(each, 1.0)[0] for each in scores], axis=0) + 0.05 / 29
        np.testing.assert_allclose(sparse.at(everything), inclusion_probabilities(size, 6), rtol=1e-12)
        assert sparse.expected == pytest.approx(6)


@pytest.mark.slow
def test_a_sparse_draw_takes_every_pair_as_often_as_its_probability_says_and_as_a_dense_draw_does():
    probability, others, draws = np.array([0.9, 0.5, 0.3, 0.1, 0.04]), 30, 4_000
    everything = np.r_[probability[:4], np.full(others, 0.04)]
    rng = np.random.default_rng(0)
    counts, number, dense = np.zeros(4), np.zeros(5), np.zeros(5)
    for _ in range(draws):
        drawn, rest = sparse_systematic_sample(probability, others, rng)
        assert len(drawn) + rest == 3
        counts[drawn] += 1
        number[rest] += 1
        dense[(systematic_sample(everything, rng) >= 4).sum()] += 1
    error = np.sqrt(draws * probability[:4] * (1 - probability[:4]))
    assert (abs(counts - draws * probability[:4]) < 5 * error).all()
    # how many of the rest come in has the distribution that a random order of all candidates gives it
    seen = (number + dense) >= 20
    statistic = ((number - dense) ** 2 / (number + dense).clip(1))[seen].sum()
    assert chi2.sf(statistic, seen.sum() - 1) > 0.001


class Numbered:
    """A collection of so many items, of which nothing is kept but how many there are."""

    def __init__(self, number):
        self.number, self._results = number, np.arange(number)

    def results(self, paradigm):
        return self._results

    def position(self, name):
        return int(name[1:])


def test_probabilities_and_draws_from_runs_take_no_memory_that_grows_with_the_collection():
    rng = np.random.default_rng(0)
    peaks = []
    for number in (10_000, 3_000_000):
        collection = Numbered(number)
        lists = {"i7": ScoredItems(rng.random(1_000), np.sort(rng.choice(number, 1_000, replace=False)))}
        source = TableSource("run", "stamp", "run", lists)
        candidate_probabilities(this_round(), Item("i7", "image"), collection, [source])  # sums kept once
        tracemalloc.start()
        chances = candidate_probabilities(this_round(), Item("i7", "image"), collection, [source])
        _, positions = draw_entries(chances.population, chances.probability, rng)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(positions) == 6 and chances.population.others >= number - 1_001
    # arrays of a thousand entries, where one of three million takes 24 MB; the smaller collection is below the size at
    # which results are drawn without a list
    assert max(peaks) < 1_000_000


@pytest.mark.slow
def test_each_of_the_results_that_no_system_scores_is_drawn_alike():
    collection = Collection([Item(f"i{number}", "image") for number in range(40)])
    sources, _ = runs(collection, 5)
    counts, draws = np.zeros(40), 300
    options = {"given": ["i3"], "results": 8, "base": 0, "floor": 0.4}
    for seed in range(draws):
        pairs = draw_sample_from(collection, sources, SampleOptions(**options, seed=seed)).pairs
        assert len(pairs) == 8 and not pairs["result_id"].duplicated().any()
        counts[[collection.position(name) for name in pairs["result_id"]]] += 1
    chances = candidate_probabilities(this_round(results=8, floor=0.4), collection["i3"], collection, sources)
    expected = chances.at(np.delete(np.arange(40), 3))
    assert counts[3] == 0
    error = np.sqrt(draws * expected * (1 - expected))
    assert (abs(np.delete(counts, 3) - draws * expected) <= 5 * error).all()


def test_default_draws_are_what_they_were():
    """Bytes of a draw from before results that no system scores became one number: same pairs, same probabilities."""
    collection, sources = noise_world(120, 3, seed=5)
    pairs = draw_sample_from(collection, sources, SampleOptions(queries=30, results=10, base=40)).pairs
    text = pairs.to_csv(index=False, float_format="%.12g")
    assert hashlib.sha256(text.encode()).hexdigest().startswith("70aaa521fea74856")


def test_the_pool_is_the_union_of_the_first_results_and_ties_at_its_edge_follow_no_file_order():
    items = [Item(f"i{number}", "image") for number in range(12)]
    scores = np.array([9.0, 8, 8, 5, 5, 5, 5, 5, 1, 1, 1, 1])
    one = ScoredItems(scores)
    two = ScoredItems(np.array([3.0, 2.0]), np.array([10, 11]))
    chosen = []
    for order in (np.arange(12), np.random.default_rng(1).permutation(12)):
        collection = Collection([items[number] for number in order])
        place = {item.id: position for position, item in enumerate(collection)}
        eligible = Eligible.of(collection["i0"], collection)
        moved = np.array([collection.position(f"i{number}") for number in (10, 11)])
        lists = [ScoredItems(scores[order]), ScoredItems(two.scores[np.argsort(moved)], np.sort(moved))]
        found = pool(eligible, lists, 4, tie_order(collection, collection["i0"]))
        names = {collection.ids[position] for position in found.candidates}
        assert {"i1", "i2", "i10", "i11"} <= names and len(names) == 6 and found.outside == 5
        assert place["i0"] not in found.candidates
        chosen.append(names)
    assert chosen[0] == chosen[1]
    assert one.at(np.array([0]))[0] == 9


@pytest.mark.slow
def test_pairs_of_a_pool_and_from_outside_it_are_drawn_as_often_as_is_written_beside_them():
    collection, sources = noise_world(14, 2, seed=4)
    options = {"given": ["i2", "i5"], "results": 3, "base": 2, "depth": 4, "outside": 2}
    draws, counts = 250, {}
    written = {}
    for seed in range(draws):
        pairs = draw_sample_from(collection, sources, SampleOptions(**options, seed=seed)).pairs
        assert pairs["pool"].value_counts().to_dict() == {"inside": 6, "outside": 4}
        assert (pairs.loc[pairs["block"] == "base", "pool"] == "inside").all()
        for row in pairs.itertuples():
            key = (row.query_id, row.result_id, row.pool)
            counts[key] = counts.get(key, 0) + 1
            assert written.setdefault(key, row.inclusion_probability) == row.inclusion_probability
    for key, probability in written.items():
        error = np.sqrt(draws * probability * (1 - probability)) + 1e-9
        assert abs(counts[key] - draws * probability) < 5 * error, key
    # every result of a query is in the pool or outside it, and never both
    assert sum(key[0] == "i2" for key in written) == 13


@pytest.mark.slow
def test_strata_keep_the_probabilities_and_never_miss_the_rare_ones():
    collection, sources = noise_world(200, 1, seed=4)
    query = collection.items[0]
    this = this_round(results=8, strata=4)
    chances = candidate_probabilities(this, query, collection, sources)
    rare = chances.candidates[np.argsort(chances.probability)[:150]]
    expected = chances.at(rare).sum()
    draws = 150
    numbers: dict[int, list[int]] = {1: [], 4: []}
    counts = np.zeros(200)
    for seed in range(draws):
        for strata, kept in numbers.items():
            options = SampleOptions(given=["i0"], results=8, base=0, strata=strata, seed=seed)
            pairs = draw_sample_from(collection, sources, options).pairs
            places = np.array([collection.position(name) for name in pairs["result_id"]])
            kept.append(np.isin(places, rare).sum())
            counts[places] += strata == 4
    assert np.var(numbers[4]) < np.var(numbers[1]) / 2 and min(numbers[4]) >= 1 > min(numbers[1])
    assert np.mean(numbers[4]) == pytest.approx(expected, abs=5 * np.sqrt(np.var(numbers[4]) / draws))
    p = chances.probability
    assert (abs(counts[chances.candidates] - draws * p) <= 5 * np.sqrt(draws * p * (1 - p)) + 1e-9).all()


def second_round(monkeypatch, drawn, *, queries):
    """The first round and one after it by a mapping of s0 alone, of pairs that are all judged 3."""
    shape = ResponseShape({"s0": MappedTerm([-3.0, 3.0], [1.0, 5.0])}, [3.5], [0.01, 0.12])
    plan = RoundPlan({"s0": shape}, {"all": np.full(5, 0.2)}, {"s0": 1.0})
    monkeypatch.setattr(next_round, "_plan", lambda *_: plan)
    mapping = {"s0": FittedMapping(np.array([-3.0, 3.0]), np.array([1.0, 5.0]), system="s0")}
    judged = drawn.pairs[["query_id", "result_id"]].assign(judgment=3.0)
    return draw_next_round_from(drawn, judged, mapping, NextOptions(queries=queries))


@pytest.mark.slow
def test_a_further_round_stays_in_the_pool_and_its_probabilities_are_those_of_both_rounds(monkeypatch, tmp_path):
    collection, sources = noise_world(40, 2)
    options = SampleOptions(queries=20, results=6, base=4, depth=8, outside=1)
    first = draw_sample_from(collection, sources, options)
    later = second_round(monkeypatch, DrawnStudy(collection, sources, first.design, first.pairs), queries=20)
    new = later.pairs[later.pairs["round"] == 2]
    assert {"inside", "outside"} == set(new["pool"])
    design = later.design
    for row in later.pairs.itertuples():
        query = collection[row.query_id]
        position = np.array([collection.position(row.result_id)])
        never, chances = 1.0, None
        for this in design.rounds:
            # the mapped system is one of two, yet the pool is that of both
            chances = candidate_probabilities(this, query, collection, sources)
            never *= 1 - 0.5 * chances.at(position)[0]
            assert chances.inside(position)[0] == (row.pool == "inside")
        assert row.inclusion_probability == pytest.approx(1 - never, rel=1e-12)
        firsts = [getattr(row, round_column(number)) for number in (1, 2)]
        assert sum(firsts) == pytest.approx(row.inclusion_probability, rel=1e-12)
    later.pairs.to_csv(tmp_path / "pairs.csv", index=False)
    kept = read_pairs(tmp_path / "pairs.csv")
    assert kept["pool"].tolist() == later.pairs["pool"].tolist()
    np.testing.assert_allclose(kept[round_column(2)], later.pairs[round_column(2)])


@pytest.mark.slow
def test_a_further_round_by_image_keeps_the_pool_of_queries_by_text(monkeypatch):
    items = [Item(f"i{number}", "image") for number in range(30)]
    items += [Item(f"t{number}", "text", text="boat", role="query") for number in range(3)]
    collection = Collection(items)
    sources = [MatrixSource("s0", collection, np.random.default_rng(1).normal(size=(33, 33)))]
    options = SampleOptions(queries=12, text_queries=3, results=5, base=4, depth=6, outside=1)
    first = draw_sample_from(collection, sources, options)
    later = second_round(monkeypatch, DrawnStudy(collection, sources, first.design, first.pairs), queries=12)
    before, after = (
        {name: of.to_numpy().tolist() for name, of in each.pool.groupby("query_id")} for each in (first, later)
    )
    assert {"t0", "t1", "t2"} < set(before) <= set(after)
    assert {name: after[name] for name in before} == before


@pytest.mark.slow
def test_before_anyone_rates_it_is_said_what_can_be_estimated_and_what_could_be():
    collection, sources = noise_world(1_500, 2)
    whole = draw_sample_from(collection, sources, SampleOptions(queries=40))
    told = estimates_of(whole.with_reach(AssumptionOptions(0.005)), AssumptionOptions(0.005))["image"]
    assert not told["can_estimate"] and told["recorded"] and told["expected_width"] == {}
    proposal = told["proposal"]
    assert proposal["reach"] >= LEAST_REACH
    options = {"depth": proposal["depth"], "exponent": proposal["exponent"], "floor": proposal["floor"]}
    better = draw_sample_from(collection, sources, SampleOptions(queries=40, **options)).with_reach(
        AssumptionOptions(0.005)
    )
    told = estimates_of(better, AssumptionOptions(0.005))["image"]
    # the proposal rests on five of the queries
    assert told["reach"] > 0.9 * LEAST_REACH and better.pairs[REACH].nunique() == 1
    more = estimates_of(better, AssumptionOptions(0.02))["image"]
    assert more["can_estimate"] and 0.02 < more["expected_width"]["normalised_rank"] < 0.4


def test_without_a_pool_or_a_stated_share_nothing_is_written_beside_the_pairs_of_a_small_collection():
    collection, sources = noise_world(60, 2)
    drawn = draw_sample_from(collection, sources, SampleOptions(queries=20, results=8, base=20))
    assert REACH not in drawn.with_reach(AssumptionOptions()).pairs
    assert REACH in drawn.with_reach(AssumptionOptions(0.02)).pairs


def test_the_chance_of_being_good_counts_only_systems_that_rank_a_result_high():
    collection, sources = noise_world(300, 2, seed=9)
    this = this_round(depth=20)
    chances = candidate_probabilities(this, collection.items[0], collection, sources)
    expected = chance_of_each(chances, AssumptionOptions(0.02, 0.5))
    first = chances.ranks.min(axis=0) == 1
    assert expected[first].min() > expected[~first].max() > 0.02


@pytest.mark.slow
def test_the_command_draws_from_a_pool_and_says_what_figures_will_speak_of(tmp_path):
    ids = [f"i{number}" for number in range(60)]
    pd.DataFrame({"item_id": ids, "text": ids, "keywords": [f"k{n % 7};k{n % 5}" for n in range(60)]}).to_csv(
        tmp_path / "collection.csv", index=False
    )
    arguments = ["sample", str(tmp_path), "--text-queries", "10", "--results", "5", "--base", "10", "--depth", "6"]
    result = succeeds(*arguments, "--good", "0.05")
    assert "the pool of the systems' first 6 results" in result.output
    pairs = read_pairs(tmp_path / "pairs.csv")
    assert pairs["pool"].value_counts().to_dict() == {"inside": 50, "outside": 10}
    told = json.loads(relstudy(*arguments, "--preview", "--json").stdout)
    assert told["estimates"]["text"]["depth"] == 6
    pool_of = pd.read_csv(tmp_path / "pool.csv")
    inside = pairs[pairs["pool"] == "inside"].merge(pool_of, on=["query_id", "result_id"])
    assert len(inside) == 50 and set(pool_of["depth"]) == {6}
    whole = relstudy("sample", tmp_path, "--text-queries", "10", "--results", "5", "--base", "10")
    assert whole.exit_code == 0 and not (tmp_path / "pool.csv").exists()


@pytest.mark.slow
def test_a_study_of_a_pool_goes_from_the_draw_to_figures_that_speak_of_the_pool(tmp_path):
    rng = np.random.default_rng(5)
    ids = [f"i{number}" for number in range(120)]
    words = [f"k{n % 12};k{n % 7}" for n in range(120)]
    pd.DataFrame({"item_id": ids, "text": ids, "keywords": words}).to_csv(tmp_path / "collection.csv", index=False)

    def run(*arguments):
        return succeeds(*arguments)

    run("sample", tmp_path, "--text-queries", 30, "--results", 10, "--base", 20, "--depth", 25, "--good", 0.1)
    pairs = read_pairs(tmp_path / "pairs.csv")
    alike = [
        len(set(words[ids.index(q)].split(";")) & set(words[ids.index(r)].split(";")))
        for q, r in zip(pairs["query_id"], pairs["result_id"], strict=True)
    ]
    value = np.clip(1 + 2 * np.array(alike) + np.round(rng.normal(0, 0.6, len(pairs))), 1, 5)
    ratings = pd.concat(
        [
            pairs[["query_id", "result_id", "block"]].assign(rater_id=name, rating=value)[keep]
            for name, keep in (
                ("x", (pairs["block"] == "base") | (np.arange(len(pairs)) % 2 == 0)),
                ("y", (pairs["block"] == "base") | (np.arange(len(pairs)) % 4 == 1)),
            )
        ]
    )
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    out = run(
        "calibrate", tmp_path / "ratings.csv", "-o", tmp_path, "--pairs", tmp_path / "pairs.csv", "--method", "none"
    )
    assert "of 330 sampled pairs are not judged" in out.output
    scores = pd.DataFrame([(q, r, rng.random()) for q in set(pairs["query_id"]) for r in ids if r != q])
    scores.set_axis(["query_id", "result_id", "score"], axis=1).assign(system="late").to_csv(
        tmp_path / "late.csv", index=False
    )
    scored = run(
        "score", tmp_path / "late.csv", "--judgments", tmp_path / "judgments.csv", "--threshold", 3.5, "--json"
    )
    notes = scored.output
    assert "figures speak of the pool" in notes and "the pool misses an estimated" in notes
    assert "results that late ranks first (25 a query) lie outside the pool" in notes
    assert "of 330 pairs drawn are not judged" in notes
    assert "Nothing judged speaks of" in notes and "of late's first 10 results (covered@10 is the rest)" in notes
    plain = run("score", tmp_path / "late.csv", "--judgments", tmp_path / "judgments.csv", "--threshold", 3.5).output
    assert "over the pool" in plain and "over the whole collection" not in plain
    judged = json.loads(scored.stdout)["pairs"]["judged"]
    assert judged == (pd.read_csv(tmp_path / "judgments.csv")["pool"] == "inside").sum()
    from_python = score(tmp_path / "late.csv", tmp_path / "judgments.csv", replicates=20, method="none")
    assert any("that late ranks first (25 a query) lie outside the pool" in note for note in from_python.notes)
    (tmp_path / "scores").mkdir(exist_ok=True)
    (tmp_path / "late.csv").rename(tmp_path / "scores" / "late.csv")
    run("report", tmp_path, "--replicates", 20, "--method", "none")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "of 330 pairs drawn are not judged" in page
    assert "that late ranks first (25 a query) lie outside the pool" in page


def test_a_pool_of_systems_that_return_nothing_is_refused():
    collection = Collection([Item(f"i{number}", "image") for number in range(12)])
    empty = [MatrixSource("s0", collection, np.full((12, 12), np.nan))]
    with pytest.raises(RelstudyError, match="no system of the pool returns a result"):
        draw_sample_from(collection, empty, SampleOptions(queries=3, results=2, base=0, depth=5))
