"""Couples: drawn with the probability that is written beside them, among neighbours in systems' rankings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.common.tables.meaning.pairs_table import read_pairs
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.lists import read_lists
from relstudy.studyapp.sampling.couples import add_couples, couple_sizes, draw_couples, draw_lists
from relstudy.studyapp.sampling.sources import open_sources
from tests.commands import relstudy, succeeds
from tests.studyapp.studies import TOML, write_study

PAIRS = "pair_id,query_id,result_id,paradigm,inclusion_probability,query_probability,block\n"
WHICH = TOML + '\n[[blocks]]\nname = "which"\nask = "which"\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two queries of eight drawn, and two systems that rank seven results by chance."""
    folder = write_study(tmp_path / "s", WHICH, results=7)
    rows = [f"p{number},q{number},r0,image,0.1,0.25,unique\n" for number in range(2)]
    (folder / "pairs.csv").write_text(PAIRS + "".join(rows))
    (folder / "scores").mkdir()
    rng = np.random.default_rng(3)
    for system in ("one", "two"):
        scores = [(system, f"q{q}", f"r{r}", rng.random()) for q in range(8) for r in range(7)]
        pd.DataFrame(scores, columns=["system", "query_id", "result_id", "score"]).to_csv(
            folder / "scores" / f"{system}.csv", index=False
        )
    return folder


def draw(folder: Path, seed: int, each: int = 3, depth: int = 5) -> pd.DataFrame:
    collection = Collection.load(folder)
    sources = open_sources(folder, collection, ["one.csv", "two.csv"])
    return draw_couples(folder, collection, sources, each, depth, seed)


@pytest.mark.slow
def test_each_couple_is_drawn_as_often_as_its_probability_says(study: Path) -> None:
    collection = Collection.load(study)
    sources = open_sources(study, collection, ["one.csv", "two.csv"])
    draws, often, said = 120, dict[tuple[str, ...], int](), dict[tuple[str, ...], float]()
    for seed in range(draws):
        couples = draw_couples(study, collection, sources, 3, 5, seed)
        assert len(couples) == 6
        for row in couples.itertuples(index=False):
            key = (row.query_id, *sorted((row.result_id, row.other_id)))
            often[key] = often.get(key, 0) + 1
            said.setdefault(key, row.inclusion_probability / row.query_probability)
            assert said[key] == row.inclusion_probability / row.query_probability
    for query in ("q0", "q1"):
        # couples that these draws never met are rare, and the rest sums to nearly three
        assert 2.8 < sum(chance for key, chance in said.items() if key[0] == query) <= 3 + 1e-9
    for key, chance in said.items():
        error = np.sqrt(chance * (1 - chance) / draws)
        assert abs(often[key] / draws - chance) <= 4.5 * error + 1e-12  # one of 40 beyond that comes once in 3,000


@pytest.mark.slow
def test_couples_of_lists_are_drawn_as_often_as_their_probability_says(study: Path) -> None:
    third = pd.read_csv(study / "scores" / "one.csv").assign(system="three", score=lambda table: -table["score"])
    third.to_csv(study / "scores" / "three.csv", index=False)
    collection = Collection.load(study)
    sources = open_sources(study, collection, ["one.csv", "two.csv", "three.csv"])
    first_of = {}
    for source in sources:
        frame = pd.read_csv(study / "scores" / f"{source.name}.csv").sort_values("score", ascending=False)
        for query, rows in frame.groupby("query_id"):
            first_of[f"{query}/{source.name}"] = tuple(rows["result_id"][:3])
    draws, often = 80, dict[tuple[str, ...], int]()
    for seed in range(draws):
        couples, lists = draw_lists(study, collection, sources, 2, 3, seed)
        assert {each.id: each.results for each in lists}.items() <= first_of.items()
        for row in couples.itertuples(index=False):
            assert (row.inclusion_probability, row.query_probability) == (pytest.approx(0.25 * 2 / 3), 0.25)
            assert row.source == f"{row.result_id[3:]};{row.other_id[3:]}"
            key = tuple(sorted((row.result_id, row.other_id)))
            often[key] = often.get(key, 0) + 1
    assert len(often) == 6
    # two of three couples of each query; one of six beyond four standard errors comes once in 2,500
    assert all(abs(count / draws - 2 / 3) < 4 * np.sqrt(2 / 9 / draws) for count in often.values())


@pytest.mark.slow
def test_two_systems_with_one_list_are_no_couple_and_lists_and_results_can_both_be_compared(study: Path) -> None:
    frame = pd.read_csv(study / "scores" / "one.csv")
    frame.assign(system="two").to_csv(study / "scores" / "two.csv", index=False)
    both = ["couples", study, "--each", "1", "--systems", "one.csv,two.csv"]
    alike = relstudy(*both, "--lists", "3")
    assert alike.exit_code == 1 and "no query has two systems with different lists" in alike.output
    frame.assign(system="two", score=-frame["score"]).to_csv(study / "scores" / "two.csv", index=False)
    for more in ([], ["--lists", "3"]):
        succeeds(*both, *more)
        again = relstudy(*both, *more)
        assert again.exit_code == 1 and "they are drawn once" in again.output
    assert len(read_pairs(study / "pairs.csv")) == 2
    assert len(read_pairs(study / "pairs.csv", couples=True)) == 4
    assert all(len(each.results) == 3 for each in read_lists(study).values())


def test_neighbours_at_the_top_are_drawn_most_and_every_couple_has_a_chance() -> None:
    ranks = np.array([[1.0, 2.0, 3.0, 9.0], [1.0, 2.0, np.nan, 3.0]])
    first, second, size = couple_sizes(ranks)
    by_couple = dict(zip(zip(first.tolist(), second.tolist(), strict=True), size.tolist(), strict=True))
    assert max(by_couple, key=by_couple.__getitem__) == (0, 1)
    assert min(size) > 0 and sum(size) == pytest.approx(1)
    assert by_couple[2, 3] == pytest.approx(0.1 / 6)  # six apart in one system, and absent from the other


def test_couples_stand_in_pairs_csv_and_are_no_pairs(study: Path) -> None:
    before = read_pairs(study / "pairs.csv")
    add_couples(study, Collection.load(study), draw(study, 1))
    pd.testing.assert_frame_equal(read_pairs(study / "pairs.csv"), before)
    couples = read_pairs(study / "pairs.csv", couples=True)
    assert len(couples) == 6 and (couples["result_id"] != couples["other_id"]).all()
    with pytest.raises(RelstudyError, match="it holds couples already"):
        draw(study, 2)


def test_the_command_draws_and_says_how_they_are_asked(study: Path) -> None:
    done = succeeds("couples", study, "--each", "2", "--depth", "4")
    assert "4 couples of 2 queries" in done.output and "No block asks" not in done.output
    assert len(read_pairs(study / "pairs.csv", couples=True)) == 4


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("c1,q0,r1,image,,,unique,r1\n", "another result than result_id is needed"),
        ("c1,q0,r1,image,,,unique,r2\nc2,q0,r2,image,,,unique,r1\n", "each may appear there once"),
        ("c1,q0,r1,image,,,unique,nobody\n", "the id of an item in collection.csv is needed"),
    ],
)
def test_a_couple_that_is_none_is_refused(study: Path, rows: str, message: str) -> None:
    (study / "pairs.csv").write_text(PAIRS.replace("\n", ",other_id\n") + rows)
    with pytest.raises(TableError, match=message):
        read_pairs(study / "pairs.csv", items=Collection.load(study), couples=True)
