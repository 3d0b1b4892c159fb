"""study.toml -> Study: what is asked of whom.

Checked on load; every fault names the line, the value and what is allowed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calibration.errors import RelstudyError
from studyapp.toml_lines import line_numbers, nearest_line

ENTRY_RULES = ("personal", "open", "passphrase", "prolific", "crowd")
QUESTION_KINDS = ("text", "long", "number", "choice")


@dataclass(frozen=True)
class Scale:
    """The values a rater chooses from.

    Parameters
    ----------
    name : as named in study.toml and in the export
    values : the numbers, ascending, at least two
    labels : text for some or all values
    undecided : whether "undecided" is offered
    """

    name: str
    values: tuple[float, ...]
    labels: dict[float, str] = field(default_factory=dict)
    undecided: bool = True

    def parse(self, text: str) -> float | None:
        """The number a form field stands for; None is "undecided". ValueError for anything else."""
        if text == "undecided" and self.undecided:
            return None
        for value in self.values:
            if text == show_value(value):
                return value
        raise ValueError(f"{text!r} is not on the scale {self.name}")


def show_value(value: float) -> str:
    """A scale value as people write it: 3, 2.5."""
    return f"{value:g}"


SCALES = {
    "1-5": Scale("1-5", (1, 2, 3, 4, 5), {1: "poor match", 5: "good match"}),
    "binary": Scale("binary", (0, 1), {0: "poor match", 1: "good match"}),
    "1-9": Scale("1-9", tuple(range(1, 10)), {1: "poor match", 5: "average match", 9: "good match"}),
}


@dataclass(frozen=True)
class Block:
    """One stretch of pages.

    Parameters
    ----------
    name : unique in the study
    pairs : "base" (everyone rates them all) or "unique" (handed out, each pair to `ratings_per_pair` raters)
    paradigm : which rows of pairs.csv: "image", "text", or None for all
    scale : the scale they are rated on
    results_per_page : how many results of one query share a page
    question : the question above the results
    ratings_per_pair : k, for unique pairs
    pairs_per_rater : how many unique pairs a rater is asked for before the end; None: as many as there are
    more : how many unique pairs "rate some more" adds
    repeats : how many of the block's pages are shown a second time
    """

    name: str
    pairs: str
    scale: Scale
    question: str
    paradigm: str | None = None
    results_per_page: int = 4
    ratings_per_pair: int = 1
    pairs_per_rater: int | None = 100
    more: int = 20
    repeats: int = 0

    @property
    def unique(self) -> bool:
        return self.pairs == "unique"

    @property
    def pages_per_rater(self) -> int | None:
        """How many pages of unique pairs a rater is asked for."""
        return None if self.pairs_per_rater is None else -(-self.pairs_per_rater // self.results_per_page)

    @property
    def more_pages(self) -> int:
        return -(-self.more // self.results_per_page)


@dataclass(frozen=True)
class KnownPair:
    """A pair whose right answers are known: for practice, or to check attention.

    Parameters
    ----------
    block : the block whose scale, question and look it has
    query_id, result_id : items of the collection
    expected : the answers taken as right
    feedback : what the rater is told afterwards (practice only)
    """

    block: str
    query_id: str
    result_id: str
    expected: tuple[float, ...]
    feedback: str = ""


@dataclass(frozen=True)
class Question:
    """A question at the end."""

    id: str
    text: str
    kind: str = "text"
    choices: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Entry:
    """Who gets in, and where they are sent at the end.

    Parameters
    ----------
    rules : any of personal, open, passphrase, prolific, crowd
    passphrase : what to type, for rule "passphrase"
    id_parameter : the URL parameter that names the person, for rule "crowd"
    keep_parameters : further URL parameters to keep with the person
    completion_url : where the last page leads; `{code}` is replaced by the completion code
    completion_code : one code for everyone (as Prolific wants it); empty: each rater gets one of their own
    """

    rules: tuple[str, ...] = ("personal",)
    passphrase: str = ""
    id_parameter: str = ""
    keep_parameters: tuple[str, ...] = ()
    completion_url: str = ""
    completion_code: str = ""


@dataclass(frozen=True)
class Study:
    """All of study.toml, checked.

    Examples
    --------
    >>> study = Study.parse('[study]\\nid = "colours"\\ntitle = "Colours"\\n')
    >>> [(block.name, block.scale.name, block.results_per_page) for block in study.blocks]
    [('base', '1-5', 4), ('unique', '1-5', 4)]
    """

    folder: Path
    id: str
    title: str
    language: str
    contact: str
    url: str
    consent: str
    instructions: str
    thanks: str
    paused: bool
    lease_minutes: float
    seed: int
    entry: Entry
    blocks: tuple[Block, ...]
    practice: tuple[KnownPair, ...]
    attention: tuple[KnownPair, ...]
    questions: tuple[Question, ...]
    texts: dict[str, str]

    def block(self, name: str) -> Block:
        """The block of that name."""
        return next(block for block in self.blocks if block.name == name)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """Every scale in use, in order of first use."""
        return tuple({block.scale.name: block.scale for block in self.blocks}.values())

    @classmethod
    def load(cls, folder: str | Path) -> Study:
        """Read FOLDER/study.toml.

        Raises
        ------
        RelstudyError
            when the file is absent, is no TOML, or has faults (all are listed)
        """
        path = Path(folder) / "study.toml"
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise RelstudyError(f"{path}: there is no such file; `relstudy new {folder}` writes one") from None
        except UnicodeDecodeError as error:
            raise RelstudyError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
        except OSError as error:
            raise RelstudyError(f"{path}: cannot be read ({error.strerror})") from None
        return cls.parse(text, file=str(path), folder=Path(folder))

    @classmethod
    def parse(cls, text: str, file: str = "study.toml", folder: Path = Path(".")) -> Study:
        """Check the text of a study.toml; `file` is the name used in errors."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RelstudyError(f"{file}: this is not TOML: {error}") from None
        return _Checker(file, line_numbers(text)).study(data, folder)


class _Checker:
    """Walks the parsed TOML, collects faults with their lines, and raises them together."""

    SHOWN = 20

    def __init__(self, file: str, lines: dict[tuple[str | int, ...], int]) -> None:
        self.file = file
        self.lines = lines
        self.faults: list[str] = []

    def fault(self, path: tuple[str | int, ...], value: object, allowed: str) -> None:
        line = nearest_line(self.lines, path)
        place = f"{self.file}, line {line}" if line else self.file
        name = ".".join(str(part) for part in path if not isinstance(part, int))
        found = "" if value is None else f" {value!r} is not allowed;"
        self.faults.append(f"{place}, {name}:{found} {allowed}")

    def keys(self, table: dict[str, Any], path: tuple[str | int, ...], known: Iterable[str]) -> None:
        known = tuple(known)
        for key in table:
            if key not in known:
                self.fault((*path, key), None, f"there is no such setting; known are {', '.join(known)}")

    def text(
        self, table: dict[str, Any], path: tuple[str | int, ...], key: str, default: str | None, pattern: str = ""
    ) -> str:
        value = table.get(key, default)
        if value is None:
            self.fault((*path, key), None, "a text is required")
            return ""
        if not isinstance(value, str):
            self.fault((*path, key), value, "a text in quotes is allowed")
            return default or ""
        if pattern and value and not re.fullmatch(pattern, value):
            self.fault((*path, key), value, f"allowed is {_PATTERNS[pattern]}")
        return value.strip()

    def number(
        self, table: dict[str, Any], path: tuple[str | int, ...], key: str, default: float, low: float, high: float
    ) -> float:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.fault((*path, key), value, f"a number from {low:g} to {high:g} is allowed")
            return default
        return value

    def whole(
        self, table: dict[str, Any], path: tuple[str | int, ...], key: str, default: int, low: int, high: int
    ) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault((*path, key), value, f"a whole number from {low} to {high} is allowed")
            return default
        return value

    def yes(self, table: dict[str, Any], path: tuple[str | int, ...], key: str, default: bool) -> bool:
        value = table.get(key, default)
        if not isinstance(value, bool):
            self.fault((*path, key), value, "true or false is allowed")
            return default
        return value

    def one_of(
        self, table: dict[str, Any], path: tuple[str | int, ...], key: str, default: str, allowed: Iterable[str]
    ) -> str:
        allowed = tuple(allowed)
        value = table.get(key, default)
        if value not in allowed:
            self.fault((*path, key), value, f"one of {', '.join(allowed)} is allowed")
            return default
        return str(value)

    def texts(self, table: dict[str, Any], path: tuple[str | int, ...], key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) and entry.strip() for entry in value):
            self.fault((*path, key), value, 'a list of texts is allowed, such as ["a", "b"]')
            return ()
        return tuple(entry.strip() for entry in value)

    def table(self, data: dict[str, Any], path: tuple[str | int, ...], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if not isinstance(value, dict):
            self.fault((*path, key), value, f"a table is needed: [{'.'.join(map(str, (*path, key)))}]")
            return {}
        return value

    def tables(self, data: dict[str, Any], key: str) -> list[dict[str, Any]]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fault((key,), value, f"a list of tables is needed: [[{key}]]")
            return []
        return value

    def study(self, data: dict[str, Any], folder: Path) -> Study:
        self.keys(
            data,
            (),
            ("study", "handout", "entry", "scales", "blocks", "practice", "attention", "questions", "texts"),
        )
        if "study" not in data:
            self.fault(("study",), None, "the table [study] with id and title is required")
            data["study"] = {"id": "x", "title": "x"}
        head = self.table(data, (), "study")
        at = ("study",)
        self.keys(
            head,
            at,
            ("id", "title", "language", "contact", "url", "consent", "instructions", "thanks", "paused"),
        )
        handout = self.table(data, (), "handout")
        self.keys(handout, ("handout",), ("lease_minutes", "seed"))
        scales = self.scales(self.table(data, (), "scales"))
        blocks = self.blocks(self.tables(data, "blocks"), scales)
        study = Study(
            folder=folder,
            id=self.text(head, at, "id", None, _ID),
            title=self.text(head, at, "title", None),
            language=self.text(head, at, "language", "en", _LANGUAGE),
            contact=self.text(head, at, "contact", ""),
            url=self.text(head, at, "url", "", _URL).rstrip("/"),
            consent=self.text(head, at, "consent", ""),
            instructions=self.text(head, at, "instructions", ""),
            thanks=self.text(head, at, "thanks", ""),
            paused=self.yes(head, at, "paused", False),
            lease_minutes=self.number(handout, ("handout",), "lease_minutes", 30, 0.01, 100_000),
            seed=self.whole(handout, ("handout",), "seed", 0, 0, 2**31 - 1),
            entry=self.entry(self.table(data, (), "entry")),
            blocks=blocks,
            practice=self.known(self.tables(data, "practice"), "practice", blocks),
            attention=self.known(self.tables(data, "attention"), "attention", blocks),
            questions=self.questions(self.tables(data, "questions")),
            texts=self.overrides(self.table(data, (), "texts")),
        )
        if self.faults:
            shown = self.faults[: self.SHOWN]
            if len(self.faults) > self.SHOWN:
                shown.append(f"... and {len(self.faults) - self.SHOWN} more faults")
            raise RelstudyError("\n".join(shown))
        return study

    def scales(self, data: dict[str, Any]) -> dict[str, Scale]:
        scales = dict(SCALES)
        for name in data:
            path = ("scales", name)
            entry = self.table(data, ("scales",), name)
            self.keys(entry, path, ("values", "labels", "undecided"))
            standard = SCALES.get(name)
            values = entry.get("values", list(standard.values) if standard else None)
            if (
                not isinstance(values, list)
                or not 2 <= len(values) <= 21
                or not all(isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < 1e6 for v in values)
                or sorted(set(values)) != values
            ):
                self.fault((*path, "values"), values, "two to 21 ascending numbers are allowed, such as [1, 2, 3]")
                continue
            labels = dict(standard.labels) if standard else {}
            for key, label in self.table(entry, path, "labels").items():
                try:
                    number = float(key)
                except ValueError:
                    number = float("nan")
                if number not in values or not isinstance(label, str):
                    self.fault(
                        (*path, "labels", key),
                        label,
                        f"a text for one of the values {values} is allowed, not for {key}",
                    )
                else:
                    labels[number] = label.strip()
            scales[name] = Scale(name, tuple(values), labels, self.yes(entry, path, "undecided", True))
        return scales

    def blocks(self, data: list[dict[str, Any]], scales: dict[str, Scale]) -> tuple[Block, ...]:
        data = data or [{"name": "base", "pairs": "base"}, {"name": "unique", "pairs": "unique"}]
        blocks: list[Block] = []
        seen: set[str] = set()
        for index, entry in enumerate(data):
            path = ("blocks", index)
            self.keys(
                entry,
                path,
                (
                    *("name", "pairs", "paradigm", "scale", "results_per_page", "question", "ratings_per_pair"),
                    *("pairs_per_rater", "more", "repeats"),
                ),
            )
            pairs = self.one_of(entry, path, "pairs", "unique", ("base", "unique"))
            name = self.text(entry, path, "name", pairs, _NAME)
            if name in seen:
                self.fault((*path, "name"), name, "another block has this name; names must differ")
            seen.add(name)
            scale = self.one_of(entry, path, "scale", "1-5", scales)
            paradigm = entry.get("paradigm")
            if paradigm is not None:
                paradigm = self.one_of(entry, path, "paradigm", "image", ("image", "text"))
            for key in ("ratings_per_pair", "pairs_per_rater", "more"):
                if pairs == "base" and key in entry:
                    self.fault((*path, key), entry[key], "only a block of unique pairs has this setting")
            everything = entry.get("pairs_per_rater") == "all"
            blocks.append(
                Block(
                    name=name,
                    pairs=pairs,
                    scale=scales[scale],
                    question=self.text(entry, path, "question", "How well does each result match the query?"),
                    paradigm=paradigm,
                    results_per_page=self.whole(entry, path, "results_per_page", 1 if paradigm == "text" else 4, 1, 40),
                    ratings_per_pair=self.whole(entry, path, "ratings_per_pair", 1, 1, 1000),
                    pairs_per_rater=None
                    if everything
                    else self.whole(entry, path, "pairs_per_rater", 100, 0, 1_000_000),
                    more=self.whole(entry, path, "more", 20, 0, 1_000_000),
                    repeats=self.whole(entry, path, "repeats", 0, 0, 1000),
                )
            )
        return tuple(blocks)

    def known(self, data: list[dict[str, Any]], key: str, blocks: tuple[Block, ...]) -> tuple[KnownPair, ...]:
        pairs = []
        names = [block.name for block in blocks]
        for index, entry in enumerate(data):
            path = (key, index)
            feedback = ("feedback",) if key == "practice" else ()
            self.keys(entry, path, ("block", "query_id", "result_id", "expected", *feedback))
            block = self.one_of(entry, path, "block", names[0], names)
            scale = next(b.scale for b in blocks if b.name == block)
            expected = entry.get("expected", None)
            if not isinstance(expected, list) or not expected or not all(value in scale.values for value in expected):
                allowed = ", ".join(map(show_value, scale.values))
                self.fault((*path, "expected"), expected, f"a list of right answers is needed, each one of {allowed}")
                expected = []
            pairs.append(
                KnownPair(
                    block=block,
                    query_id=self.text(entry, path, "query_id", None),
                    result_id=self.text(entry, path, "result_id", None),
                    expected=tuple(expected),
                    feedback=self.text(entry, path, "feedback", ""),
                )
            )
        return tuple(pairs)

    def questions(self, data: list[dict[str, Any]]) -> tuple[Question, ...]:
        questions = []
        seen: set[str] = set()
        for index, entry in enumerate(data):
            path = ("questions", index)
            self.keys(entry, path, ("id", "text", "kind", "choices", "required"))
            name = self.text(entry, path, "id", None, _ID)
            if name in seen:
                self.fault((*path, "id"), name, "another question has this id; ids must differ")
            seen.add(name)
            kind = self.one_of(entry, path, "kind", "text", QUESTION_KINDS)
            choices = self.texts(entry, path, "choices")
            if (kind == "choice") != bool(choices):
                self.fault(
                    (*path, "choices"), list(choices), 'kind = "choice" goes with a list of choices, and only that'
                )
            questions.append(
                Question(
                    name, self.text(entry, path, "text", None), kind, choices, self.yes(entry, path, "required", False)
                )
            )
        return tuple(questions)

    def entry(self, data: dict[str, Any]) -> Entry:
        path = ("entry",)
        self.keys(
            data,
            path,
            ("rules", "passphrase", "id_parameter", "keep_parameters", "completion_url", "completion_code"),
        )
        rules = self.texts(data, path, "rules") if "rules" in data else ("personal",)
        for rule in rules:
            if rule not in ENTRY_RULES:
                self.fault((*path, "rules"), rule, f"any of {', '.join(ENTRY_RULES)} are allowed")
        if "open" in rules and "passphrase" in rules:
            self.fault((*path, "rules"), list(rules), "open and passphrase exclude each other")
        if "prolific" in rules and "crowd" in rules:
            self.fault((*path, "rules"), list(rules), "prolific and crowd exclude each other")
        passphrase = self.text(data, path, "passphrase", "")
        if ("passphrase" in rules) != bool(passphrase):
            self.fault((*path, "passphrase"), None, 'rule "passphrase" goes with a passphrase of at least 8 characters')
        elif passphrase and len(passphrase) < 8:
            self.fault((*path, "passphrase"), passphrase, "at least 8 characters are needed")
        id_parameter = self.text(data, path, "id_parameter", "", _PARAMETER)
        keep = self.texts(data, path, "keep_parameters")
        if "prolific" in rules:
            id_parameter, keep = id_parameter or "PROLIFIC_PID", keep or ("STUDY_ID", "SESSION_ID")
        if "crowd" in rules and not id_parameter:
            self.fault((*path, "id_parameter"), None, 'rule "crowd" needs the name of the URL parameter for the person')
        return Entry(
            rules=rules,
            passphrase=passphrase,
            id_parameter=id_parameter,
            keep_parameters=keep,
            completion_url=self.text(data, path, "completion_url", "", _URL),
            completion_code=self.text(data, path, "completion_code", ""),
        )

    def overrides(self, data: dict[str, Any]) -> dict[str, str]:
        from studyapp.texts import ENGLISH

        for key, value in data.items():
            if key not in ENGLISH:
                self.fault(("texts", key), None, "there is no such text; docs/app.md lists them")
            elif not isinstance(value, str):
                self.fault(("texts", key), value, "a text in quotes is allowed")
        return {key: str(value) for key, value in data.items()}


_ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_NAME = r"[^\x00-\x1f]{1,80}"
_LANGUAGE = r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*"
_URL = r"https?://[^\s\"'<>]+"
_PARAMETER = r"[A-Za-z0-9_.-]{1,64}"
_PATTERNS = {
    _ID: "letters, digits, - and _ (at most 64)",
    _NAME: "a name of at most 80 characters on one line",
    _LANGUAGE: 'a language code such as "en" or "de-AT"',
    _URL: "an address that begins with https:// (or http://)",
    _PARAMETER: "letters, digits, dot, - and _",
}
