"""The table of a hashing paper: methods by code lengths, the best of each length, and what the others lack of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.common.results.estimates import Estimate
from relstudy.common.results.latex import LatexCell, latex_table
from relstudy.common.runtime.wording import number, span

COLUMNS = ["figure", "method", "bits", "value", "best", "difference", "low", "high", "reason"]
DIGITS = ".4f"


def method_of(name: str, bits: int) -> str:
    """The method that a system's name tells beside its code length.

    Examples
    --------
    >>> method_of("itq-32", 32), method_of("csq_64bits", 64), method_of("itq2", 32), method_of("64", 64)
    ('itq', 'csq', 'itq2', '64')
    """
    return re.sub(rf"[-_. ]?{bits}[-_ ]?(bits?)?$", "", name) or name


def by_length(
    tables: Mapping[str, CountTable],
    figures: Mapping[str, Callable[[CountTable], float | None]],
    difference: Callable[[str, str, str], Estimate],
) -> list[dict[str, Any]]:
    """A record for each figure, method and code length, as `COLUMNS` name it; rankings by distances have no length.

    Parameters
    ----------
    figures : by name, the mean over queries
    difference : of a figure, between two systems by their names, with its interval

    Returns
    -------
    Records whose `difference` is that to the best method of the length, None for itself; empty where one method
    has two tables of one length
    """
    names = {name: (method_of(name, table.bits), table.bits) for name, table in tables.items() if table.by_rank is None}
    if len({*names.values()}) < len(names):
        return []
    records = []
    for figure, of_table in figures.items():
        values = {name: of_table(tables[name]) for name in names}
        for bits in sorted({length for _, length in names.values()}):
            of_length = [name for name, (_, length) in names.items() if length == bits]
            known = [name for name in of_length if values[name] is not None]
            best = max(known, key=lambda name: values[name] or 0.0, default=None)
            for name in of_length:
                is_best = best is not None and values[name] == values[best]
                lacks = None if best is None or is_best else difference(figure, name, best)
                records.append(
                    {
                        "figure": figure,
                        "method": names[name][0],
                        "bits": bits,
                        "value": values[name],
                        "best": is_best,
                        "difference": None if lacks is None else lacks.as_json(),
                    }
                )
    return records


def as_frame(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a figure, method and length, with `COLUMNS`: `difference`, `low` and `high` are against the best."""
    rows = []
    for record in records:
        lacks = record["difference"] or {}
        ends = {"difference": lacks.get("value"), **{name: lacks.get(name) for name in ("low", "high", "reason")}}
        rows.append({**record, **ends})
    return pd.DataFrame(rows, columns=COLUMNS)


def text_rows(records: Sequence[Mapping[str, Any]], figure: str) -> tuple[list[str], list[list[str]]]:
    """The headings and the rows of a figure's table, methods by lengths; a star marks the best of a length."""
    lengths, cells = _cells(records, figure)
    methods = list(dict.fromkeys(method for method, _ in cells))
    rows = [[method, *(_text(cells.get((method, bits))) for bits in lengths)] for method in methods]
    return [figure, *(f"{bits} bits" for bits in lengths)], rows


def latex_of(records: Sequence[Mapping[str, Any]]) -> str:
    """The tables of all figures in LaTeX: the best of each length bold, and below every other its difference to that,
    with its interval."""
    parts = []
    for figure in dict.fromkeys(record["figure"] for record in records):
        lengths, cells = _cells(records, figure)
        methods = list(dict.fromkeys(method for method, _ in cells))
        rows = [[LatexCell(method), *(_latex(cells.get((method, bits))) for bits in lengths)] for method in methods]
        caption = f"{figure} by code length; below, the difference to the best with its 95 % interval over queries."
        label = "hash-" + re.sub("[^A-Za-z0-9]+", "-", figure).strip("-").lower()
        headings = ["Method", *(f"{bits} bits" for bits in lengths)]
        parts.append(latex_table(caption, label, headings, "l" + "r" * len(lengths), rows))
    return "\n".join(parts)


def _cells(
    records: Sequence[Mapping[str, Any]], figure: str
) -> tuple[list[int], dict[tuple[str, int], Mapping[str, Any]]]:
    own = [record for record in records if record["figure"] == figure]
    return sorted({record["bits"] for record in own}), {(each["method"], each["bits"]): each for each in own}


def _difference(record: Mapping[str, Any]) -> str:
    lacks = record["difference"]
    if lacks is None or lacks.get("value") is None:
        return ""
    ends = span(lacks["low"], lacks["high"], "+" + DIGITS) if lacks.get("low") is not None else ""
    return number(lacks["value"], "+" + DIGITS) + (f", {ends}" if ends else "")


def _text(record: Mapping[str, Any] | None) -> str:
    if record is None or record["value"] is None:
        return "–"
    shown, lacks = number(record["value"], DIGITS), _difference(record)
    return f"{shown}*" if record["best"] else f"{shown} ({lacks})" if lacks else shown


def _latex(record: Mapping[str, Any] | None) -> LatexCell:
    if record is None or record["value"] is None:
        return LatexCell("–")
    return LatexCell(number(record["value"], DIGITS), _difference(record), bold=record["best"])
