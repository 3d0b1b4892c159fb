"""A key never gives another value than the one that the rater reads."""

from __future__ import annotations

import pytest

from relstudy.common.tables.meaning.scales import SCALES, Scale
from relstudy.studyapp.web.rendering import choices


@pytest.mark.parametrize(
    ("scale", "keys"),
    [
        (SCALES["1-5"], "12345"),
        (SCALES["binary"], "01"),
        (Scale("few", (1.5, 2.5, 10.0)), "123"),
        (Scale("many", tuple(float(5 * place) for place in range(21))), ""),
    ],
    ids=lambda value: value.name if isinstance(value, Scale) else None,
)
def test_values_have_their_own_digit_or_few_are_numbered_or_none_has_a_key(scale: Scale, keys: str) -> None:
    assert "".join(choice.digit for choice in choices(scale)) == keys
