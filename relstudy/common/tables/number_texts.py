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
