"""The measures by which systems are compared, as sentences name them and as their figures are shown."""

from __future__ import annotations

MEASURES = {
    "pearson": "correlation",
    "average_precision": "pooled average precision",
    "normalised_rank": "normalised rank",
}
"""Names in running text."""

LETTERS = {"pearson": "c", "average_precision": "p", "normalised_rank": "g"}
LETTERS_MEAN = "c correlation, p pooled AP, g good above poor"
MOST_IN_MATRIX = 12
"""A matrix of more systems is too wide for a screen."""


def shown_value(index: str, value: float) -> str:
    """An index's value as a sentence gives it: two digits, normalised rank as times in 100 that good is above poor.

    Examples
    --------
    >>> shown_value("pearson", 0.523), shown_value("normalised_rank", 0.14)
    ('0.52', '86 in 100')
    """
    return f"{100 * (1 - value):.0f} in 100" if index == "normalised_rank" else f"{value:.2f}"


def shown_figure(index: str, size: float) -> str:
    """A difference's size, with as many digits as tell it from nothing.

    Examples
    --------
    >>> shown_figure("pearson", 0.02), shown_figure("pearson", 0.0012), shown_figure("normalised_rank", 0.111)
    ('0.02', '0.001', '11 in 100')
    """
    scaled, digits = (100 * size, 0) if index == "normalised_rank" else (size, 2)
    while scaled and float(f"{scaled:.{digits}f}") == 0 and digits < 6:
        digits += 1
    return f"{scaled:.{digits}f}" + (" in 100" if index == "normalised_rank" else "")


def shown_range(index: str, low: float, high: float) -> str:
    """The ends of a difference that is clearly above zero, with digits enough to see that.

    Examples
    --------
    >>> shown_range("pearson", 0.004, 0.021), shown_range("normalised_rank", 0.042, 0.198)
    ('0.004 to 0.021', '4 to 20')
    """
    scale, digits = (100, 0) if index == "normalised_rank" else (1, 2)
    low, high = scale * low, scale * high
    while low and float(f"{low:.{digits}f}") == 0 and digits < 6:
        digits += 1
    return f"{low:.{digits}f} to {high:.{digits}f}"
