"""What `relstudy calibrate` says of its own work."""

from __future__ import annotations

from typing import Any

import pytest

from relstudy.calibration.command import did_it_help


def figures(
    before: float | None, after: float | None, ends: list[float] | None, method: str = "pooled"
) -> dict[str, Any]:
    changed = {"before": before, "after": after, "difference_interval": ends}
    reasons = {} if before is not None else {"leave_one_out_correlation.before": "no pair has two ratings"}
    return {"method": method, "leave_one_out_correlation": changed, "reasons": reasons}


@pytest.mark.parametrize(
    ("given", "said", "change"),
    [
        (
            figures(0.856, 0.906, [0.02, 0.08]),
            "Calibration helped: ratings of a pair agree better",
            "correlation 0.856 -> 0.906",
        ),
        (
            figures(0.906, 0.856, [-0.08, -0.02]),
            "Calibration did harm: ratings of a pair agree less",
            "correlation 0.906 -> 0.856",
        ),
        (figures(0.856, 0.86, [-0.01, 0.02]), "did not clearly help", "correlation 0.856 -> 0.860"),
        (figures(0.856, 0.86, None), "is not known: the change has no interval", "correlation 0.856 -> 0.860"),
        (figures(None, None, None), "is not known: no pair has two ratings", None),
        (figures(0.8, 0.8, [0.0, 0.0], "none"), "changed nothing", None),
    ],
)
def test_whether_calibration_helped_is_answered_by_agreement_on_pairs_it_has_not_seen(
    given: dict[str, Any], said: str, change: str | None
) -> None:
    answer = did_it_help(given)
    assert said in answer
    assert ("correlation" in answer) == (change is not None) and (change or "") in answer
