"""The paper's tables as printed, on the example study: each against the same thing computed another way."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, kendalltau

from relstudy.analysis.commands.report import PaperOptions
from relstudy.analysis.indices.normalised_rank import normalised_rank_fifth_power
from relstudy.analysis.indices.precision_recall import average_precision
from relstudy.analysis.indices.registry import AVERAGE_PRECISION
from relstudy.analysis.pipeline import score_tables
from relstudy.analysis.report.collection import Items
from relstudy.analysis.report.inputs import PageTables, panels
from relstudy.analysis.report.layout import Block, Page, Paragraph, Picture
from relstudy.analysis.report.paper import correlations, people
from relstudy.analysis.report.paper.disputed import disputed, equal_words, interfaces, most_disputed
from relstudy.analysis.report.paper.fits import (
    ALL,
    APART,
    OF_THE_PAPER,
    OGIVE,
    STANDARD,
    Fits,
    fits_of,
    jobs_of,
    methods_note,
)
from relstudy.analysis.report.paper.indices import curves
from relstudy.analysis.report.paper.page import missing, paper_page
from relstudy.analysis.report.paper.reading import interfaces_of
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.report.tables import Table, shown_number
from relstudy.analysis.scoring.judged_pairs import rank_power_weights
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import read_study_folder
from relstudy.calibration.panel import Panel
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scales import SCALES, KnownScale
from relstudy.mapping.changepoint.mapping import BayesMapping
from relstudy.mapping.least_squares.isotonic import BaggedMapping
from relstudy.mapping.paper.local_search import LocalCorrelationMapping
from tests.analysis.report.pages import quietly
from tests.commands import relstudy
from tests.places import EXAMPLE, ROOT

pytestmark = pytest.mark.slow

METHODS = ("bagged", "correlation")
"""Those that take no second; the third is tried by the command."""


@pytest.fixture(scope="module")
def study(tables: PageTables) -> PaperStudy:
    """Two systems, with the predictions that stand in their mappings, and fewer folds for the fits made here.

    Every third pair is one that a later round drew by all systems together, too.
    """
    assert tables.pairs is not None
    drawn = tables.pairs["source"].where(np.arange(len(tables.pairs)) % 3 > 0, tables.pairs["source"] + ";combined")
    scored = read_study_folder(EXAMPLE)
    known = replace(tables.study, pairs=tables.pairs.assign(source=drawn))
    tables = replace(tables, study=known)
    two = [(name, table) for name, table in scored.scores() if name in ("keywords.csv", "gift.csv")]
    options = ScoringOptions(replicates=100)
    result = score_tables(known, two, options, fitted=scored.mappings).result
    result = replace(result, options=replace(result.options, folds=2))
    return PaperStudy(tables, result, interfaces_of(tables))


@pytest.fixture(scope="module")
def fits(study: PaperStudy) -> Fits:
    return fits_of(study, jobs_of(study), METHODS)


@pytest.fixture(scope="module")
def paper(study: PaperStudy) -> Page:
    return paper_page(study, ["relstudy", "report", "DIR"], quietly, ("bagged",))


def row_of(table: Table, *heads: str) -> dict[str, object]:
    cells = next(row for row in table.rows if list(row[: len(heads)]) == list(heads))
    return dict(zip((column.name for column in table.columns), cells, strict=True))


def test_every_selection_is_fitted_by_itself_and_its_figure_as_printed_is_in_sample(
    study: PaperStudy, fits: Fits
) -> None:
    tables = [block for block in correlations.by_selection(study, fits) if isinstance(block, Table)]
    # the paper's order, and pairs of a round of all systems after those of each
    assert [table.name for table in tables] == ["table-5-3-gift", "table-5-4-keywords"]
    assert [column.name for column in tables[1].columns if column.name.startswith("Pairs by")] == [
        f"Pairs by {name}" for name in ("gift", "simplicity", "keywords", "gift-colour", "gift-texture", "combined")
    ]
    printed = row_of(tables[1], "Least squares (4.1)", "in sample")
    for name, chosen in study.selections.items():
        score, judgment = study.result["keywords"].pair_scores[chosen], study.pairs.judgment[chosen]
        fit = BaggedMapping(seed=0, increasing="auto").fit(score, judgment, groups=study.pairs.query_id[chosen])
        expected = np.corrcoef(fit.mapping_.predict(score), judgment)[0, 1]
        assert printed[f"Pairs by {name}"].value == pytest.approx(expected, abs=1e-9)  # type: ignore[attr-defined]


def test_mean_and_spread_are_over_the_selecting_systems_without_random_pairs(study: PaperStudy, fits: Fits) -> None:
    assert "random" in set(study.tables.pair_column("source"))  # type: ignore[arg-type]
    for table in correlations.by_selection(study, fits):
        assert isinstance(table, Table)
        for cells in table.rows:
            row = dict(zip((column.name for column in table.columns), cells, strict=True))
            by = {name: cell.value for name, cell in row.items() if name.startswith("Pairs by")}  # type: ignore[union-attr]
            assert len(by) == len(study.selections) == 6
            figures = [value for name, value in by.items() if name != "Pairs by combined"]
            assert row["Mean"].value == pytest.approx(np.mean(figures))  # type: ignore[union-attr]
            assert row["SD"].value == pytest.approx(np.std(figures, ddof=1))  # type: ignore[union-attr]
            assert (row["Mean"].low is not None) == (row["Figures"] == "out of fold")  # type: ignore[union-attr]


def test_the_order_of_the_systems_is_that_of_their_correlations_on_each_selections_pairs(study: PaperStudy) -> None:
    said, table = correlations.orders(study)
    assert isinstance(said, Paragraph) and isinstance(table, Table)
    orders = {}
    for source, order, tau in table.rows:
        pairs = slice(None) if source == "all pairs" else study.selections[str(source)]
        r = {
            each.name: np.corrcoef(each.mapped_scores[pairs], study.result.judgment[pairs])[0, 1]  # type: ignore[index]
            for each in study.systems
        }
        orders[source] = " > ".join(sorted(r, key=lambda name: -r[name]))
        assert order == orders[source]
        if source != "all pairs":  # of two systems tau is 1 or -1
            assert tau.value == (1 if order == orders["all pairs"] else -1)  # type: ignore[union-attr]
    assert set(orders) == {"all pairs", *study.selections}
    alike = [source for source in study.selections if orders[source] == orders["all pairs"]]
    assert said.text.startswith(
        "The order of the systems is the same whoever"
        if len(alike) == len(study.selections)
        else f"The order of the systems is that of all pairs in {len(alike)} of {len(study.selections)} selections"
    )


def test_the_best_method_is_chosen_out_of_fold_and_the_printed_figure_stands_beside_it(
    study: PaperStudy, fits: Fits
) -> None:
    table = correlations.at_its_best(study, fits)[0]
    assert isinstance(table, Table)
    assert {row[1] for row in table.rows} == {"yes"}  # chose pairs
    for name in ("keywords", "gift"):
        row = row_of(table, name)
        honest = [fits[name][method][ALL].honest(study).value for method in METHODS]
        printed = [fits[name][method][ALL].printed(study).value for method in METHODS]
        assert row["Out of fold"].value == max(honest) < row["In sample, as printed"] == max(printed)  # type: ignore[attr-defined, operator]


def test_variance_before_and_after_is_that_of_the_common_set_alone(study: PaperStudy, tables: PageTables) -> None:
    assert tables.ratings is not None
    table = people.calibration(study)[0]
    assert isinstance(table, Table)
    base = tables.ratings.frame[tables.ratings.frame["base"]]
    for title, column in (("Average variance as rated", "rating"), ("Average variance calibrated", "calibrated")):
        decided = base.dropna(subset="rating")
        expected = decided.groupby(["query_id", "result_id"])[column].var().mean()
        assert row_of(table, title)["query by image, 1-5"].value == pytest.approx(expected)  # type: ignore[attr-defined]


def test_a_second_round_has_a_row_of_its_own(study: PaperStudy) -> None:
    pairs = study.tables.pairs
    assert pairs is not None
    later = pairs.assign(round=np.where(np.arange(len(pairs)) % 2, 2, 1))
    tables = replace(study.tables, study=replace(study.tables.study, pairs=later))
    table = people.uniformity(replace(study, tables=tables))[0]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["Initial data", "Mapped data, round 2"]


def table_59(study: PaperStudy) -> list[Block]:
    return people.one_person(study, people.by_person(study))


def test_one_persons_correlation_is_over_that_persons_ratings(study: PaperStudy, tables: PageTables) -> None:
    assert tables.ratings is not None
    author = str(tables.ratings.frame["rater_id"].iloc[0])
    table = table_59(replace(study, author=author))[0]
    assert isinstance(table, Table)
    ratings = tables.ratings.frame.dropna(subset="rating")
    system = study.result["keywords"]
    scored = pd.DataFrame({"query_id": study.pairs.query_id, "result_id": study.pairs.result_id})
    both = ratings[ratings["rater_id"] == author].merge(scored.assign(score=system.mapped_scores))
    expected = np.corrcoef(both["score"], both["calibrated"])[0, 1]
    assert str(row_of(table, "keywords")["One person"]).startswith(f"{expected:.2f} (")
    with pytest.raises(RelstudyError, match="is not a rater who decided"):
        people.by_person(replace(study, author="nobody"))


def test_below_table_59_stand_the_systems_whose_difference_lies_on_one_side_of_0(study: PaperStudy) -> None:
    """Each rater of the example in turn: with some a system is above 0, with some below, with some none is either."""
    assert study.ratings is not None
    sides = set()
    for author in study.ratings.frame["rater_id"].unique():
        table, sentence = table_59(replace(study, author=author))
        assert isinstance(table, Table) and isinstance(sentence, Paragraph)
        side = {row[0]: (row[-1].low > 0) - (row[-1].high < 0) for row in table.rows}  # type: ignore[union-attr, operator]
        apart = [str(name) for name, beyond in side.items() if beyond]
        assert sentence.text == (
            f"The correlations of {' and '.join(apart)} on this rater's pairs and on the others' differ beyond their "
            "intervals."
            if apart
            else "No system's correlation differs between this rater's pairs and the others' beyond its interval."
        )
        sides.add(sum(side.values()))
    assert sides == {-1, 0, 1}


def test_normalised_rank_as_printed_takes_a_judgment_above_the_middle(paper: Page, study: PaperStudy) -> None:
    table = next(table for table in paper.tables() if table.name == "table-5-8")
    expected = normalised_rank_fifth_power(study.pairs.judgment > 3, study.result["keywords"].pair_scores)
    assert row_of(table, "keywords")["Eq. 5.5"] == pytest.approx(expected)


def test_the_disputed_pairs_are_those_of_greatest_variance_and_show_their_pictures(
    study: PaperStudy, tables: PageTables, tmp_path: Path
) -> None:
    assert tables.ratings is not None
    panel = panels(tables.ratings)[0]
    pairs = most_disputed(panel, 3)
    base = tables.ratings.frame[tables.ratings.frame["block"] == "base"].dropna(subset="rating")
    decided = base.groupby(["query_id", "result_id"])["rating"]
    variance = decided.var().nlargest(3)
    assert pairs["variance"].tolist() == pytest.approx(variance.tolist())
    from PIL import Image

    (tmp_path / "study").mkdir()
    assert tables.items is not None
    shown_items = sorted({*pairs["query_id"], *pairs["result_id"]})
    for item in shown_items:
        Image.new("RGB", (400, 300), "navy").save(tmp_path / f"{item}.jpg")
        shutil.copy(tmp_path / f"{item}.jpg", tmp_path / "study")

    def drawings(prefix: str, with_pictures: bool) -> str:
        paths = pd.DataFrame({"path": [f"{prefix}{item}.jpg" for item in shown_items]}, index=shown_items)
        items = Items(tmp_path / "study", paths)
        shown = replace(study, tables=replace(tables, items=items), with_pictures=with_pictures)
        return "".join(each for block in disputed(shown) if isinstance(block, Picture) for each in block.drawings)

    assert "data:image/jpeg;base64," in drawings("", True)
    # neither where they shall be left out, nor from outside the study's folder
    assert "data:image" not in drawings("", False) + drawings("../", True)
    # one that cannot be read ended in a traceback
    for item in shown_items:
        (tmp_path / "study" / f"{item}.jpg").write_bytes(b"<svg/>")
    assert "data:image" not in drawings("", True)


def two_blocks(with_base: bool) -> Panel:
    """Ten pairs that twelve raters judged alike but for noise, and a hundred with three ratings each, just as noisy."""
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame({"rater_id": raters, "query_id": "q", "result_id": f"{block}{pair:03}", "base": block == "base"})
        for block, raters, pairs in (
            ("base", [f"r{i}" for i in range(12)], 10 if with_base else 0),
            ("own", ["r0", "r1", "r2"], 100),
        )
        for pair in range(pairs)
    ]
    rows = pd.concat(frames, ignore_index=True)
    return Panel.from_frame(rows.assign(rating=3 + rng.normal(size=len(rows))))


def test_three_ratings_that_happen_to_lie_far_apart_are_no_dispute() -> None:
    """Of pairs that all vary alike those with few ratings have the greatest variance; the base block is shown."""
    pairs = most_disputed(two_blocks(with_base=True))
    assert pairs["ratings"].tolist() == [12.0] * 6
    without = most_disputed(two_blocks(with_base=False))
    assert without["ratings"].tolist() == [3.0] * 6


def test_the_greatest_variance_of_pairs_that_vary_alike_is_above_that_by_chance_in_5_of_100_studies() -> None:
    rng = np.random.default_rng(1)
    variances = rng.normal(size=(2000, 100, 3)).var(axis=2, ddof=1)
    above = (variances.max(axis=1) > chi2.ppf(0.95 ** (1 / 100), 2) / 2).mean()
    assert above == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))
    pairs = most_disputed(two_blocks(with_base=False))
    # the mean variance of a hundred pairs of three ratings is 1 give or take .1
    assert pairs["by_chance"].iloc[0] == pytest.approx(chi2.ppf(0.95 ** (1 / 100), 2) / 2, rel=0.3)


def test_figure_31_has_two_results_of_one_query_with_one_score_that_people_judge_furthest_apart(
    study: PaperStudy,
) -> None:
    [table] = equal_words(study)
    assert isinstance(table, Table)
    (query, first, score, high), (same_query, second, same_score, low) = table.rows
    assert query == same_query and score == same_score and first != second
    frame = pd.DataFrame({"q": study.pairs.query_id, "j": study.pairs.judgment})
    frame["s"] = study.result["keywords"].pair_scores
    widest = max(group["j"].max() - group["j"].min() for _, group in frame[frame["s"] > 0].groupby(["q", "s"]))
    assert high - low == pytest.approx(widest)  # type: ignore[operator]


def test_graded_and_binary_answers_to_the_same_pairs_make_figure_52(study: PaperStudy) -> None:
    graded = next(iter(study.interfaces.values()))
    answers = graded.frame.assign(rating=(graded.frame["rating"] > 3).astype(float).where(graded.frame["rating"] > 0))
    binary: Ratings = replace(graded, frame=answers, scale=KnownScale(SCALES["binary"], "named", ""))
    [block] = interfaces(replace(study, interfaces={"graded": graded, "binary": binary}))
    assert isinstance(block, Picture) and "scheme 2" in block.drawings[0]
    assert isinstance(interfaces(study)[0], Paragraph)


def test_figure_53_says_that_the_papers_weights_turn_the_order_round(study: PaperStudy) -> None:
    """Of all systems of the example, by pooled average precision with either weights."""
    scored = read_study_folder(EXAMPLE)
    result = score_tables(study.tables.study, scored.scores(), ScoringOptions(replicates=20), fitted=scored.mappings)
    five = replace(study, result=result.result)
    by_design, by_rank = [], []
    for system in five.systems:
        used = np.isfinite(system.pair_scores)
        score = system.pair_scores[used] * (1 if system.direction.higher else -1)
        relevant = five.pairs.judgment[used] > 3
        by_rank.append(average_precision(relevant, score, rank_power_weights(score, 5)))
        by_design.append(system.estimate(AVERAGE_PRECISION).value)
    tau = kendalltau(by_design, by_rank).statistic
    assert tau < -0.5
    caption = next(block for block in curves(five) if isinstance(block, Picture)).caption
    assert f"reverses the order: Kendall's tau {shown_number(tau)}" in caption


def test_every_table_names_its_number_and_what_differs(paper: Page) -> None:
    tables = paper.tables()
    numbers = {table.caption.split(":")[0] for table in tables}
    assert {f"Table 5.{n}" for n in (1, 2, 3, 4, 7, 8, 9)} <= numbers
    assert tables[-1].name == "claims"  # the page ends with them; they are no table of the paper's
    assert all("What differs" in table.note for table in tables[:-1])
    html = html_of(paper)
    assert all(f"Figure {n}" in html for n in ("2.2", "4.2", "4.5", "4.6", "4.7", "5.1", "5.3"))
    assert "$\\mathdefault" not in html
    needs = missing(paper)
    assert [need.partition(" needs ")[0] for need in needs] == ["Figure 5.2", "Section 5.7", "Table 5.10"]


def test_the_command_writes_page_csv_and_latex_into_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mappings", "gift*", "report"))
    arguments = [str(folder), "--replicates", "50", "--folds", "2", "--paper-tables"]
    paper = folder / "report" / "paper"
    paper.mkdir(parents=True)
    (paper / "table-5-4-gone.csv").write_text("of an earlier run")
    (paper / "section-5-7.csv").write_text("of an earlier run")
    (paper / "notes.csv").write_text("somebody's own")
    graded = pd.read_csv(EXAMPLE / "calibrated.csv", dtype={"query_id": str, "result_id": str})
    good = (graded["rating"] > 3).astype(float).where(graded["rating"].notna())
    binary = graded.assign(rating=good, calibrated=good, scale="binary", scale_low=0, scale_high=1, scale_step=1)
    (folder / "binary").mkdir()
    binary.to_csv(folder / "binary" / "calibrated.csv", index=False)
    arguments += ["--interface", str(folder / "binary")]
    done = relstudy("report", *arguments)
    assert "Figure 5.2 needs" not in done.stdout
    assert "query by image, binary" in pd.read_csv(paper / "table-5-1.csv").columns
    assert "are undecided on the paper's own numbers; here" in done.stdout and (paper / "claims.csv").exists()
    assert not (paper / "section-5-7.csv").exists()
    assert not (paper / "table-5-4-gone.csv").exists() and (paper / "notes.csv").exists()
    assert done.exit_code == 0
    assert "The paper's tables and figures are in" in done.stdout and "Table 5.10 needs" in done.stdout
    written = {path.name for path in (folder / "report" / "paper").iterdir()}
    assert {"index.html", "table-5-4-keywords.csv", "table-5-4-keywords.tex", "table-5-9.csv"} <= written
    methods = pd.read_csv(folder / "report" / "paper" / "table-5-4-keywords.csv")["Fitting method"]
    assert set(methods) == {"Least squares (4.1)", "Correlation (4.2)", "Bayesian (4.3)"}


@pytest.mark.parametrize(
    ("name", "method"), [("local-bagged", LocalCorrelationMapping), ("bayes-conjugate", BayesMapping)]
)
def test_the_papers_own_methods_make_the_row_of_their_section(
    study: PaperStudy, name: str, method: type[LocalCorrelationMapping | BayesMapping]
) -> None:
    job = next(job for job in jobs_of(study) if job == (study.result["keywords"], ALL))
    seconds: dict[str, float] = {}
    fit = fits_of(study, [job], (name,), seconds)["keywords"][name][ALL]
    score, judgment = study.result["keywords"].pair_scores, study.pairs.judgment
    more = {"bagged": 25} if name == "local-bagged" else {"prior": "conjugate"}
    alone = method(seed=0, increasing="auto", **more).fit(score, judgment, groups=study.pairs.query_id.astype(str))
    expected = np.corrcoef(alone.mapping_.predict(score), judgment)[0, 1]
    assert fit.printed(study).value == pytest.approx(expected, abs=1e-9)
    assert list(seconds) == [name] and seconds[name] > 0


def test_notes_say_what_stands_in_the_place_of_the_papers_methods(study: PaperStudy, fits: Fits) -> None:
    """The tables had other methods than the paper's, and nothing said so; figures: docs/evidence/differences.md."""
    table = correlations.by_selection(study, fits)[0]
    assert isinstance(table, Table) and "The paper's local optimiser (4.2) is replaced" in table.note
    best = correlations.at_its_best(study, fits)[0]
    assert isinstance(best, Table) and "--paper-methods takes" in best.note
    assert methods_note(OF_THE_PAPER) == methods_note((OGIVE,)) == "The methods are the paper's own."
    printed = (ROOT / "docs" / "evidence" / "differences.md").read_text(encoding="utf-8")
    for method, apart in APART.items():
        found = float(re.findall(rf"furthest apart, {method} +(\d\.\d+)", printed)[0])
        assert round(100 * (apart - found)) in (0, 1)  # printed to two digits; what the note says is at most one more


def test_options_choose_the_methods_of_the_papers_page() -> None:
    def chosen(paper_tables: bool = True, **given: bool) -> PaperOptions:
        return PaperOptions(paper_tables=paper_tables, **given)

    assert chosen().methods == STANDARD and chosen(paper_methods=True).methods == OF_THE_PAPER
    own = chosen(paper_methods=True, ogive=True)
    assert own.methods == ("bagged", "local-bagged", "ogive")
    assert own.as_arguments() == ["--paper-tables", "--paper-methods", "--ogive"]
    for given in ({"paper_methods": True, "paper_tables": False}, {"ogive": True}):
        with pytest.raises(click.UsageError, match=r"go(es)? with --paper"):
            chosen(**given)


def test_options_of_the_papers_page_need_it() -> None:
    done = relstudy("report", EXAMPLE, "--author", "x")
    assert done.exit_code == 2 and "--paper-tables" in done.output


def test_before_and_after_calibration_are_of_the_same_people() -> None:
    """A rater left out of the calibration emptied the column after it, and was still among those before it."""
    from relstudy.analysis.report.paper.people import within_item_variance
    from relstudy.analysis.report.paper.study import _of_the_same
    from relstudy.calibration.panel import Panel

    frame = pd.DataFrame({"rater_id": list("abcabc"), "pair_id": list("pppqqq"), "rating": [1.0, 2, 5, 3, 4, 1]})
    given = Panel.from_frame(frame)
    raw, calibrated = _of_the_same(given, given.with_rating(np.array([1.5, 1.5, np.nan, 3.5, 3.5, np.nan])))
    assert calibrated is not None
    every = np.ones(len(raw.rating), dtype=bool)
    assert within_item_variance(raw, every).value == pytest.approx(0.5)
    assert within_item_variance(calibrated, every).value == pytest.approx(0.0)
    assert len(np.unique(raw.rater)) == 2
