"""The tables of chapter 5 as the paper prints them, and which of its claims they bear out.

printed.csv holds tables 5.1 to 5.10 digit for digit; `error` is the number in brackets behind a value. Table 5.5 gives
the mean of .31, .33, .43 and .34 as .34 (it is .35). The brackets of tables 5.3 to 5.6, which the thesis calls nothing,
are standard deviations over the four selections, but for the correlation row of table 5.3, whose .03 is the standard
error of the mean.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from relstudy.analysis.report.tables import shown_number
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import listed, percent

HOLDS, FAILS, UNTOLD = "holds", "does not hold", "cannot be told"
BEYOND = 1.96
"""Standard errors by which two figures differ."""
BY_SELECTION = {"5.3": "GIFT", "5.4": "SIMPLIcity", "5.5": "ROMM-CALIB", "5.6": "Keywords"}
"""Tables of mapped scores, by the system that they are of."""
SELECTIONS = tuple(BY_SELECTION.values())
METHODS = ("least squares", "correlation maximization", "Bayesian")
ORDER = (
    *(("Keywords", ">", "RWMM-ALL"), ("RWMM-ALL", ">", "RWMM-TEST"), ("RWMM-TEST", ">", "ROMM-ALL")),
    *(("ROMM-ALL", ">", "SIMPLIcity"), ("SIMPLIcity", "=", "ROMM-TEST"), ("ROMM-TEST", ">", "GIFT")),
)
"""The order of systems as section 5.9 has it."""


@dataclass(frozen=True)
class Finding:
    """The outcome of a claim on some figures.

    Parameters
    ----------
    verdict : HOLDS, FAILS or UNTOLD
    why : the figures that decide, or what lacks
    figure : the one that decides with its interval; None where there is none
    """

    verdict: str
    why: str
    figure: Estimate | None = None


Numbers = dict[str, dict[str, float]]
"""Rows by their heads, each with its columns by theirs."""


@cache
def printed_table(number: str) -> Numbers:
    """A printed table.

    Examples
    --------
    >>> printed_table("5.7")["Keywords"]["correlation"]
    0.51
    """
    return _numbers(number, "value")


@cache
def printed_errors(number: str) -> Numbers:
    """The numbers in brackets of a printed table, NaN where there are none."""
    return _numbers(number, "error")


def _numbers(number: str, kind: str) -> Numbers:
    found: Numbers = {}
    with Path(__file__).with_name("printed.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["table"] == number:
                found.setdefault(line["row"], {})[line["column"]] = float(line[kind] or "nan")
    return found


def _column(number: str, column: str) -> dict[str, float]:
    return {row: cells[column] for row, cells in printed_table(number).items()}


def _figure(number: str, row: str, column: str) -> float:
    return printed_table(number)[row][column]


def _correlation(system: str) -> float:
    return _figure("5.7", system, "correlation")


def _rank(system: str) -> float:
    return _figure("5.8", system, "normalized rank")


def _apart(one: tuple[str, str], other: tuple[str, str]) -> float:
    """Distance of two figures of table 5.9 in standard errors of their difference."""
    (value, error), (second, second_error) = (
        (_figure("5.9", row, column), printed_errors("5.9")[row][column]) for row, column in (one, other)
    )
    return (value - second) / float(np.hypot(error, second_error))


def _said(*values: float) -> str:
    return listed([shown_number(value) for value in values])


def less_variance() -> Finding:
    """Table 5.1: calibration reduces the variance in each interface."""
    table = printed_table("5.1")
    before, after = table["standardized scores"], table["person dependent adjustment"]
    each = [f"{shown_number(before[name])} to {shown_number(after[name])}" for name in before]
    return Finding(
        HOLDS if all(after[name] < before[name] for name in before) else FAILS,
        f"table 5.1: {listed(each)}; no errors are printed",
    )


def no_figure(what: str) -> Finding:
    """Nothing that could be held against the claim is printed."""
    return Finding(UNTOLD, what)


def more_even() -> Finding:
    """Table 5.2: pairs drawn with the mappings are more even for each system."""
    table = printed_table("5.2")
    each = [f"{table['initial data'][s]:.3f} to {table['mapped data'][s]:.3f}" for s in SELECTIONS]
    fell = all(table["mapped data"][s] < table["initial data"][s] for s in SELECTIONS)
    return Finding(HOLDS if fell else FAILS, f"table 5.2: {listed(each)}")


def keywords_most_even() -> Finding:
    """Table 5.2: keywords choose the most even pairs."""
    table = printed_table("5.2")
    first = all(min(row, key=lambda system: row[system]) == "Keywords" for row in table.values())
    return Finding(HOLDS if first else FAILS, "table 5.2: keywords have the least error in both rows")


def correlation_above_least_squares() -> Finding:
    """Tables 5.3 to 5.6: maximising correlation gives more correlation than least squares for most of the data."""
    columns = [*SELECTIONS, "All"]
    least, most = (
        np.array([[printed_table(number)[method][each] for each in columns] for number in BY_SELECTION])
        for method in METHODS[:2]
    )
    above = int((most > least).sum())
    why = (
        f"in {above} of {least.size} cells of tables 5.3 to 5.6; in sample the least-squares fit is the maximum itself"
    )
    return Finding(HOLDS if above > least.size / 2 else FAILS, f"{why}, so this says how well they were computed")


def simplicity_above_gift() -> Finding:
    """Tables 5.3 and 5.4: SIMPLIcity's correlations are in general higher."""
    columns = [*SELECTIONS, "All"]
    gift, simplicity = (
        np.array([[printed_table(number)[method][each] for each in columns] for method in METHODS])
        for number in ("5.3", "5.4")
    )
    above = int((simplicity > gift).sum())
    verdict = HOLDS if above > gift.size / 2 else FAILS
    return Finding(verdict, f"higher in {above} of {gift.size} cells of tables 5.3 and 5.4")


def higher_on_two_selections() -> Finding:
    """Tables 5.3 and 5.4: correlations are higher on the pairs of ROMM-CALIB and Keywords than on the others'."""
    good = []
    for number in ("5.3", "5.4"):
        for method in METHODS:
            row = printed_table(number)[method]
            higher = min(row["ROMM-CALIB"], row["Keywords"]) > max(row["GIFT"], row["SIMPLIcity"])
            good += [f"{number} {method}"] if higher else []
    return Finding(HOLDS if len(good) == 6 else FAILS, f"both are higher in {len(good)} of 6 rows ({listed(good)})")


def order_whoever_chose() -> Finding:
    """Tables 5.3 to 5.6: the order of the four systems on each selection beside that on all pairs."""
    taus = {}
    for method in METHODS:
        rows = [printed_table(number)[method] for number in BY_SELECTION]
        for selection in SELECTIONS:
            tau = kendalltau([row[selection] for row in rows], [row["All"] for row in rows]).statistic
            taus[selection, method] = float(tau)
    same = sum(tau > 1 - 1e-9 for tau in taus.values())
    (selection, method), least = min(taus.items(), key=lambda item: item[1])
    why = f"the order is that of all pairs in {same} of {len(taus)} columns of tables 5.3 to 5.6; the least tau is "
    why += f"{shown_number(least)} (pairs by {selection}, {method})"
    return Finding(HOLDS if same > len(taus) / 2 else FAILS, why)


def order_of_systems() -> Finding:
    """Section 5.9's order against table 5.7."""
    broken = []
    for better, sign, worse in ORDER:
        one, other = _correlation(better), _correlation(worse)
        if not (one > other if sign == ">" else one == other):
            broken.append(f"{better} {shown_number(one)}, {worse} {shown_number(other)}")
    return Finding(FAILS if broken else HOLDS, f"against table 5.7: {'; '.join(broken)}" if broken else "table 5.7")


def keywords_first() -> Finding:
    """Tables 5.7 and 5.8: keywords before every method of pictures."""
    second = max(value for name, value in _column("5.7", "correlation").items() if name != "Keywords")
    next_rank = min(value for name, value in _column("5.8", "normalized rank").items() if name != "Keywords")
    first = _correlation("Keywords") > second and _rank("Keywords") < next_rank
    why = f"table 5.7: {_said(_correlation('Keywords'))}, the next has {_said(second)}; table 5.8: "
    return Finding(HOLDS if first else FAILS, why + f"{_said(_rank('Keywords'))}, the next {_said(next_rank)}")


def _pairs_before(pairs: tuple[tuple[str, str], ...]) -> Finding:
    """True where the first of each pair is before the second by tables 5.7 and 5.8."""
    before = [_correlation(a) > _correlation(b) and _rank(a) < _rank(b) for a, b in pairs]
    each = [f"{_said(_correlation(a))} and {_said(_correlation(b))}" for a, b in pairs]
    ranks = [f"{_said(_rank(a))} and {_said(_rank(b))}" for a, b in pairs]
    return Finding(HOLDS if all(before) else FAILS, f"table 5.7: {'; '.join(each)}; table 5.8: {'; '.join(ranks)}")


def words_help() -> Finding:
    """Tables 5.7 and 5.8: RWMM, trained on words too, before ROMM."""
    return _pairs_before((("RWMM-ALL", "ROMM-ALL"), ("RWMM-TEST", "ROMM-TEST")))


def all_before_test() -> Finding:
    """Tables 5.7 and 5.8: models that were trained on the pictures before those that were not."""
    return _pairs_before((("RWMM-ALL", "RWMM-TEST"), ("ROMM-ALL", "ROMM-TEST")))


def unseen_near_seen() -> Finding:
    """Table 5.9: whether RWMM-TEST is comparable to RWMM-ALL."""
    distance = _apart(("RWMM-ALL", "combined"), ("RWMM-TEST", "combined"))
    why = f"table 5.9: {_said(_figure('5.9', 'RWMM-ALL', 'combined'), _figure('5.9', 'RWMM-TEST', 'combined'))} are "
    return Finding(FAILS if abs(distance) > BEYOND else HOLDS, why + f"{distance:.1f} standard errors apart")


def romm_above_simplicity() -> Finding:
    """Table 5.9: ROMM-ALL a bit better than SIMPLIcity."""
    distance = _apart(("ROMM-ALL", "combined"), ("SIMPLIcity", "combined"))
    why = f"table 5.9: {_said(_correlation('ROMM-ALL'), _correlation('SIMPLIcity'))}, {distance:.1f} standard errors"
    return Finding(HOLDS if distance > BEYOND else UNTOLD, why)


def romm_test_below_simplicity() -> Finding:
    """Tables 5.7 and 5.8: ROMM-TEST worse than SIMPLIcity and the same as GIFT."""
    names = ("ROMM-TEST", "SIMPLIcity", "GIFT")
    by_correlation, by_rank = [_correlation(n) for n in names], [_rank(n) for n in names]
    holds = by_correlation[0] < by_correlation[1] and by_rank[0] > by_rank[1]
    why = f"table 5.7 says so ({_said(*by_correlation)}), table 5.8 has it ahead of both ({_said(*by_rank)}; 0 is best)"
    return Finding(HOLDS if holds else FAILS, why)


def indices_concur() -> Finding:
    """Tables 5.7 and 5.8: whether correlation and normalised rank order the systems alike."""
    ranks = _column("5.8", "normalized rank")
    correlations = {name: _correlation(name) for name in ranks}
    tau = float(kendalltau(list(correlations.values()), [-rank for rank in ranks.values()]).statistic)
    turned = [
        f"{a} and {b}"
        for a, b in combinations(ranks, 2)
        if (correlations[a] - correlations[b]) * (ranks[b] - ranks[a]) < 0
    ]
    why = f"tables 5.7 and 5.8: tau {shown_number(tau)}; turned round are {'; '.join(turned)}"
    return Finding(HOLDS if tau == 1 else FAILS, why)


def random_fifth_powers(share: float) -> float:
    """Eq. 5.5 on random ranks, expected, where so large a share of many pairs is good.

    Ranks r of N have the sum of fifth powers N**6 / 6 to leading order, so of p N good pairs the sum is p N**6 / 6 on
    average, (p N)**6 / 6 at best and (1 - (1 - p)**6) N**6 / 6 at worst.

    Examples
    --------
    >>> round(random_fifth_powers(0.4), 2), random_fifth_powers(0.5)
    (0.42, 0.5)
    """
    return (share - share**6) / (1 - (1 - share) ** 6 - share**6)


def random_is_half() -> Finding:
    """Table 5.8: .51 to .53 on random assignment, by Eq. 5.5."""
    chance = _column("5.8", "random assignment").values()
    lowest, highest = min(chance), max(chance)
    shares = np.linspace(0.01, 0.99, 9801)
    found = np.array([random_fifth_powers(share) for share in shares])
    low, high = (100 * shares[np.argmin(np.abs(found - end))] for end in (lowest, highest))
    why = (
        f"Eq. 5.5 gives {_said(lowest)} to {_said(highest)} only where {low:.0f} to {high:.0f} % of the "
        f"pairs are good; with 40 %, which even use of 1 to 5 has, it is {_said(random_fifth_powers(0.4))}, with 10 % "
        f"{_said(random_fifth_powers(0.1))}"
    )
    return Finding(FAILS, why)


def better_than_random() -> Finding:
    """Table 5.8: each system before random order."""
    ranks, chance = _column("5.8", "normalized rank"), _column("5.8", "random assignment")
    before = all(ranks[name] < chance[name] for name in ranks)
    why = f"table 5.8: at most {_said(max(ranks.values()))}, random {_said(min(chance.values()))}"
    return Finding(HOLDS if before else FAILS, why)


def colour_nearly_both() -> Finding:
    """Tables 5.10 and 5.7: colour alone almost as well as both."""
    table = _column("5.10", "correlation")
    one, both = table["color"], table["texture and color"]
    second, second_both = _correlation("GIFT-color"), _correlation("GIFT")
    holds = one >= 0.9 * both and second >= 0.9 * second_both
    why = f"table 5.10: {_said(one)} of {_said(both)}; table 5.7: {_said(second)} of {_said(second_both)}, which is "
    return Finding(HOLDS if holds else FAILS, f"{why}{percent(second / second_both)}, under nine tenths")


def within_standard_errors() -> Finding:
    """Table 5.9: one person's, the others' and all correlations within their standard errors."""
    beyond = []
    for system in printed_table("5.9"):
        for one, other in combinations(("author", "others", "combined"), 2):
            distance = _apart((system, one), (system, other))
            if abs(distance) > BEYOND:
                beyond.append(f"{system}, {one} and {other}: {abs(distance):.1f}")
    return Finding(
        FAILS if beyond else HOLDS, f"table 5.9, in standard errors: {'; '.join(beyond) or 'all within 1.96'}"
    )


def number_of_pairs() -> Finding:
    """Sections 2.1, 2.2 and 6: how many pairs were rated."""
    return Finding(FAILS, "section 2.1 counts 20,000 pairs by image and 5,000 by text, sections 2.2 and 6 about 16,000")


def number_of_people() -> Finding:
    """Section 2.1 and table 5.1: 32 people, of whom 3 rated both paradigms."""
    return Finding(HOLDS, "table 5.1: 24 + 6 + 5 less the 3 who rated both are 32")


def text_above_pictures(figure: float) -> Finding:
    """Section 5.7: keywords on queries by text before most systems on queries by image."""
    table = _column("5.7", "correlation")
    above = sum(figure > value for value in table.values())
    why = f"section 5.7 has {_said(figure)}; {above} of {len(table)} systems of table 5.7 have less"
    return Finding(HOLDS if above > len(table) / 2 else FAILS, why)
