"""How numbers are written in tables."""

import re

DECIMAL_COMMA = r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?"
DECIMAL_POINT = r"[-+]?\d*\.\d+"
THOUSANDS = r"-?[1-9]\d{0,2}(\.\d{3})+"
COMMA_THOUSANDS = r"-?[1-9]\d{0,2},\d{3}"
UNGROUPED = r"-?\d{1,3}"
PERCENTAGE = re.compile(r"-?\d+([.,]\d+)?\s*%")
UNSIGNED = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)")
"""A number without a percent sign."""
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")


def is_number(text: str) -> bool:
    """True where Python reads a text as a number.

    Examples
    --------
    >>> is_number("1e3"), is_number("1,5")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
