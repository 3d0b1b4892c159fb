"""The tables of chapter 5 as the paper prints them, and what they say of its claims.

printed.csv holds tables 5.1 to 5.10 digit for digit; `error` is the number in brackets behind a value. Table 5.5 gives
the mean of .31, .33, .43 and .34 as .34 (it is .35). The brackets of tables 5.3 to 5.6, which the thesis calls nothing,
are standard deviations over the four selections, but for the correlation row of table 5.3, whose .03 is the standard
error of the mean. Those of table 5.9 are called standard errors; its "combined" are the correlations of table 5.7.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from relstudy.analysis.report.paper.rules import Evidence
from relstudy.analysis.report.tables import shown_number
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import listed

BEYOND = 1.96
"""Standard errors on either side of a figure that its interval reaches."""
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
class Printed:
    """A printed figure, or what comes of several.

    Parameters
    ----------
    value : as printed
    rounding : half a unit of its last digit, by which it may be off
    error : standard error, 0 where none is printed
    """

    value: float
    rounding: float = 0.0
    error: float = 0.0

    def __add__(self, other: Printed) -> Printed:
        error = float(np.hypot(self.error, other.error))
        return Printed(self.value + other.value, self.rounding + other.rounding, error)

    def __sub__(self, other: Printed) -> Printed:
        return self + -1 * other

    def __rmul__(self, factor: float) -> Printed:
        return Printed(factor * self.value, abs(factor) * self.rounding, abs(factor) * self.error)

    @property
    def estimate(self) -> Estimate:
        """With the interval of its rounding and its standard error."""
        reach = self.rounding + BEYOND * self.error
        value, low, high = (round(end, 9) for end in (self.value, self.value - reach, self.value + reach))
        return Estimate(value, low, high)


Numbers = dict[str, dict[str, float]]
"""Rows by their heads, each with its columns by theirs."""


@cache
def _cells(number: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Value and error of each cell of a table, by row and column, as printed."""
    with Path(__file__).with_name("printed.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["table"] == number]
    return {(line["row"], line["column"]): (line["value"], line["error"]) for line in lines}


def printed_table(number: str) -> Numbers:
    """A printed table.

    Examples
    --------
    >>> printed_table("5.7")["Keywords"]["correlation"]
    0.51
    """
    return _numbers(number, 0)


def printed_errors(number: str) -> Numbers:
    """The numbers in brackets of a printed table, or NaN."""
    return _numbers(number, 1)


def _numbers(number: str, which: int) -> Numbers:
    found: Numbers = {}
    for (row, column), cell in _cells(number).items():
        found.setdefault(row, {})[column] = float(cell[which] or "nan")
    return found


def figure(number: str, row: str, column: str) -> Printed:
    """A printed figure.

    Examples
    --------
    >>> figure("5.8", "GIFT", "normalized rank")
    Printed(value=0.28, rounding=0.005, error=0.0)
    """
    value, error = _cells(number)[row, column]
    rounding = 0.5 * 10.0 ** -len(value.partition(".")[2])
    return Printed(float(value), rounding, float(error or 0) if number == "5.9" else 0.0)


def correlation(system: str) -> Printed:
    """A system's correlation of table 5.7, with the standard error that table 5.9 has of most."""
    known = "combined" in printed_table("5.9").get(system, {})
    return figure("5.9", system, "combined") if known else figure("5.7", system, "correlation")


def _rank(system: str) -> Printed:
    return figure("5.8", system, "normalized rank")


def _mean(figures: list[Printed]) -> Printed:
    return 1 / len(figures) * sum(figures, start=Printed(0.0))


def _said(*values: float) -> str:
    return listed([shown_number(value) for value in values])


def no_figure(what: str) -> Evidence:
    """Nothing that could be held against the claim is printed."""
    return Evidence(what)


def less_variance() -> Evidence:
    """Table 5.1: calibration reduces the variance in each interface."""
    table = printed_table("5.1")
    before, after = table["standardized scores"], table["person dependent adjustment"]
    each = [f"{shown_number(before[name])} to {shown_number(after[name])}" for name in before]
    fell = (
        figure("5.1", "standardized scores", name) - figure("5.1", "person dependent adjustment", name)
        for name in before
    )
    return Evidence(f"table 5.1: {listed(each)}; no errors are printed", tuple(one.estimate for one in fell))


def variance_left() -> Evidence:
    """Table 5.1: the variance after calibration."""
    row = "person dependent adjustment"
    left = printed_table("5.1")[row]
    return Evidence(f"table 5.1: {_said(*left.values())}", tuple(figure("5.1", row, name).estimate for name in left))


def more_even() -> Evidence:
    """Table 5.2: pairs drawn with the mappings are more even."""
    table = printed_table("5.2")
    each = [f"{table['initial data'][s]:.3f} to {table['mapped data'][s]:.3f}" for s in SELECTIONS]
    fell = _mean([figure("5.2", "initial data", s) - figure("5.2", "mapped data", s) for s in SELECTIONS])
    return Evidence(f"table 5.2: {listed(each)}; the mean fall", (fell.estimate,))


def keywords_most_even() -> Evidence:
    """Table 5.2: keywords choose the most even pairs, in the first round."""
    table = printed_table("5.2")["initial data"]
    second = min((name for name in table if name != "Keywords"), key=lambda name: table[name])
    ahead = figure("5.2", "initial data", second) - figure("5.2", "initial data", "Keywords")
    return Evidence(f"table 5.2: {table['Keywords']:.3f}, the next has {table[second]:.3f}", (ahead.estimate,))


def correlation_above_least_squares() -> Evidence:
    """Tables 5.3 to 5.6: maximising correlation gives more than least squares, on all pairs."""
    more = [figure(number, METHODS[1], "All") - figure(number, METHODS[0], "All") for number in BY_SELECTION]
    why = "tables 5.3 to 5.6, all pairs, mean of the four systems; in sample the least-squares fit is the maximum "
    return Evidence(f"{why}itself, so this says how well they were computed", (_mean(more).estimate,))


def simplicity_above_gift() -> Evidence:
    """Tables 5.3 and 5.4: SIMPLIcity's correlations are in general higher."""
    cells = [(method, column) for method in METHODS for column in (*SELECTIONS, "All")]
    more = [figure("5.4", *cell) - figure("5.3", *cell) for cell in cells]
    higher = sum(each.value > 0 for each in more)
    why = f"tables 5.3 and 5.4: higher in {higher} of {len(more)} cells; the mean difference"
    return Evidence(why, (_mean(more).estimate,))


def higher_on_two_selections() -> Evidence:
    """Tables 5.3 and 5.4: correlations on the pairs of ROMM-CALIB and Keywords, and on the others'."""
    more, good = [], 0
    for number in ("5.3", "5.4"):
        for method in METHODS:
            gift, simplicity, romm, keywords = (figure(number, method, each) for each in SELECTIONS)
            more.append(0.5 * (romm + keywords) - 0.5 * (gift + simplicity))
            good += min(romm.value, keywords.value) > max(gift.value, simplicity.value)
    why = f"tables 5.3 and 5.4: both are higher in {good} of {len(more)} rows; the mean difference"
    return Evidence(why, (_mean(more).estimate,))


def orders_by_selection() -> Evidence:
    """Tables 5.3 to 5.6: the order of the four systems on each selection beside that on all pairs."""
    taus = {}
    for method in METHODS:
        whole = [figure(number, method, "All") for number in BY_SELECTION]
        for selection in SELECTIONS:
            taus[selection, method] = _tau([figure(number, method, selection) for number in BY_SELECTION], whole)
    (selection, method), _ = min(taus.items(), key=lambda item: item[1].value or 0.0)
    why = f"columns of tables 5.3 to 5.6; the least tau is that of pairs by {selection}, {method}"
    return Evidence(why, tuple(taus.values()))


def _tau(one: list[Printed], other: list[Printed]) -> Estimate:
    """Kendall's tau between two orders, with the least and the most that it can be within roundings and errors."""
    value = float(kendalltau([each.value for each in one], [each.value for each in other]).statistic)
    signs = []
    for a, b in combinations(range(len(one)), 2):
        sides = [(side[a] - side[b]).estimate for side in (one, other)]
        certain = all(side.excludes_zero for side in sides)
        signs.append((-1, 1) if not certain else (1, 1) if (sides[0].low or 0) * (sides[1].low or 0) > 0 else (-1, -1))
    low, high = np.mean(signs, axis=0)
    return Estimate(value, min(float(low), value), max(float(high), value))


def order_of_systems() -> Evidence:
    """Section 5.9's order against table 5.7."""
    steps = [(correlation(better) - correlation(worse)).estimate for better, _, worse in ORDER]
    broken = [
        f"{better} {_said(correlation(better).value)}, {worse} {_said(correlation(worse).value)}"
        for (better, sign, worse), step in zip(ORDER, steps, strict=True)
        if ((step.value or 0.0) <= 0 if sign == ">" else step.value != 0)
    ]
    return Evidence(f"against table 5.7, and not beyond errors: {'; '.join(broken)}", tuple(steps))


def keywords_first() -> Evidence:
    """Table 5.7: keywords before every method of pictures."""
    others = [name for name in printed_table("5.7") if name != "Keywords"]
    second = max(others, key=lambda name: correlation(name).value)
    why = f"table 5.7: {_said(correlation('Keywords').value)}, the next has {_said(correlation(second).value)}"
    return Evidence(why, ((correlation("Keywords") - correlation(second)).estimate,))


def better(*pairs: tuple[str, str]) -> Evidence:
    """Table 5.7: the first of each pair correlates more than the second, on average over the pairs."""
    each = [f"{_said(correlation(a).value)} and {_said(correlation(b).value)}" for a, b in pairs]
    more = _mean([correlation(a) - correlation(b) for a, b in pairs])
    return Evidence(f"table 5.7: {'; '.join(each)}", (more.estimate,))


def indices_concur() -> Evidence:
    """Tables 5.7 and 5.8: whether correlation and normalised rank order the systems alike."""
    names = list(printed_table("5.8"))
    turned = [
        f"{a} and {b}"
        for a, b in combinations(names, 2)
        if (correlation(a).value - correlation(b).value) * (_rank(b).value - _rank(a).value) < 0
    ]
    tau = _tau([correlation(name) for name in names], [-1 * _rank(name) for name in names])
    why = f"tau between tables 5.7 and 5.8; turned round, not beyond errors, are {'; '.join(turned)}"
    return Evidence(why, (tau,))


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


def random_is_half() -> Evidence:
    """Table 5.8: .51 to .53 on random assignment, by Eq. 5.5 with the shares of good pairs that table 5.2 allows.

    Its error is the mean distance of five shares from .2; the distances above and below are equal, so the share of 4
    and 5 lies within 2.5 times the error of .4.
    """
    errors = printed_table("5.2")["initial data"].values()
    off = 2.5 * float(np.mean(list(errors)))
    low, middle, high = (random_fifth_powers(share) for share in (max(0.4 - off, 0.01), 0.4, min(0.4 + off, 0.99)))
    why = (
        f"Eq. 5.5 gives {_said(middle)} where 40 % of the pairs are good, which even use of 1 to 5 has; table 5.2 "
        "allows other shares, and theirs is not printed"
    )
    return Evidence(why, (Estimate(middle, low, high),))


def better_than_random() -> Evidence:
    """Table 5.8: each system before random order."""
    ranks, chance = ({name: cells[c] for name, cells in printed_table("5.8").items()} for c in _RANKS)
    ahead = (figure("5.8", name, _RANKS[1]) - figure("5.8", name, _RANKS[0]) for name in ranks)
    why = f"table 5.8: at most {_said(max(ranks.values()))}, random {_said(min(chance.values()))}"
    return Evidence(why, tuple(each.estimate for each in ahead))


_RANKS = ("normalized rank", "random assignment")


def colour_nearly_both() -> Evidence:
    """Tables 5.10 and 5.7: colour alone almost as well as both."""
    one, both = (figure("5.10", row, "correlation") for row in ("color", "texture and color"))
    second, second_both = correlation("GIFT-color"), correlation("GIFT")
    why = f"tables 5.10 and 5.7: {_said(one.value)} of {_said(both.value)}, {_said(second.value)} of "
    why += f"{_said(second_both.value)}; above nine tenths or not"
    return Evidence(why, ((one - 0.9 * both).estimate, (second - 0.9 * second_both).estimate))


def within_standard_errors() -> Evidence:
    """Table 5.9: one person's, the others' and all correlations within their standard errors."""
    differences, beyond = [], []
    for system in printed_table("5.9"):
        for one, other in combinations(("author", "others", "combined"), 2):
            difference = (figure("5.9", system, one) - figure("5.9", system, other)).estimate
            differences.append(difference)
            beyond += [f"{system}, {one} and {other}"] if difference.excludes_zero else []
    return Evidence(f"table 5.9; beyond their errors are {'; '.join(beyond)}", tuple(differences))


def number_of_pairs() -> Evidence:
    """Sections 2.1, 2.2 and 6: how many pairs were rated."""
    why = "section 2.1 counts 20,000 pairs by image and 5,000 by text, sections 2.2 and 6 about 16,000"
    return Evidence(why, (Printed(16_000 - 20_000 - 5_000, 1000).estimate,))


def number_of_people() -> Evidence:
    """Section 2.1 and table 5.1: 32 people, of whom 3 rated both paradigms."""
    return Evidence("table 5.1: 24 + 6 + 5 less the 3 who rated both are 32", (Printed(24 + 6 + 5 - 3 - 32).estimate,))


def text_above_pictures(by_text: str) -> Evidence:
    """Section 5.7: keywords on queries by text before the middle system on queries by image."""
    names = sorted(printed_table("5.7"), key=lambda name: correlation(name).value)
    middle = names[len(names) // 2]
    more = Printed(float(by_text), 0.005) - correlation(middle)
    return Evidence(f"section 5.7 has {by_text}, {middle}, the middle one of table 5.7, less", (more.estimate,))
