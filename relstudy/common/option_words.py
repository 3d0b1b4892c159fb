"""How a way out is written: as an option of a command, or as an argument in Python where the table is a DataFrame."""

from __future__ import annotations

import re
import shlex


def list_entry(text: str) -> str:
    """An entry of a comma-separated list: in double quotes where it contains a comma or a quote.

    Examples
    --------
    >>> print(list_entry("3,5=3.5"))
    "3,5=3.5"
    """
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _quoted(text: str) -> str:
    """An entry as the shell takes it."""
    entry = list_entry(text)
    return f'"{text}"' if entry == text and not set(text) & set("$`\\!") else shlex.quote(entry)


class CommandWords:
    """As options of a command.

    Examples
    --------
    >>> CommandWords().missing("not seen"), CommandWords().value("yes"), CommandWords().scale("0-100")
    ('--missing "not seen"', '--values "yes=NUMBER"', '--scale 0-100')
    """

    def missing(self, text: str) -> str:
        """A text that stands for no answer."""
        plain = re.fullmatch(r"[\w.-]+", text)
        return f"--missing {text}" if plain else f"--missing {_quoted(text)}"

    def value(self, text: str) -> str:
        """A text that stands for a number."""
        return f"--values {_quoted(f'{text}=NUMBER')}"

    def scale(self, name: str) -> str:
        """The scale."""
        return f"--scale {name}"


class PythonWords(CommandWords):
    """As arguments of a function.

    Examples
    --------
    >>> PythonWords().missing("not seen"), PythonWords().value("yes"), PythonWords().scale("0-100")
    ("missing=['not seen']", "values={'yes': NUMBER}", "scale='0-100'")
    """

    def missing(self, text: str) -> str:
        return f"missing=[{text!r}]"

    def value(self, text: str) -> str:
        return f"values={{{text!r}: NUMBER}}"

    def scale(self, name: str) -> str:
        return f"scale={name!r}"
