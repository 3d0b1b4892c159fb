"""The paper's claims: on its own printed numbers, by hand; and in studies made so that each holds, or does not."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.indices.normalised_rank import random_assignment
from relstudy.analysis.report.inputs import PageTables
from relstudy.analysis.report.paper import people, printed
from relstudy.analysis.report.paper.claims import Claim, Here, as_json, claims_of, claims_table, summary
from relstudy.analysis.report.paper.fits import ALL, fits_of, jobs_of
from relstudy.analysis.report.paper.printed import Printed
from relstudy.analysis.report.paper.reading import interfaces_of
from relstudy.analysis.report.paper.rules import FAILS, HOLDS, UNTOLD, Evidence, above, by_most, judged, near, varied
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.tables import Table
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import read_study_folder, score_study
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.results.estimates import Estimate
from relstudy.common.tables.meaning.scales import SCALES, KnownScale, Scale
from tests.places import EXAMPLE

ON_PRINT = {
    "2.2, 6 About 16,000 pairs": FAILS,
    "2.1 32 people": HOLDS,
    "4.2 Maximising correlation": HOLDS,
    "5.2 Calibration reduces": HOLDS,
    "5.2 Calibrated ratings": HOLDS,
    "5.2 The more abstract": UNTOLD,
    "5.3 1-9 takes": UNTOLD,
    "5.3 Queries by text": UNTOLD,
    "5.3 Queries of two words": UNTOLD,
    "5.3 Answers on 1-9": UNTOLD,
    "5.4 Pairs drawn with": HOLDS,
    "5.4 Keywords choose": HOLDS,
    "5.5.1 SIMPLIcity correlates": HOLDS,
    "5.5.1 GIFT and SIMPLIcity": HOLDS,
    "5.9 The order of systems": HOLDS,
    "6 Who chose": HOLDS,
    "5.9 Keywords > RWMM-ALL": UNTOLD,
    "5.9 Curves": UNTOLD,
    "5.9 Normalised rank": UNTOLD,
    "6 All indices": UNTOLD,
    "table 5.8 Normalised rank": UNTOLD,
    "5.5.4 Every system": HOLDS,
    "5.6 One person": FAILS,
    "5.7 Keywords on queries": HOLDS,
    "5.8 Colour alone": UNTOLD,
    "6 Keywords outperform": HOLDS,
    "6 Words in training": HOLDS,
    "6 Models do better": HOLDS,
    "6 RWMM-TEST": FAILS,
    "6 ROMM-ALL": HOLDS,
    "6 ROMM-TEST is worse": UNTOLD,
    "6 ROMM-TEST is the same": UNTOLD,
}
"""Read off the printed tables by hand."""


@pytest.fixture(scope="module")
def here(tables: PageTables) -> Here:
    run = score_study(read_study_folder(EXAMPLE), ScoringOptions(replicates=100, folds=2))
    study = PaperStudy(tables, run.result, interfaces_of(tables))
    jobs = [job for job in jobs_of(study) if job[1] == ALL or job[0].name in ("gift", "keywords")]
    return Here(study, fits_of(study, jobs, ("bagged",)), {}, people.by_person(study))


@pytest.fixture(scope="module")
def claims(here: Here) -> dict[str, Claim]:
    return {f"{claim.where} {claim.text}": claim for claim in claims_of(here)}


def of(claims: Mapping[str, Claim], head: str) -> Claim:
    [found] = [claim for name, claim in claims.items() if name.startswith(head)]
    return found


@pytest.mark.slow
def test_what_the_printed_numbers_bear_out_is_what_one_reads_off_them(claims: dict[str, Claim]) -> None:
    assert len(claims) == len(ON_PRINT)
    assert {head: of(claims, head).printed.verdict for head in ON_PRINT} == ON_PRINT


def test_what_is_printed_names_its_numbers() -> None:
    checks = [each for name, each in vars(printed).items() if inspect.isfunction(each) and not name.startswith("_")]
    checks = [each for each in checks if inspect.signature(each).return_annotation == "Evidence"]
    found = [each() for each in checks if not inspect.signature(each).parameters]
    assert len(found) == 17
    assert all(any(char.isdigit() for char in each.what) and each.figures for each in found)


@pytest.mark.parametrize(
    ("found", "value", "low", "high", "said"),
    [
        # .24 - .35 with the roundings .01 and 1.96 * sqrt(.03^2 + .03^2) = .0832; one of table 5.9's 21 differences
        (printed.within_standard_errors().figures[7], -0.11, -0.2032, -0.0168, "RWMM-ALL, others and combined"),
        # .18 - .9 * .19 with the roundings .005 and .0045: under nine tenths within the digits
        (printed.colour_nearly_both().figures[0], 0.009, -0.0005, 0.0185, "0.15 of 0.17"),
        (printed.order_of_systems().figures[2], -0.01, -0.082, 0.062, "RWMM-TEST 0.23, ROMM-ALL 0.24"),
        (printed.number_of_pairs().figures[0], -9000, -10000, -8000, "20,000 pairs by image and 5,000 by text"),
        (printed.random_is_half().figures[0], 0.4171, 0.1709, 0.7403, "0.42 where 40 %"),
        (printed.higher_on_two_selections().figures[0], 0.0392, 0.0292, 0.0492, "in 3 of 6 rows"),
    ],
)  # fmt: skip
def test_a_printed_figure_has_the_interval_of_its_digits_and_errors(
    found: Estimate, value: float, low: float, high: float, said: str
) -> None:
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=6e-5)
    evidence = (check() for name, check in vars(printed).items() if name in SENTENCES)
    assert any(said in each.what for each in evidence)


SENTENCES = (
    *("within_standard_errors", "colour_nearly_both", "order_of_systems", "number_of_pairs", "random_is_half"),
    "higher_on_two_selections",
)


def test_printed_figures_add_up_with_their_roundings_and_errors() -> None:
    one, other = Printed(0.5, 0.005, 0.03), Printed(0.25, 0.005, 0.04)
    both = one - 2 * other
    assert both.value == 0 and both.rounding == pytest.approx(0.015) and both.error == pytest.approx(0.0854, abs=1e-4)


def test_most_orders_and_some_order() -> None:
    same, other, open_ = Estimate(1.0, 0.3, 1.0), Estimate(0.3, -0.3, 0.6), Estimate(0.6, 0.0, 1.0)
    assert by_most(Evidence("x", (same, same, other))).verdict == HOLDS
    assert by_most(Evidence("x", (other, other, same))).verdict == FAILS
    assert by_most(Evidence("x", (same, open_, other))).verdict == UNTOLD
    assert varied(Evidence("x", (same, other))).verdict == HOLDS
    assert varied(Evidence("x", (same, same))).verdict == FAILS
    assert varied(Evidence("x", (same, open_))).verdict == UNTOLD


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.7])
def test_random_fifth_powers_are_those_of_many_pairs(share: float) -> None:
    exact = random_assignment(np.arange(20_000) < share * 20_000)["fifth_power"]
    # sums of fifth powers to leading order: off by about 3 / N
    assert printed.random_fifth_powers(share) == pytest.approx(exact, abs=5e-4)


def test_brackets_are_standard_deviations_but_for_the_correlation_row_of_table_53() -> None:
    """Issue's own count: .03 is the spread .060 over the root of four; the thesis calls the brackets nothing."""
    for number in printed.BY_SELECTION:
        for method in printed.METHODS:
            error = printed.printed_errors(number)[method]["Mean"]
            spread = float(np.std([printed.printed_table(number)[method][each] for each in printed.SELECTIONS], ddof=1))
            if np.isnan(error):
                continue
            of_mean = (number, method) == ("5.3", "correlation maximization")
            # one unit of the second decimal, as cells are rounded
            assert error == pytest.approx(spread / 2 if of_mean else spread, abs=0.0101), (number, method)
            assert not of_mean or abs(error - spread) > 0.02


@pytest.mark.parametrize(
    ("low", "high", "more", "alike"),
    [
        (0.1, 0.3, HOLDS, FAILS),
        (-0.3, -0.1, FAILS, FAILS),
        (-0.1, 0.3, UNTOLD, UNTOLD),
        (-0.01, 0.02, UNTOLD, HOLDS),
    ],
)
def test_an_interval_decides_or_it_cannot_be_told(low: float, high: float, more: str, alike: str) -> None:
    figure = Estimate((low + high) / 2, low, high)
    assert above(figure) == more and near(figure) == alike
    missing = judged(above, Evidence("x", (figure, Estimate.missing("no pairs"))))
    assert missing.verdict == UNTOLD and missing.why == "x: no pairs"


@pytest.mark.slow
def test_here_each_claim_has_a_verdict_with_its_figure_or_says_what_lacks(here: Here, claims: dict[str, Claim]) -> None:
    for name, claim in claims.items():
        assert claim.here.verdict in (HOLDS, FAILS, UNTOLD) and claim.here.why, name
        assert claim.here.figure is not None or claim.here.verdict == UNTOLD, name
    # the example has no ROMM; colour says less than texture on painted pictures
    assert of(claims, "6 Words in training").here.why == "this study has no rwmm-all, romm-all, rwmm-test and romm-test"
    assert of(claims, "5.8 Colour alone").here.verdict == FAILS
    # as table 5.1 here: less by the difference of its two averages
    less = of(claims, "5.2 Calibration").here.figure
    table = people.calibration(here.study)[0]
    assert isinstance(table, Table) and less is not None
    before, after = (table.rows[row][1] for row in (1, 2))
    assert less.value == pytest.approx(before.value - after.value)  # type: ignore[union-attr, operator]


@pytest.mark.slow
def test_a_difference_here_is_that_of_the_two_correlations(here: Here) -> None:
    found = judged(above, here.better(("keywords", "gift")))
    one, other = (here.fits[name]["bagged"][ALL].honest(here.study).value for name in ("keywords", "gift"))
    assert found.figure is not None and found.figure.value == pytest.approx(one - other)
    turned = judged(above, here.better(("gift", "keywords")))
    assert turned.figure is not None and turned.figure.value == pytest.approx(other - one)
    assert {found.verdict, turned.verdict} in ({HOLDS, FAILS}, {UNTOLD})


@pytest.mark.slow
def test_the_page_ends_with_the_claims_and_json_has_them(here: Here, claims: dict[str, Claim]) -> None:
    _, table = claims_table(list(claims.values()))
    assert isinstance(table, Table) and len(table.rows) == 32
    assert "Of 32 claims 16 hold, 3 do not and 13 are undecided on the paper's own numbers" in summary(table)
    [entry] = [each for each in as_json(table) if str(each["claim"]).startswith("RWMM-TEST")]
    assert entry["claim"] == "RWMM-TEST is comparable to RWMM-ALL" and entry["where"] == "6"
    on_print, in_study = entry["on_its_own_numbers"], entry["here"]
    assert isinstance(on_print, dict) and on_print["verdict"] == FAILS and on_print["why"] == "table 5.7: 0.35 and 0.23"
    assert in_study == {"verdict": UNTOLD, "why": "this study has no rwmm-all and rwmm-test"}


@pytest.mark.slow
def test_even_pairs_are_told_from_uneven_ones(here: Here) -> None:
    """Ratings of the second round spread evenly by hand; those of the first are what they were."""
    ratings, pairs = here.study.ratings, here.study.drawn
    assert ratings is not None and pairs is not None
    assert here.more_even().what == "there was one round of pairs"
    drawn = pairs.assign(round=1 + np.arange(len(pairs)) % 2)
    later = ratings.frame.merge(drawn[["query_id", "result_id", "round"]], on=["query_id", "result_id"])["round"] > 1
    even = ratings.frame["rating"].where(~later, 1.0 + np.arange(len(later)) % 5)
    tables = replace(here.study.tables, study=replace(here.study.tables.study, pairs=drawn))
    study = replace(here.study, tables=tables)
    object.__setattr__(study, "ratings", replace(ratings, frame=ratings.frame.assign(rating=even)))
    assert judged(above, replace(here, study=study).more_even()).verdict == HOLDS


@pytest.mark.slow
def test_times_words_and_scales_are_compared_where_they_are_known(here: Here) -> None:
    graded = next(iter(here.study.interfaces.values()))
    raters = graded.frame["rater_id"].unique()
    frame = graded.frame.assign(seconds=4.0 + np.searchsorted(np.sort(raters), graded.frame["rater_id"]) / 10)
    nine: Ratings = replace(graded, frame=frame.assign(rating=2 * frame["rating"] - 1, seconds=2 * frame["seconds"]))
    nine = replace(nine, scale=KnownScale(SCALES["1-9"], "named", ""))
    answers = (frame["rating"] > 3).astype(float).where(frame["rating"] > 0)
    binary: Ratings = replace(
        graded, frame=frame.assign(rating=answers), scale=KnownScale(SCALES["binary"], "named", "")
    )
    known = replace(here, study=replace(here.study, interfaces={"binary": binary, "1-9": nine}))
    assert judged(above, known.interfaces()).verdict == HOLDS and not here.interfaces().figures
    slower = judged(above, known.seconds())
    assert slower.verdict == HOLDS and slower.figure is not None and slower.figure.value == pytest.approx(1)
    by_text = replace(here.study, paradigm="")
    by_image = replace(here.study, by_text=by_text)
    for part, factor in ((by_image, 1), (by_text, 2)):
        object.__setattr__(part, "ratings", replace(graded, frame=frame.assign(seconds=factor * frame["seconds"])))
    longer = judged(above, replace(here, study=by_image).text_takes_longer())
    assert longer.verdict == HOLDS and longer.figure is not None and longer.figure.value == pytest.approx(1)
    assert not here.text_takes_longer().figures
    # queries of two words, on which raters differ by two steps; of one word, on which they agree
    items = here.study.tables.items
    assert items is not None
    queries = sorted(set(graded.frame["query_id"]))
    words = pd.Series({query: "one;two" if place % 2 else "one" for place, query in enumerate(queries)})
    table = pd.DataFrame({"keywords": words.reindex(items.table.index).fillna("one")})
    other = graded.frame["rater_id"].isin(raters[::2])
    rating = 3.0 + np.where(other, 1, -1) * (graded.frame["query_id"].map(words) == "one;two")
    tables = replace(here.study.tables, items=replace(items, table=table))
    text = replace(here.study, tables=tables, paradigm="")
    object.__setattr__(text, "ratings", replace(graded, frame=graded.frame.assign(rating=rating, calibrated=rating)))
    found = judged(above, replace(here, study=replace(here.study, by_text=text)).two_words())
    assert found.verdict == HOLDS and found.figure is not None and (found.figure.value or 0) > 0.5


@pytest.mark.slow
def test_a_sliders_ratings_count_for_the_nearest_fifth_of_it(here: Here) -> None:
    """The example's ratings moved onto a slider, 5 becoming its upper end."""
    ratings, pairs = here.study.ratings, here.study.drawn
    assert ratings is not None and pairs is not None
    moved = (ratings.frame["rating"] - 1) * 25 + 1e-3 * np.arange(len(ratings.frame)) / len(ratings.frame)
    slider = replace(ratings.scale, scale=Scale.between(0, 101, None))
    tables = replace(
        here.study.tables,
        study=replace(here.study.tables.study, pairs=pairs.assign(round=1 + np.arange(len(pairs)) % 2)),
    )
    study = replace(here.study, tables=tables)
    object.__setattr__(study, "ratings", replace(ratings, frame=ratings.frame.assign(rating=moved), scale=slider))
    [found] = replace(here, study=study).more_even().figures
    assert found.value is not None
