"""What a study states before ratings come in: the tables [analysis] and [looks] of study.toml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_toml

Rule = Literal["obrien-fleming", "pocock"]
NONE = "none"
ON_BOUND = ("nothing", "pause")
RULES: tuple[str, ...] = (*get_args(Rule), NONE)


@dataclass(frozen=True)
class LookPlan:
    """The looks at the answer that are planned while ratings come in: the table [looks] of study.toml.

    Parameters
    ----------
    planned : how many, the last one at the end
    error : of claims over all looks, two-sided
    rule : how the error is spent over the looks: late ("obrien-fleming") or evenly ("pocock")
    ratings_per_pair : answers that the study wants for each pair that is not in the base block
    folder : of study.toml, where the looks are kept
    blind : whether figures are withheld until the study can stop
    on_bound : "pause": the study is paused once it can stop; "nothing"
    """

    planned: int
    error: float = 0.05
    rule: Rule = "obrien-fleming"
    ratings_per_pair: int = 1
    folder: Path = Path()
    blind: bool = False
    on_bound: str = ON_BOUND[0]


@dataclass(frozen=True)
class Decision:
    """The analysis as a study states it.

    Parameters
    ----------
    primary : name of the index that decides between systems; None where it is not stated
    matters : the smallest difference in it that matters, in its own points; None where it is not stated
    looks : those that are planned; None where none are, or each is tested as though it were alone (rule "none")
    """

    primary: str | None = None
    matters: float | None = None
    looks: LookPlan | None = None


def read_decision(file: Path) -> Decision:
    """What a study.toml states: `primary`, the name of an index, `matters`, a number above 0, and its looks.

    Raises
    ------
    RelstudyError
        where the file is no TOML, or says what is not allowed
    """
    content = read_toml(file)
    stated = content.get("analysis", {})
    primary, matters = stated.get("primary"), stated.get("matters")
    if primary is not None and not isinstance(primary, str):
        raise RelstudyError(f"{file}: analysis.primary is the name of an index, such as same_query, not {primary!r}")
    if matters is not None and not (_is_number(matters) and 0 < matters < float("inf")):
        raise RelstudyError(f"{file}: analysis.matters is a number above 0, not {matters!r}")
    return Decision(primary, None if matters is None else float(matters), _looks(file, content))


def _looks(file: Path, content: dict[str, Any]) -> LookPlan | None:
    stated = content.get("looks")
    if stated is None:
        return None
    planned, error, rule = stated.get("planned", 1), stated.get("error", 0.05), stated.get("rule", RULES[0])
    if not (isinstance(planned, int) and not isinstance(planned, bool) and planned >= 1):
        raise RelstudyError(f"{file}: looks.planned is a whole number from 1, not {planned!r}")
    if not (_is_number(error) and 0 < error < 1):
        raise RelstudyError(f"{file}: looks.error is a number between 0 and 1, not {error!r}")
    if rule not in RULES:
        raise RelstudyError(f"{file}: looks.rule is one of {', '.join(RULES)}, not {rule!r}")
    blind, on_bound = stated.get("blind", False), stated.get("on_bound", ON_BOUND[0])
    if not isinstance(blind, bool):
        raise RelstudyError(f"{file}: looks.blind is true or false, not {blind!r}")
    if on_bound not in ON_BOUND:
        raise RelstudyError(f"{file}: looks.on_bound is one of {', '.join(ON_BOUND)}, not {on_bound!r}")
    if rule == NONE:
        if blind or on_bound != ON_BOUND[0]:
            raise RelstudyError(f"{file}: looks.blind and looks.on_bound need a rule, since {NONE} has no bound")
        return None
    wanted = [each.get("ratings_per_pair", 1) for each in content.get("blocks", ()) if each.get("pairs") == "unique"]
    return LookPlan(planned, float(error), rule, max(wanted, default=1), file.parent, blind, on_bound)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
