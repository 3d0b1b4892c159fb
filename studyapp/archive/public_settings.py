"""study.toml as it may be shown to everybody: what the study asks, and none of its secrets."""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from typing import Any

from relstudy.studyapp.config.study import Study

KEPT: dict[str, tuple[str, ...]] = {
    "study": ("id", "title", "language", "consent", "instructions", "thanks"),
    "entry": (
        "rules",
        "id_parameter",
        "keep_parameters",
        "group_parameter",
        "code_needs_decided",
        "failed_checks_allowed",
        "joins_per_address",
    ),
}
"""Of these tables, the settings that are kept."""
WHOLE = (
    *("handout", "scales", "blocks", "practice", "qualification", "attention", "screening", "groups", "limits"),
    *("questions", "texts"),
)
"""Tables that are kept as they are. Whatever is neither here nor above is left out, so that nothing slips through."""
NO_PASSPHRASE = "left out"


def public_settings(study: Study) -> tuple[str, tuple[str, ...]]:
    """The text of a study.toml without secrets and addresses, and the names of the settings that were left out."""
    kept: dict[str, Any] = {}
    left_out: list[str] = []
    for table, content in tomllib.loads(study.text).items():
        if table in WHOLE:
            kept[table] = content
        elif table in KEPT:
            kept[table] = {name: value for name, value in content.items() if name in KEPT[table]}
            left_out += [f"{table}.{name}" for name in content if name not in KEPT[table]]
        else:
            left_out.append(table)
    if "passphrase" in kept.get("entry", {}).get("rules", ()):
        kept["entry"]["passphrase"] = NO_PASSPHRASE
    return as_toml(kept), tuple(left_out)


def as_toml(data: dict[str, Any]) -> str:
    """Plain data as TOML: tables, lists of tables, and values on one line.

    Examples
    --------
    >>> print(as_toml({"a": {"b": "x\\ny", "c": {"1": 2.0}}, "d": [{"e": [True]}]}).strip())
    [a]
    b = "x\\ny"
    c = {"1" = 2.0}
    <BLANKLINE>
    [[d]]
    e = [true]
    """
    lines: list[str] = []
    for name, content in data.items():
        for entry in content if isinstance(content, list) else [content]:
            lines.append(f"[[{_key(name)}]]" if isinstance(content, list) else f"[{_key(name)}]")
            lines += [f"{_key(key)} = {_value(value)}" for key, value in entry.items()]
            lines.append("")
    return "\n".join(lines)


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum() and not name[0].isdigit()
    return name if plain else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return "{" + ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items()) + "}"


def _text(text: str) -> str:
    """A basic string; control characters by their number."""
    short = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return (
        '"' + "".join(short.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text) + '"'
    )
