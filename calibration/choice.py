"""Which method to use, and why: `pooled` where pairs were handed out at random, as far as that can be known."""

from __future__ import annotations

from dataclasses import dataclass

from relstudy.calibration.panel import Panel
from relstudy.calibration.randomisation_test import Balance, balance
from relstudy.calibration.variance import leave_one_out_correlation
from relstudy.common.errors import RelstudyError
from relstudy.common.hand_out import HandOut

DOUBT = 0.01
"""Below this p, hand-out that nobody recorded is not taken for random."""
LEAST_BASE = 10
"""With fewer base pairs and one rating a pair, hand-out by quality often goes unnoticed (docs/calibration.md)."""
STRONG_DOUBT = 1e-4
"""Below this p, not even hand-out that was recorded as random is."""


@dataclass(frozen=True)
class Choice:
    """A method, and why it was chosen, as a sentence; `balance` is the test it rests on, where one was made."""

    method: str
    why: str
    balance: Balance | None = None


def choose_method(panel: Panel, handed_out: HandOut | None) -> Choice:
    """The method for a panel when the person named none.

    Parameters
    ----------
    panel : ratings
    handed_out : how unique pairs were handed to raters; None where nobody recorded it
    """
    has_base = bool(panel.decided().base[panel.decided().pair].any())
    if handed_out == HandOut.FIXED and has_base:
        return Choice("shrunk", "pairs were not handed out at random, so only the base block compares raters")
    if has_base and panel.base.all():
        return Choice("shrunk", "every pair is in the base block, so there are no further ratings to pool")
    if not has_base:
        return _without_base(panel, handed_out)
    test = balance(panel)
    if test.p is None:
        if handed_out == HandOut.RANDOM:
            return Choice("pooled", "pairs are recorded as handed out at random", test)
        return Choice("shrunk", f"random hand-out is not recorded and can't be tested: {test.reason}", test)
    base_pairs = int(panel.base.sum())
    if handed_out is None and test.how == "base" and base_pairs < LEAST_BASE:
        why = f"random hand-out is not recorded, and {base_pairs} base pairs are too few to test it on"
        return Choice("shrunk", why, test)
    limit = STRONG_DOUBT if handed_out == HandOut.RANDOM else DOUBT
    evidence = _evidence(test)
    if test.p < limit:
        return Choice(
            "shrunk", f"pairs do not look handed out at random ({evidence}), so only the base block counts", test
        )
    verb = "are recorded as" if handed_out == HandOut.RANDOM else "look"
    return Choice("pooled", f"pairs {verb} handed out at random ({evidence})", test)


def check_pooled(panel: Panel, handed_out: HandOut | None) -> Choice:
    """Refuse `pooled` where pairs were evidently not handed out at random.

    Raises
    ------
    RelstudyError
        when the record or the test says so
    """
    if handed_out == HandOut.FIXED:
        raise RelstudyError(
            "pooled rests on pairs handed out at random, and these are recorded as fixed; use --method shrunk"
        )
    test = balance(panel)
    if test.p is not None and test.p < (STRONG_DOUBT if handed_out == HandOut.RANDOM else DOUBT):
        raise RelstudyError(
            f"pooled rests on pairs handed out at random, and these do not look it ({_evidence(test)}); use --method "
            "shrunk, or say --handed-out random --force if you know better"
        )
    return Choice("pooled", "you asked for it", test)


def _without_base(panel: Panel, handed_out: HandOut | None) -> Choice:
    if handed_out == HandOut.RANDOM:
        return Choice("pooled", "there is no base block, and pairs are recorded as handed out at random")
    if handed_out == HandOut.FIXED:
        return Choice("none", "there is no base block, and pairs were not handed out at random: nothing to compare on")
    before = leave_one_out_correlation(panel, "none", replicates=200)
    after = leave_one_out_correlation(panel, "pooled", replicates=200)
    if before.value is None or after.value is None:
        return Choice("none", f"there is no base block, and too little overlap to compare raters on ({before.reason})")
    figures = f"leave-one-out correlation {before.value:.3f} before and {after.value:.3f} after pooling"
    if after.value > before.value:
        return Choice("pooled", f"there is no base block, and raters agree better when pooled ({figures})")
    return Choice("none", f"there is no base block, and pooling does not help ({figures})")


def _evidence(test: Balance) -> str:
    by = "the other raters' ratings of the same pairs" if test.how == "others" else "each rater's base block"
    return f"compared by {by}: p = {test.p:.2g}, {test.raters} raters, unexplained spread {test.imbalance:.2f}"
