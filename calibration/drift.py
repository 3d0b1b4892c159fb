"""Drift over the session: how far a rater's ratings rise or fall from the first to the last.

A rating is its rater's offset, its pair's worth, and a slope on the place in the rater's order. Offsets and worths are
taken off both, ratings and order, by least squares; what is left of the one regressed on what is left of the other is
the slope of the whole regression (Frisch and Waugh's theorem). So pairs need not come in an order of chance: where all
raters begin with the same pairs, a pair's others rated it as early, and it says little.

What is higher late than early may be drift or better pairs, and only a pair that one rater sees early and another late
tells them apart. So a session falls into sections, within which pairs change their place from rater to rater and
between which hardly any does, as a base block that comes first and what follows it. Ratings of sections too narrow, as
of pairs that come in one order for all, say nothing and stay as they are; the raters' mean slope is taken off within
sections and not from one to the other, as that would be a line drawn to where nobody has seen it. By how far a rater's
slope is from the others', the others' ratings of the same pairs do say, wherever these stand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import fdtrc, stdtrit

from relstudy.calibration.panel import Panel
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of, number, span

LEAST_RATINGS = 20
"""Of pairs that others rated too; who has fewer says nothing about drift."""
LEAST_RATERS = 3
FOLDS = 5
TENTHS = 10
LEAST_MIXED = 0.15
"""Where pairs stand on both sides of a place, from rater to rater, by less than this share of what chance would mix,
a section ends."""
LEAST_SECTION = 0.1
"""Share of all ratings below which a section says nothing."""
UNLIKELY = 0.01
"""Raters whose slopes are apart so much by chance alone this rarely are said to differ."""


@dataclass(frozen=True)
class Drift:
    """Drift in points of the scale, from a rater's first rating to the last.

    Parameters
    ----------
    common : the raters' mean slope, in which one counts by their ratings of pairs that others rated at other places,
        with its interval for raters like these
    spread : standard deviation of raters' slopes about it, by the method of moments; 0 where chance explains them
    p : of slopes as far apart as these, were they one, however much noise each rater has
    shift : what drift adds to each rating, float [N]: 0 in the mean of each rater's, and where pairs and places cannot
        be told apart
    raters, ratings : how many the figures rest on
    gain : share by which the squared error of held-out ratings is smaller with the slopes, 0 to 1; below 0: larger;
        None where no drift is found
    gain_error : its standard error over raters
    ordered_by : the column that orders sessions, where there was one
    """

    common: Estimate
    spread: float
    p: float
    shift: np.ndarray
    raters: int
    ratings: int
    gain: float | None = None
    gain_error: float | None = None
    ordered_by: str | None = None

    @property
    def is_found(self) -> bool:
        """True if the common slope's interval leaves out 0, or slopes differ beyond chance."""
        figures = (self.common.value, self.common.low, self.common.high, self.p)
        known = all(each is not None and bool(np.isfinite(each)) for each in figures)
        return known and bool(np.isfinite(self.shift).all()) and (self._is_clear or self.p < UNLIKELY)

    @property
    def helps(self) -> bool:
        """True if it is found, and brings held-out ratings nearer by more than the gain's standard error."""
        if self.gain is None or self.gain_error is None or not np.isfinite([self.gain, self.gain_error]).all():
            return False
        return self.is_found and self.gain > self.gain_error

    def freed(self, panel: Panel) -> Panel:
        """The ratings without their raters' drift."""
        return panel.with_rating(panel.rating - self.shift)

    def sentence(self, steps: float) -> str:
        """The drift with its interval, and what taking it out would do to ratings that it had not seen."""
        slope = self.common.value or 0.0
        low, high = self.common.low or 0.0, self.common.high or 0.0
        if self._is_clear:
            low, high = sorted((abs(low), abs(high)))
        falls, size = ("fall", abs(slope)) if slope < 0 else ("rise", slope)
        if not self._is_clear:
            falls, size = "change", slope
        form = ".2f" if self._is_clear else "+.2f"
        by = "" if self.ordered_by is None else f" by {self.ordered_by}"
        apart = f"; raters differ in it (sd {self.spread:.2f})" if self.p < UNLIKELY else ""
        told = (
            f"ratings {falls} by {number(size, form)} (95 % {span(low, high, form)}) of {steps:g} steps from a rater's "
            f"first to last{by}{apart}"
        )
        if self.gain is None or self.gain_error is None:
            return told
        change = "nearer" if self.gain >= 0 else "farther"
        return (
            f"{told}; taking this out makes held-out ratings {100 * abs(self.gain):.1f} % (standard error "
            f"{100 * self.gain_error:.1f}) {change} in squared error"
        )

    def as_json(self) -> dict[str, Any]:
        """The common slope with its interval, the spread of slopes, and what taking them out would do.

        Examples
        --------
        >>> Drift(Estimate(-0.5, -0.7, -0.3), 0.0, 0.4, np.zeros(60), 3, 60).as_json()["slope"]
        -0.5
        """
        return {
            "slope": self.common.value,
            "low": self.common.low,
            "high": self.common.high,
            "spread": self.spread,
            "p": self.p,
            "is_found": self.is_found,
            "raters": self.raters,
            "ratings": self.ratings,
            "gain": self.gain,
            "gain_error": self.gain_error,
            "ordered_by": self.ordered_by,
        }

    @property
    def _is_clear(self) -> bool:
        return self.common.excludes_zero is True


def session_drift(panel: Panel, order: np.ndarray, seed: int = 0, level: float = 0.95) -> Drift | None:
    """The drift of ratings whose order is known; None where fewer than three raters have 20 of pairs that others rated
    at places of their own.

    Parameters
    ----------
    panel : ratings as they were given; NaN does not count
    order : as `session_order` gives it
    seed : of the folds, into which each rater's ratings fall
    level : of the interval, by t over raters; the longer of that of clusters of raters and pairs and that of raters'
        slopes of the spread found

    Examples
    --------
    >>> from relstudy.calibration.tables.session import session_order
    >>> rng = np.random.default_rng(2)
    >>> rows = pd.DataFrame({"rater_id": np.repeat(range(8), 40), "pair_id": np.tile(range(40), 8),
    ...                      "position": rng.permuted(np.tile(range(40), (8, 1)), axis=1).ravel()})
    >>> rows["rating"] = rows["pair_id"] % 5 - 0.5 * rows["position"] / 39 + 0.3 * rng.normal(size=320)
    >>> drift = session_drift(Panel.from_frame(rows), session_order(rows))
    >>> round(drift.common.value, 1), drift.is_found, drift.helps
    (-0.5, True, True)
    """
    section = _sections(panel, order)
    rows = ~np.isnan(panel.rating) & (section >= 0)
    for _ in range(2):  # who is left out leaves pairs with one rating
        shared = rows & (panel.keep(rows).by_pair()[panel.pair] > 1)
        rows = shared & (panel.keep(shared).by_rater()[panel.rater] >= LEAST_RATINGS)
    part, x = panel.keep(rows), order[rows]
    present = part.by_rater() > 0
    raters = int(present.sum())
    if raters < LEAST_RATERS:
        return None
    along, left = _left(part, x), _left(part, part.rating)
    length = float(along @ along)
    if length < 1e-9 * len(x):
        return None  # raters' orders differ in places that no other rater shares
    slope = float(along @ left) / length
    each = along * (left - slope * along)
    # a pair's ratings stand against each other, so their errors are one: clusters are raters and pairs, less both
    by_rater, by_pair = part.by_rater(each), part.by_pair(each)
    meat = raters / (raters - 1) * max(by_rater @ by_rater + by_pair @ by_pair - each @ each, by_rater @ by_rater)
    slopes, spread, p, noise = _slopes(part, x, slope, left - slope * along)
    # what is left holds less of a rater's own slope than the rating did: a pair's mean took its share of it
    share = part.by_rater(along * x)
    of_slopes, of_noise = spread**2 * float(share @ share), float(noise @ part.by_rater(along**2))
    freedom = (raters - 1) * (1 + of_noise / max(of_slopes, 1e-9 * of_noise)) ** 2  # Satterthwaite 1946
    errors = np.sqrt([meat, of_slopes + of_noise]) / length
    reach = float(np.max(stdtrit([raters - 1, freedom], (1 + level) / 2) * errors))
    common = Estimate(slope, slope - reach, slope + reach)
    shift = _shift(panel, order, section, slope, slopes)
    drift = Drift(common, spread, p, shift, raters, len(x))
    if not drift.is_found:
        return drift
    gain, gain_error = _gain(part, x, section[rows], seed)
    return replace(drift, gain=gain, gain_error=gain_error)


def by_tenth(panel: Panel, order: np.ndarray, level: float = 0.95) -> list[Estimate]:
    """Ratings less their raters' offsets and what the others say of the pair, by tenth, with intervals over raters.

    Others rated the pair in the same section of the session, so that each section stands about its own mean.
    """
    rows = ~np.isnan(panel.rating) & (_sections(panel, order) >= 0)
    rows &= panel.keep(rows).by_pair()[panel.pair] > 1
    part = panel.keep(rows)
    tenth = np.minimum((order[rows] * TENTHS).astype(int), TENTHS - 1)
    left, count = _left(part, part.rating), part.by_pair()[part.pair]
    weight = (count - 1) / count  # a pair's mean holds the rating itself; the others' mean does not
    estimates: list[Estimate] = []
    for each in range(TENTHS):
        there = tenth == each
        counts = part.keep(there).by_rater(weight[there])
        raters = int(np.count_nonzero(counts))
        if raters < LEAST_RATERS:
            needed = f"{LEAST_RATERS} raters are needed who have the same pairs at other places"
            estimates.append(Estimate.missing(needed))
            continue
        mean = float(left[there].sum() / weight[there].sum())
        score = part.keep(there).by_rater(left[there]) - mean * counts
        error = float(np.sqrt(raters / (raters - 1) * (score @ score))) / float(counts.sum())
        reach = float(stdtrit(raters - 1, (1 + level) / 2)) * error
        estimates.append(Estimate(mean, mean - reach, mean + reach))
    return estimates


def _sections(panel: Panel, order: np.ndarray) -> np.ndarray:
    """The section of its session that each rating is of, int [N]; -1 where its order is not known or its section is too
    narrow.

    A section ends at a place in raters' orders, counted in ratings, where what pairs have on one side and on the other
    varies within pairs by less than `LEAST_MIXED` of what it would by chance.
    """
    known = ~np.isnan(order)
    part = panel.keep(known)
    place = np.round(2 * order[known] * (part.by_rater()[part.rater] - 1)).astype(int)  # pages share half places
    count = part.by_pair()
    section = np.full(len(order), -1)
    if not (count > 1).any():
        return section
    by_pair = np.lexsort((place, part.pair))
    earlier = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count.astype(int))
    # of n of a pair, m on one side and n - m on the other, m (n - m) / (n - 1) vary; by so much more with one more
    n = count[part.pair[by_pair]]
    more = np.where(n > 1, (n - 1 - 2 * earlier) / np.maximum(n - 1, 1), 0.0)
    mixed = np.cumsum(np.bincount(place[by_pair], more))
    several = np.bincount(place, count[part.pair] > 1)
    early = np.cumsum(several) / several.sum()
    above = mixed - LEAST_MIXED * several.sum() * early * (1 - early)
    ends = above < 0
    number = np.zeros(len(ends), dtype=int)
    for run in np.split(np.arange(len(ends)), np.flatnonzero(np.diff(ends)) + 1):
        if ends[run[0]]:  # near where a section ends hardly any pair is on both sides, either
            near = several[run].sum() < LEAST_SECTION * several.sum()
            number[run[np.argmin(above[run])] if near else run] = 1
    number = (np.cumsum(number) - number)[place]
    wide = np.bincount(number) >= LEAST_SECTION * len(place)
    section[known] = np.where(wide, np.cumsum(wide) - 1, -1)[number]
    return section


def _shift(panel: Panel, order: np.ndarray, section: np.ndarray, slope: float, slopes: np.ndarray) -> np.ndarray:
    """What drift adds to each rating, float [N]: the common slope within sections, what a rater's own differs from it
    over all that they have; 0 in each rater's mean, and of ratings of no section."""
    there = section >= 0
    part, x = panel.keep(there), order[there]

    def about_mean(group: np.ndarray) -> np.ndarray:
        return np.asarray(x - (np.bincount(group, x) / np.maximum(np.bincount(group), 1))[group])

    of_rater, sections = part.rater, int(section.max(initial=0)) + 1
    shift = np.zeros(len(order))
    shift[there] = slope * about_mean(of_rater * sections + section[there])
    shift[there] += (slopes - slope)[of_rater] * about_mean(of_rater)
    return shift


def _left(part: Panel, values: np.ndarray, whole: Panel | None = None, rows: np.ndarray | None = None) -> np.ndarray:
    """What is left of values once raters' and pairs' effects are taken off, by least squares.

    With `whole`, values are those of its rows, effects are fitted to `rows` of it, which `part` holds, and taken off
    all.
    """
    fitted_to = values if rows is None else values[rows]
    count, many = part.by_pair(), part.by_rater()
    per_pair = np.maximum(count, 1)

    def without_pairs(each: np.ndarray) -> np.ndarray:
        return each - (part.by_pair(each) / per_pair)[part.pair]

    def normal(effects: np.ndarray) -> np.ndarray:
        return np.where(many > 0, part.by_rater(without_pairs(effects[part.rater])), effects)

    from scipy.sparse.linalg import LinearOperator, cg  # which many panels need not load

    system = LinearOperator((len(many), len(many)), matvec=normal, dtype=float)
    scale = LinearOperator(system.shape, matvec=lambda each: each / np.maximum(many, 1), dtype=float)
    # where all rate the same pairs the right side can be 0 but for rounding, of which no share is reached
    rounding = 1e-12 * float(np.linalg.norm(fitted_to)) * len(fitted_to) ** 0.5
    right = part.by_rater(without_pairs(fitted_to))
    of_rater, _ = cg(system, right, rtol=1e-10, atol=rounding, maxiter=1000, M=scale)
    of_pair = part.by_pair(fitted_to - of_rater[part.rater]) / per_pair
    whole = whole or part
    return np.asarray(values - of_rater[whole.rater] - of_pair[whole.pair])


def _slopes(part: Panel, x: np.ndarray, slope: float, left: np.ndarray) -> tuple[np.ndarray, float, float, np.ndarray]:
    """Each rater's slope, shrunk to the common one, their spread, the chance of as much if they were one, and the
    variance of a rating about its rater's line, by rater.

    What is left of a rating is held against the others of its pair, whose order has nothing to do with the rater's, so
    that their slopes do not come into this one's. Each rater has noise of their own: the chance is Welch's (1951), and
    the spread is of moments in which noise is what each rater shows (DerSimonian and Kacker 2007).
    """
    count = part.by_pair()[part.pair]
    weight, own = (count - 1) / count, left * count / (count - 1)
    total = np.maximum(part.by_rater(weight), 1e-12)
    centred = x - (part.by_rater(weight * x) / total)[part.rater]
    length = part.by_rater(weight * centred**2)
    known = length > 1e-9
    apart = np.where(known, part.by_rater(weight * centred * own) / np.where(known, length, 1), 0.0)
    freedom = np.maximum(part.by_rater() - 2, 1)
    noise = np.maximum(part.by_rater(weight * (own - apart[part.rater] * centred) ** 2) / freedom, 1e-12)
    error = noise / np.where(known, length, np.inf)
    each, slack = length[known], error[known]
    raters, between, p = int(known.sum()), 0.0, 1.0
    if raters > 1:
        mean = float(each @ apart[known]) / float(each.sum())
        squares = float(each @ (apart[known] - mean) ** 2)
        by_noise = float(each @ slack) - float(each**2 @ slack) / float(each.sum())
        between = max((squares - by_noise) / float(each.sum() - each @ each / each.sum()), 0.0)
        p = _chance(apart[known], slack, freedom[known])
    trust = between / (between + np.where(known, error, np.inf)) if between > 0 else np.zeros(len(apart))
    slopes = slope + np.where(known, trust, 0.0) * apart
    return slopes, float(np.sqrt(between)), p, noise


def _chance(values: np.ndarray, variance: np.ndarray, freedom: np.ndarray) -> float:
    """The chance of values as far apart, were they one, whose variances are estimated (Welch 1951)."""
    weight = 1 / variance
    share = weight / weight.sum()
    more = len(values) - 1
    squares = float(weight @ (values - share @ values) ** 2) / more
    slack = float(np.sum((1 - share) ** 2 / freedom)) / ((more + 1) ** 2 - 1)
    return float(fdtrc(more, 1 / (3 * slack), squares / (1 + 2 * (more - 1) * slack)))


def _gain(part: Panel, x: np.ndarray, section: np.ndarray, seed: int) -> tuple[float, float]:
    """Share by which the squared error of held-out ratings is smaller with slopes than without, and its error."""
    fold = np.random.default_rng(seed).permutation(len(x))
    fold = pd.Series(fold).groupby(part.rater).rank(method="first").to_numpy(dtype=int) % FOLDS
    without, with_slopes = np.full(len(x), np.nan), np.full(len(x), np.nan)
    for each in range(FOLDS):
        rows = fold != each
        seen = part.keep(rows)
        common = seen.by_pair()[seen.pair] > 1
        base = _left(seen, part.rating, part, rows)
        along = _left(seen, x, part, rows)
        inner, order = seen.keep(common), x[rows][common]
        left, of_order = _left(inner, inner.rating), _left(inner, order)
        length = float(of_order @ of_order)
        slope = float(of_order @ left) / length if length > 0 else 0.0
        slopes, _, _, _ = _slopes(inner, order, slope, left - slope * of_order)
        freed = _left(seen, part.rating - _shift(part, x, section, slope, slopes), part, rows)
        told = ~rows & (seen.by_pair()[part.pair] > 0) & ~np.isnan(along)
        without[told], with_slopes[told] = base[told] ** 2, freed[told] ** 2
    told = ~np.isnan(without)
    kept = part.keep(told)
    before, less = kept.by_rater(without[told]), kept.by_rater(without[told] - with_slopes[told])
    raters = int(np.count_nonzero(before))
    if raters < 2:
        return 0.0, np.inf
    gain = float(less.sum() / before.sum())
    score = less - gain * before
    return gain, float(np.sqrt(raters / (raters - 1) * (score @ score)) / before.sum())


def drift_note(drift: Drift | None, how: str, steps: float, in_values: bool = True) -> str | None:
    """The line that `calibrate` says of the drift; None if there is nothing to say.

    Parameters
    ----------
    how : `keep` or `remove`, as asked
    steps : from the lowest to the highest value of the scale
    in_values : whether the method takes ratings of any value; else drift cannot be taken out
    """
    if drift is None:
        few = (
            f"{LEAST_RATERS} raters with {LEAST_RATINGS} ratings of pairs that others rated, in an order of their own,"
        )
        return f"drift over the session was not taken out: {few} are needed" if how == "remove" else None
    if how == "keep":
        left = "; it was left in (drift keep, not remove)" if drift.helps and in_values else ""
        return f"{drift.sentence(steps)}{left}" if drift.is_found else None
    if not in_values:
        return "drift over the session was not taken out: the method takes ratings as categories"
    if drift.helps:
        return (
            f"drift over the session was taken out of the ratings of {count_of(drift.raters, 'rater')}: "
            f"{drift.sentence(steps)}"
        )
    why = "held-out ratings come no nearer by more than its error" if drift.is_found else "none is seen beyond chance"
    return f"drift over the session was not taken out, as {why}: {drift.sentence(steps)}"
