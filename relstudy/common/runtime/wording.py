"""Numbers and names as they stand in a sentence; one way for every page and every command."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

AGAINST = "runs against the judgments"
"""Of a system, in the note that no output leaves out: it is bad, or its direction was stated wrongly."""
FOUND = "lower is better, found"
"""Of a system whose direction nobody stated, in a note that no output leaves out either."""
LEFT_OUT = "Left out"
"""The beginning of the notes, which no output leaves out, on systems and files of a study that are not scored."""

MOST_DIGITS = "+.6f"
"""Of the ends of an interval."""
SECOND_WORDS = ("preferences", "join", "couples", "lists", "check")
"""Of commands of two words, such as `relstudy calibrate join`."""
IN_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def as_argument(path: str | os.PathLike[str]) -> str:
    """A path as a command takes it, which is not taken for an option or the second word of a command.

    Examples
    --------
    >>> as_argument("demo"), as_argument("join"), as_argument("-new")
    ('demo', './join', './-new')
    """
    text = os.fspath(path)
    return f"./{text}" if text in SECOND_WORDS or text.startswith("-") else text


def quoted(path: str | os.PathLike[str]) -> str:
    """A path as a shell and a command read it, in a command that a message names.

    Examples
    --------
    >>> quoted("my study"), quoted("join")
    ("'my study'", './join')
    """
    return shlex.quote(as_argument(path))


def count_of(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count_of(1, "query", "queries"), count_of(1200, "query", "queries"), count_of(2, "pair")
    ('1 query', '1,200 queries', '2 pairs')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def in_words(number: int) -> str:
    """A small number as a word, a greater one in digits.

    Examples
    --------
    >>> in_words(3), in_words(12)
    ('three', '12')
    """
    return IN_WORDS[number] if 0 <= number < len(IN_WORDS) else f"{number:,}"


def tenths(number: float) -> str:
    """A number of pairs of which each may count a part, to a tenth.

    Examples
    --------
    >>> tenths(392.812), tenths(1234567.0)
    ('392.8', '1,234,567')
    """
    return f"{number:,.1f}".removesuffix(".0")


def percent(share: float, digits: int = 0) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.92), percent(0.0064, 1), percent(-0.0001)
    ('92 %', '0.6 %', '0 %')
    """
    return f"{number(100 * share, f',.{digits}f')} %"


def span(low: float | None, high: float | None, form: str = ".3f") -> str:
    """The ends of an interval, as pages and commands show them, or empty.

    Those of a difference ("+") have as many digits as tell on which side of 0 both lie.

    Examples
    --------
    >>> span(0.4, 0.61), span(-0.2, 0.1, "+.2f"), span(0.93, 0.97, "%"), span(-0.0, -0.0), span(None, None)
    ('0.400 to 0.610', '-0.20 to +0.10', '93 to 97 %', '0.000 to 0.000', '')
    >>> span(-0.21, -0.004, "+.2f")
    '-0.210 to -0.004'
    """
    if low is None or high is None:
        return ""
    if form == "%":
        return f"{number(100 * low, '.0f')} to {percent(high)}"
    nearest = min(low, high, key=abs) if low * high > 0 else 1.0
    while form[0] == "+" and not float(f"{nearest:{form}}") and form != MOST_DIGITS:
        form = f"+.{int(form[2:-1]) + 1}f"
    return f"{number(low, form)} to {number(high, form)}"


def number(value: float | None, form: str = ".3f") -> str:
    """A figure as cells and sentences have it, a dash if there is none; what rounds to nothing has no sign.

    Examples
    --------
    >>> number(0.5), number(None), number(float("nan")), number(2, ".1f"), number(-0.001, "+.2f")
    ('0.500', '–', '–', '2.0', '0.00')
    """
    if value is None or value != value:
        return "–"
    text = f"{value:{form}}"
    return text if any(digit in text for digit in "123456789") else f"{0:{form.replace('+', '')}}"


def thousands(value: int | None) -> str:
    """A whole number as cells and sentences have it, a dash if there is none.

    Examples
    --------
    >>> thousands(1200), thousands(0), thousands(None)
    ('1,200', '0', '–')
    """
    return number(value, ",")


def with_ends(value: float | None, low: float | None, high: float | None, form: str = ".3f") -> str:
    """A figure with its interval in one cell.

    Examples
    --------
    >>> with_ends(0.5, 0.4, 0.6), with_ends(0.5, None, None, ".2f"), with_ends(None, None, None)
    ('0.500 (0.400 to 0.600)', '0.50', '–')
    """
    ends = span(low, high, form)
    return number(value, form) + (f" ({ends})" if ends else "")


def moment(seconds: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time in UTC, from seconds since 1970.

    Examples
    --------
    >>> moment(0), moment(None)
    ('1970-01-01 00:00', '–')
    """
    return "–" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime(form)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def listed_some(names: Sequence[str], most: int = 4) -> str:
    """Names as in a sentence, of many the first ones and how many more there are.

    Examples
    --------
    >>> listed_some(["a", "b"]), listed_some(list("abcdefg"))
    ('a and b', 'a, b, c and 4 more')
    """
    if len(names) <= most:
        return listed(names)
    shown = list(names[: most - 1])
    return listed([*shown, f"{len(names) - len(shown):,} more"])


def capital(text: str) -> str:
    """A phrase with its first letter large.

    Examples
    --------
    >>> capital("gift leads"), capital("")
    ('Gift leads', '')
    """
    return text[:1].upper() + text[1:]


def decapitalised(text: str) -> str:
    """A sentence with its first letter small.

    Examples
    --------
    >>> decapitalised("This study cannot say"), decapitalised("")
    ('this study cannot say', '')
    """
    return text[:1].lower() + text[1:]


def sentence(text: str) -> str:
    """A phrase as a sentence: its first letter large, a full stop at its end.

    Examples
    --------
    >>> sentence("no measure separates a and b")
    'No measure separates a and b.'
    """
    return capital(text) + ("" if text.endswith((".", "?")) else ".")


def share_of_draws(share: float) -> str:
    """The share of redrawn samples in which something happened, never as a certainty.

    Examples
    --------
    >>> share_of_draws(0.784), share_of_draws(0.999), share_of_draws(0.002), share_of_draws(1.0), share_of_draws(0.0)
    ('78 %', 'over 99 %', 'under 1 %', 'over 99 %', 'under 1 %')
    """
    return "over 99 %" if share > 0.99 else "under 1 %" if share < 0.01 else percent(share)


MOST_COUPLES = 4


def couples_in_words(couples: Sequence[tuple[str, str]]) -> str:
    """Names two by two, with how many more there are.

    Examples
    --------
    >>> couples_in_words([("a", "b"), ("a", "c")]), couples_in_words([("a", "b")] * 6)
    ('a and b; a and c', 'a and b; a and b; a and b; a and b; 2 more')
    """
    more = len(couples) - MOST_COUPLES
    shown = [f"{first} and {second}" for first, second in couples[:MOST_COUPLES]]
    return "; ".join([*shown, *([f"{more} more"] if more > 0 else [])])
