"""Systems that chose no pairs: they join the comparison and disturb nothing that speaks of those that did."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.report import selection, study
from relstudy.analysis.report.choices import PageChoices
from relstudy.analysis.report.layout import Page, Paragraph
from relstudy.analysis.report.tables import Table
from relstudy.analysis.report.words import orders_agree
from relstudy.analysis.scoring.compared import Comparison, Ordering
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.common.estimates import Estimate
from tests.analysis.report.pages import made_of
from tests.places import EXAMPLE

pytestmark = pytest.mark.slow

CHOSE = {"keywords", "gift-texture", "simplicity"}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> tuple[Page, ScoreResult]:
    """The example's page as if gift and gift-colour had come after the draw: random pairs in place of theirs."""
    folder = tmp_path_factory.mktemp("mixed") / "study"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mappings"))
    pairs = pd.read_csv(folder / "pairs.csv", dtype=str, keep_default_na=False)
    pairs["source"] = pairs["source"].where(pairs["source"].isin(CHOSE), "random")
    pairs.to_csv(folder / "pairs.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "PAPER_METHODS", ("isotonic",))
        page, run = made_of(folder, ScoringOptions(replicates=60, folds=4), PageChoices(by_source=True))
        return page, run.result


def tables_of(page: Page) -> dict[str, Table]:
    return {table.file: table for table in page.tables()}


def test_tables_by_selecting_system_are_of_the_systems_that_selected(mixed):
    tables = tables_of(mixed[0])
    made = {name.removeprefix("by-source-") for name in tables if name.startswith("by-source-")}
    assert made == CHOSE
    for row in tables["orders-by-selection"].rows:
        assert set(str(row[1]).split(" > ")) == CHOSE


def test_the_comparison_of_all_variants_says_who_chose_pairs(mixed):
    table = tables_of(mixed[0])["combined"]
    place = [column.name for column in table.columns].index("Chose pairs")
    assert {row[0] for row in table.rows if row[place] == "yes"} == CHOSE
    assert {row[0] for row in table.rows if row[place] == "no"} == {"gift", "gift-colour"}


def test_the_order_is_told_of_those_that_chose_of_all_and_of_each_family(mixed):
    page, result = mixed
    paper = next(section for section in page.sections if section.id == "paper")
    told = [block.text for block in paper.blocks if isinstance(block, Paragraph) and "indices (" in block.text]
    assert told == [
        orders_agree(result, CHOSE, "the systems that chose pairs"),
        orders_agree(result, None, "all systems"),
        orders_agree(result, {"gift", "gift-colour", "gift-texture"}, "the variants of gift"),
    ]
    assert "gift-colour" not in told[0]


def test_where_everyone_chose_pairs_the_page_does_not_speak_of_it(page):
    table = tables_of(page)["combined"]
    assert "Chose pairs" not in [column.name for column in table.columns]
    assert "that chose no pairs" not in table.note


def comparison(first: str, second: str, index: str, value: float, p: float) -> Comparison:
    return Comparison(first, second, index, Estimate(value, value - 0.1, value + 0.1), p, p, 100)


def ordered(result: ScoreResult, orders: dict[str, str], comparisons: list[Comparison]) -> ScoreResult:
    """The result with these orders, one letter a system, and comparisons."""
    made = tuple(Ordering(index, tuple(order), {}, 100) for index, order in orders.items())
    return replace(result, orderings=made, comparisons=tuple(comparisons))


def test_an_order_among_some_leaves_the_others_out(result):
    orders = {"pearson": "axbyc", "average_precision": "abcxy", "normalised_rank": "yabxc"}
    made = ordered(result, orders, [])
    assert orders_agree(made, set("abc")) == (
        "All indices (correlation, pooled AP and good above poor) put the systems in the same order: a > b > c."
    )
    assert orders_agree(made).startswith("The indices (correlation, pooled AP and good above poor) don't put the")
    assert orders_agree(made, {"a"}) == ""


def test_a_contradiction_is_one_only_where_both_leads_are_more_than_chance(result):
    orders = {"pearson": "ab", "normalised_rank": "ba"}
    # a normalised rank is better when lower: a positive difference favours the second
    for p, chance in ((0.3, True), (0.001, False)):
        leads = [comparison("a", "b", "pearson", 0.2, 0.001), comparison("a", "b", "normalised_rank", 0.2, p)]
        assert ("one of the leads may be chance" in orders_agree(ordered(result, orders, leads))) == chance


def test_systems_that_chose_are_known_by_the_sources_of_the_pairs():
    sources = np.array(["keywords", "keywords;colour", "random", ""])
    assert selection.chose_pairs(["gift", "keywords", "colour"], sources) == ["keywords", "colour"]
    assert selection.chose_pairs(["gift"], None) == ["gift"]


def test_uniformity_is_told_round_by_round():
    one = pd.DataFrame({"rating": [1, 1, 1, 2, 3], "source": ["a", "a", "a", "b", "b"], "round": "1"})
    two = pd.DataFrame({"rating": [1, 2, 3, 4, 5], "source": ["a", "a", "b", "b", "combined"], "round": "2"})
    table = selection.uniformity(pd.concat([one, two], ignore_index=True), [1, 2, 3, 4, 5])
    assert [column.name for column in table.columns][:3] == ["Pairs proposed by", "Round", "Ratings"]
    found = {(row[0], row[1]): row[-1] for row in table.rows}
    assert found["a", "1"] == pytest.approx((0.8 + 4 * 0.2) / 5)
    assert found["all pairs", "1"] == pytest.approx((0.4 + 0 + 0 + 0.2 + 0.2) / 5)
    assert found["all pairs", "2"] == 0
    assert ("combined", "2") in found
