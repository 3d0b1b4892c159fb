"""Choice of a method and its reason: `pooled` where pairs were handed out at random, else `crossed` or `shrunk`."""

from __future__ import annotations

from dataclasses import dataclass

from relstudy.calibration.methods import NEED_RANDOM
from relstudy.calibration.methods.crossed import components
from relstudy.calibration.panel import Panel
from relstudy.calibration.randomisation_test import Balance, balance
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation, scored_rows
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import sentence
from relstudy.common.tables.meaning.pair_assignment import HandOut

DOUBT = 0.01
"""Below this p, hand-out that nobody recorded is not taken for random."""
LEAST_BASE = 10
"""With fewer base pairs and one rating per pair, hand-out by quality often goes unnoticed (docs/calibration.md)."""
STRONG_DOUBT = 1e-4
"""Below this p, not even hand-out that was recorded as random is."""

ALL_USED = "so all ratings are used"


@dataclass(frozen=True)
class Choice:
    """A method, and why it was chosen, as a sentence; `balance` is the test it rests on, where one was made."""

    method: str
    why: str
    balance: Balance | None = None


ASKED_FOR = "you asked for it"


def method_sentence(method: str, why: str) -> str:
    """The method and the reason for it, as a sentence.

    Examples
    --------
    >>> method_sentence("pooled", "assignment looks random (p 0.46), so all ratings are used")
    'Assignment looks random (p 0.46), so all ratings are used (method pooled).'
    >>> method_sentence("zscore", ASKED_FOR)
    'Method zscore, as you asked.'
    """
    if why == ASKED_FOR:
        return f"Method {method}, as you asked."
    return sentence(f"{why[:-1]}; method {method})" if why.endswith(")") else f"{why} (method {method})")


COMPARED_ROWS = 400_000


def choose_method(panel: Panel, handed_out: HandOut | None, *, described: bool = True) -> Choice:
    """The method for a panel when the person named none.

    `pooled` where pairs were handed out at random, as recorded and tested. Otherwise `crossed` where raters share
    enough pairs for it to agree at least as well, out of sample, as `shrunk`, which needs the base block alone.

    Parameters
    ----------
    panel : ratings
    handed_out : how unique pairs were handed to raters; None where nobody recorded it
    described : whether the choice is shown; else the test of the hand-out ends once it is clear
    """
    base = panel.decided().base[panel.decided().pair]
    if not base.any():
        return _without_base(panel, handed_out, described)
    if panel.base.all():
        return Choice("shrunk", "every pair is in the base block, so there are no further ratings to pool")
    if handed_out == HandOut.FIXED:
        return _not_random(panel, "assignment was not random")
    test = balance(panel, only_decides=not described)
    if test.p is None:
        if handed_out == HandOut.RANDOM:
            return Choice("pooled", f"assignment is recorded as random, {ALL_USED}", test)
        return _not_random(panel, f"random assignment is not recorded and can't be tested: {test.reason}", test)
    base_pairs = int(panel.base.sum())
    if handed_out is None and test.how == "base" and base_pairs < LEAST_BASE:
        why = f"random assignment is not recorded, and {base_pairs} base pairs are too few to test it on"
        return _not_random(panel, why, test)
    if test.p < _limit(handed_out):
        return _not_random(panel, f"assignment does not look random ({_p(test.p)})", test)
    if handed_out != HandOut.RANDOM:
        looks = "looks random"
    elif test.p >= DOUBT:
        looks = "was random (recorded and tested)"
    else:
        looks = "was random by the record, though it hardly looks it"
    return Choice("pooled", f"assignment {looks} ({_p(test.p)}), {ALL_USED}", test)


def check_hand_out(panel: Panel, method: str, handed_out: HandOut | None) -> Choice:
    """Refuse methods that need random hand-out where pairs were evidently not handed out at random.

    Raises
    ------
    RelstudyError
        when the record or the test says so
    """
    if method not in NEED_RANDOM:
        return Choice(method, ASKED_FOR)
    rests = f"{method} rests on pairs assigned at random, and these"
    if handed_out == HandOut.FIXED:
        raise RelstudyError(f"{rests} are recorded as fixed; use {option('method', 'crossed')} or shrunk")
    test = balance(panel)
    if test.p is not None and test.p < _limit(handed_out):
        raise RelstudyError(
            f"{rests} do not look it ({_evidence(test)}); use {option('method', 'crossed')} or shrunk, or say "
            f"{option('handed_out', 'random')} {option('force', True)} if you know better"
        )
    return Choice(method, ASKED_FOR, test)


def _limit(handed_out: HandOut | None) -> float:
    return STRONG_DOUBT if handed_out == HandOut.RANDOM else DOUBT


def _not_random(panel: Panel, why: str, test: Balance | None = None) -> Choice:
    """Between the methods that need no random hand-out, by out-of-sample agreement."""
    agreement = _agreement(panel, ("crossed", "shrunk"))
    if agreement is None:
        return Choice("shrunk", f"{why}, and too few pairs beyond the base block have several ratings", test)
    figures = _figures(agreement)
    if agreement["crossed"] >= agreement["shrunk"]:
        return Choice("crossed", f"{why}, so raters are compared on the pairs that they share ({figures})", test)
    return Choice("shrunk", f"{why}, and raters agree better by the base block alone ({figures})", test)


def _without_base(panel: Panel, handed_out: HandOut | None, described: bool) -> Choice:
    nothing = "there is no base block"
    test = balance(panel, only_decides=not described)
    doubted = test.p is not None and test.p < _limit(handed_out)
    if handed_out == HandOut.RANDOM and not doubted:
        return Choice("pooled", f"{nothing}, and assignment is recorded as random, {ALL_USED}", test)
    fixed = handed_out == HandOut.FIXED or doubted
    agreement = _agreement(panel, ("none", "crossed") if fixed else ("none", "crossed", "pooled"))
    if agreement is None:
        return Choice("none", f"{nothing}, and the raters share too few pairs to be compared", test)
    best = max(agreement, key=lambda method: agreement[method])
    groups = components(panel.decided())
    apart = f"; raters fall into {groups} groups that share no pair, which nothing compares" if groups > 1 else ""
    verb = "nothing helps" if best == "none" else f"raters agree best after {best}"
    return Choice(best, f"{nothing}, and {verb} ({_figures(agreement)}){apart}", test)


def _agreement(panel: Panel, methods: tuple[str, ...]) -> dict[str, float] | None:
    """Leave-one-out correlation by each method; None where too few unique pairs have several ratings."""
    step = -(-len(panel.rating) // COMPARED_ROWS)
    if step > 1:
        panel = panel.keep(panel.base[panel.pair] | (panel.pair % step == 0))
    scored = scored_rows(panel)
    if scored.block != "unique":
        return None
    values = {method: leave_one_out_correlation(panel, method, scored).value for method in methods}
    if any(value is None for value in values.values()):
        return None
    return {method: value for method, value in values.items() if value is not None}


def _p(p: float) -> str:
    return "p < 0.0001" if p < STRONG_DOUBT else f"p {p:.2g}"


def _figures(agreement: dict[str, float]) -> str:
    each = ", ".join(f"{value:.3f} by {method}" for method, value in agreement.items())
    return f"leave-one-out correlation {each}"


def _evidence(test: Balance) -> str:
    by = "the other raters' ratings of the same pairs" if test.how == "others" else "each rater's base block"
    return f"compared by {by}: p = {test.p:.2g}, {test.raters} raters, unexplained spread {test.imbalance:.2f}"
