"""Languages of a rater's pages: the words of the interface, and the study's own words in other languages.

English is in `texts`; others are a file each, shipped in `languages` or put into the study's folder of that name. The
researcher's pages are in English whatever the rater's are in, but for what study.toml replaces.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.texts import ENGLISH

FOLDER = "languages"
OF_RESEARCHERS = ("admin.", "preview.", "sso.", "password.")
"""Beginnings of the names of texts that no rater sees."""
DIRECTIONS = ("ltr", "rtl")
WORDS = ("title", "consent", "instructions", "thanks")
"""Texts of [study] that a language's file may have too."""
_PLACEHOLDER = re.compile(r"\{\w+\}")


@dataclass(frozen=True)
class Language:
    """A language in which raters may read the study.

    Parameters
    ----------
    code : as in HTML, such as "de" or "pt-BR"
    name : of the language, in itself
    direction : "ltr" or "rtl"
    texts : of the interface, by name, in place of the English ones
    words : the study's title, consent, instructions and thanks
    blocks : each block's question, by its name
    questions : texts of questions before and after the work, by id
    labels : by scale, the labels of its values
    """

    code: str
    name: str
    direction: str = "ltr"
    texts: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, str] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[float, str]] = field(default_factory=dict)


def names_for_raters() -> tuple[str, ...]:
    """Names of the texts that raters see, which a language has to have."""
    return tuple(name for name in ENGLISH if not name.startswith(OF_RESEARCHERS))


def shipped() -> tuple[str, ...]:
    """Codes of the languages that the program has.

    Examples
    --------
    >>> shipped()
    ('ar', 'de', 'en')
    """
    return tuple(sorted(["en", *(file.stem for file in _shipped_files())]))


def _shipped_files() -> Iterable[Path]:
    return (Path(__file__).parent / FOLDER).glob("*.toml")


@functools.lru_cache(maxsize=64)
def shipped_language(code: str) -> Language | None:
    """A language that the program has; None for any other.

    Examples
    --------
    >>> german = shipped_language("de")
    >>> german.texts["rate.next"], shipped_language("ar").direction
    ('Weiter', 'rtl')
    """
    if code == "en":
        return Language("en", "English")
    file = next((file for file in _shipped_files() if file.stem == code), None)
    return None if file is None else read_language(file)


def language_of(code: str, folder: Path, *, own: bool = False) -> Language:
    """A language as a study has it: the shipped one, with what the study's file says in its place.

    Parameters
    ----------
    code : of the language
    folder : the study's
    own : whether it is the one that study.toml is written in, which may be any and then begins with English texts

    Raises
    ------
    RelstudyError
        if there is no such language, or its file lacks a text
    """
    base, file = shipped_language(code), folder / FOLDER / f"{code}.toml"
    if file.is_file():
        return read_language(file, base, whole=base is None)
    if base is None and not own:
        has = ", ".join(shipped())
        raise RelstudyError(f"{file}: file not found, and the program has {has}; docs/languages.md shows one")
    return base or Language(code, code)


def read_language(file: Path, base: Language | None = None, *, whole: bool = True) -> Language:
    """Read a language's file.

    Parameters
    ----------
    file : whose name is the code
    base : the language that it changes
    whole : whether it must have every text that raters see

    Raises
    ------
    RelstudyError
        where it is no TOML, or a text is missing, unknown, or lacks what is put into it, such as {page}
    """
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{file}: this is not TOML in UTF-8: {error}") from None
    _refuse_others(file, data, ("name", "direction", "texts", "study", "blocks", "questions", "labels"), "settings")
    texts = _texts(file, data, "texts")
    _refuse_others(file, texts, names_for_raters(), "texts that raters see")
    lacking = [name for name in names_for_raters() if name not in texts] if whole else []
    if lacking:
        more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
        raise RelstudyError(f"{file}: these texts are missing under [texts]: {', '.join(lacking[:5])}{more}")
    for name, text in texts.items():
        needed = set(_PLACEHOLDER.findall(ENGLISH[name]))
        if needed != set(_PLACEHOLDER.findall(text)):
            named = ", ".join(sorted(needed, key=lambda each: each.strip("{}"))) or "no placeholder"
            raise RelstudyError(f"{file}: {name} must hold {named}, as English does")
    start = base or Language(file.stem, file.stem)
    direction = data.get("direction", start.direction)
    if direction not in DIRECTIONS:
        raise RelstudyError(f"{file}: direction = {direction!r}; {' or '.join(DIRECTIONS)} is allowed")
    words = _texts(file, data, "study")
    _refuse_others(file, words, WORDS, "texts of [study]")
    labels = data.get("labels", {})
    try:
        by_scale = {name: {float(value): str(text) for value, text in each.items()} for name, each in labels.items()}
    except (AttributeError, ValueError):
        raise RelstudyError(f'{file}: [labels.SCALE] holds a text for each value, such as 1 = "..."') from None
    return Language(
        file.stem,
        str(data.get("name", start.name)),
        direction,
        {**start.texts, **texts},
        words,
        _texts(file, data, "blocks"),
        _texts(file, data, "questions"),
        by_scale,
    )


def _texts(file: Path, data: Mapping[str, Any], table: str) -> dict[str, str]:
    """A table of texts."""
    found = data.get(table, {})
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise RelstudyError(f"{file}: [{table}] holds names and texts in quotes")
    return found


def _refuse_others(file: Path, given: Iterable[str], allowed: Iterable[str], what: str) -> None:
    among = list(allowed)
    unknown = [name for name in given if name not in among]
    if unknown:
        raise RelstudyError(f"{file}: {unknown[0]!r} is unknown; {what} are allowed: {', '.join(among[:8])} ...")
