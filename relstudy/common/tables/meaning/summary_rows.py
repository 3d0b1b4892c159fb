"""Names of rows and columns that sum others up, as people and spreadsheets write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

NAMES = (
    *(
        "grand totals?",
        "(sub|over)[ -]?(all[ -]?)?totals?",
        "totals?",
        "sums?",
        "means?",
        "averages?",
        "avg",
        "medians?",
    ),
    *(
        "overall",
        "consensus",
        "majority( vote)?",
        "mos",
        "sd",
        "s\\.d\\.",
        "std",
        "st(d|and\\w*)[. -]*dev(iation)?",
        "stdev",
    ),
    *("(ins)?gesamt\\w*", "(zwischen|end|gesamt)?summen?", "mw", "mittel(wert)?e?", "(im )?durchschnitt(lich\\w*)?"),
    *("schnitt", "standardabweichung", "stabw\\w*", "anzahl", "[øØ⌀∅]", "[σΣ∑]", "[μµ]", "x̄"),
    *(
        "moyennes?",
        "sommes?",
        "totaux",
        "médianes?",
        "écart[ -]type",
        "promedios?",
        "media",
        "suma",
        "mediana",
        "totales?",
    ),
    *("somma", "totali", "média", "soma", "gemiddelde", "totaal", "średnia", "suma", "razem", "المتوسط", "المجموع"),
)
OF = (
    r"([\s_:-]*(of|over|for|aller|der|des|de|von|über)?[\s_]*(all|alle|the|the \w+|tous|les)?[\s_]*"
    r"(raters?|ratings?|scores?|votes?|judges?|values?|points?|results?|bewertung(en)?|bewerter|urteile?|noten?|wert|"
    r"punkte?|ergebnis(se)?|notes?|évaluations?)?)"
)
COUNTED = r"([\s_]*([(\[].*[)\]]|n\s*=?\s*\d+))?"
TOTAL = re.compile(rf"({'|'.join(NAMES)}){OF}{COUNTED}[\s:.*=%]*", re.IGNORECASE)


def is_total(name: object) -> bool:
    """True where a name reads like a total, mean or spread of others.

    Examples
    --------
    >>> [is_total(name) for name in ("Gesamt", "gesamt (n=8)", "Ø", "MW", "Mean rating:", "Total of all raters")]
    [True, True, True, True, True, True]
    >>> [is_total(name) for name in ("Max", "Meaning", "Mittelalter", "Totalenergies", "Anna", "m1", "sum of squares")]
    [False, False, False, False, False, False, False]
    """
    return TOTAL.fullmatch(str(name).strip()) is not None


def totals(frame: pd.DataFrame, column: str, role: str, within: Sequence[str] = ()) -> list[str]:
    """The ids of a column that read like totals of other rows.

    Of results and queries only those whose rows are the first or last of their rater and query, who have others: a
    query's result may be called so.

    Parameters
    ----------
    role : the column is the table's rater_id, query_id or result_id
    within : the columns of raters and queries, where the ids are of what they rated

    Examples
    --------
    >>> table = pd.DataFrame({"item": ["a", "b", "mean", "SD"], "rater": ["ann", "Total", "ann", "ann"]})
    >>> totals(table, "item", "result_id"), totals(table, "rater", "rater_id")
    (['mean', 'SD'], ['Total'])
    """
    names = frame[column].astype("str").str.strip()
    found = [str(name) for name in names.unique() if is_total(name)]
    if role == "rater_id" or not found:
        return found
    groups = [name for name in within if name != column]
    marked = names.isin(found)
    group = frame.groupby(groups, sort=False, dropna=False).ngroup() if groups else pd.Series(0, index=frame.index)
    before = (~marked).groupby(group).cumsum()
    others = (~marked).groupby(group).transform("sum")
    at_end = ((others > 0) & ((before == 0) | (before == others))).to_numpy(dtype=bool)
    return [name for name in found if at_end[(names == name).to_numpy()].all()]
