"""One result from each system on a page (Shirahatti and Barnard 2005, appendix A.1.1), with its probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.pairs_table import one_row_per_source, read_pairs, write_pairs
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import pages
from relstudy.studyapp.sampling.first_round import draw_sample_from
from relstudy.studyapp.sampling.options import SampleOptions
from relstudy.studyapp.sampling.query_draw import draw_from_each
from relstudy.studyapp.sampling.sampling_design import Design, candidate_probabilities
from tests.studyapp.sampling.worlds import noise_world
from tests.studyapp.studies import write_study

SYSTEMS = 3
OPTIONS = {"queries": 5, "results": 6, "base": 8, "one_from_each": True}


@pytest.mark.slow
def test_results_are_drawn_as_often_as_their_probability_says():
    """Where systems agree and where they do not: two of the three are nearly one."""
    collection, sources = noise_world(12, SYSTEMS, seed=1)
    sources[1].scores[:] = sources[0].scores + 1e-3 * sources[1].scores
    this = draw_sample_from(collection, sources, SampleOptions(**OPTIONS)).design.rounds[0]
    query, draws = collection.items[3], 3000
    chances = candidate_probabilities(this, query, collection, sources)
    assert chances.by_system is not None
    rng, counts = np.random.default_rng(4), np.zeros(12)
    for _ in range(draws):
        counts[draw_from_each(chances, chances.by_system, rng).positions] += 1
    p, found = chances.probability, counts[chances.candidates] / draws
    free = p < 1
    assert (found[~free] == 1).all() and counts[3] == 0
    # four and a half standard errors: of eleven results, by chance one in ten thousand runs leaves them
    assert (abs(found - p)[free] < 4.5 * np.sqrt(p * (1 - p) / draws)[free]).all()
    # each system draws two, and those that two systems draw are counted once
    assert chances.by_system.sum(axis=1) == pytest.approx([2] * SYSTEMS)
    assert counts.sum() / draws == pytest.approx(p.sum(), rel=0.01) and p.sum() < 2 * SYSTEMS - 0.5


@pytest.mark.slow
def test_weights_stand_for_the_whole_collection():
    collection, sources = noise_world(12, SYSTEMS, seed=1)
    totals = []
    for seed in range(40):
        pairs = draw_sample_from(collection, sources, SampleOptions(**OPTIONS, seed=seed)).pairs
        totals.append((1 / pairs["inclusion_probability"]).sum())
    # Horvitz and Thompson: on average over draws the weights are 12 queries of 11 results
    assert abs(np.mean(totals) - 132) < 3 * np.std(totals, ddof=1) / np.sqrt(len(totals))


def test_a_page_shows_one_result_from_each_system_and_a_result_of_two_systems_once():
    collection, sources = noise_world(12, SYSTEMS, seed=2)
    drawn = draw_sample_from(collection, sources, SampleOptions(**OPTIONS))
    pairs = drawn.pairs
    assert not pairs.duplicated(["query_id", "result_id"]).any()
    by_system = one_row_per_source(pairs)
    assert (by_system.groupby(["query_id", "source"]).size() == 2).all() and by_system["source"].nunique() == SYSTEMS
    assert (pairs.groupby(["query_id", "page"]).size() <= SYSTEMS).all() and set(pairs["page"]) == {1, 2}
    assert pairs["source"].str.contains(";").any() == (len(pairs) < 30)
    # what everyone rates are whole pages
    assert (pairs.groupby(["query_id", "page"])["block"].nunique() == 1).all()
    assert drawn.design.rounds[0].from_each == 2


def test_results_that_do_not_share_out_are_refused_with_a_number_that_does():
    collection, sources = noise_world(12, SYSTEMS)
    with pytest.raises(RelstudyError, match="7 results of a query do not share out evenly among 3 systems; 6 would"):
        draw_sample_from(collection, sources, SampleOptions(queries=2, results=7, one_from_each=True))


def test_the_design_survives_being_written_and_old_designs_draw_together(tmp_path):
    collection, sources = noise_world(12, SYSTEMS)
    drawn = draw_sample_from(collection, sources, SampleOptions(**OPTIONS))
    drawn.design.save(tmp_path)
    assert Design.load(tmp_path).rounds == drawn.design.rounds
    content = (tmp_path / "design.json").read_text().replace(',\n   "from_each": 2', "")
    (tmp_path / "design.json").write_text(content)
    assert Design.load(tmp_path).rounds[0].from_each == 0


@pytest.mark.slow
def test_the_app_puts_together_what_the_draw_put_on_a_page(tmp_path):
    write_study(tmp_path, base_queries=0, unique_queries=2, results=6)
    table = read_pairs(tmp_path / "pairs.csv")
    table["page"] = pd.array([1, 2, 3, 1, 2, 3] * 2, dtype="Int64")
    write_pairs(table, tmp_path / "pairs.csv")
    prepare(tmp_path)
    store = Store.of_study(tmp_path)
    with store.read() as connection:
        shown = connection.execute(sa.select(pages.c.pair_ids).where(pages.c.block == "unique")).scalars().all()
    store.dispose()
    page_of = table.set_index("pair_id")
    together = {frozenset(pair_ids) for pair_ids in shown}
    expected = {frozenset(group.index) for _, group in page_of.groupby(["query_id", "page"])}
    assert together == expected and len(together) == 6
