"""A study's own design, read from its folder: what a plan then need not be told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from relstudy.analysis.indices.registry import bare_name, index_called
from relstudy.analysis.planning.study_plan import StudyPlan
from relstudy.calibration.tables.decision import Decision, read_decision
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, read_toml
from relstudy.common.runtime.wording import listed
from relstudy.common.tables.meaning.pairs_table import read_pairs

SETTINGS, DESIGN, PAIRS = "study.toml", "design.json", "pairs.csv"


@dataclass(frozen=True)
class StudyDesign:
    """A study's design, as its folder has it.

    Parameters
    ----------
    choices : options of a plan by name, with their values
    queries : how many were drawn; None before that
    decision : what it states of the analysis
    note : what was taken from where, as a sentence
    """

    choices: dict[str, Any]
    decision: Decision
    note: str
    queries: int | None = None

    def under(self, stated: dict[str, Any]) -> dict[str, Any]:
        """The choices that somebody stated, completed by the study's."""
        return self.choices | {name: value for name, value in stated.items() if value is not None}


def design_of_study(folder: Path) -> StudyDesign:
    """Read study.toml, and design.json and pairs.csv where pairs are drawn.

    Raises
    ------
    RelstudyError
        if there is no study.toml, or it cannot be read
    """
    settings = folder / SETTINGS
    if not settings.is_file():
        raise RelstudyError(f"{folder}: there is no {SETTINGS}; a plan takes a study's design from its folder")
    decision = read_decision(settings)
    choices: dict[str, Any] = {"primary": decision.primary, "index": decision.primary}
    content = read_toml(settings)
    blocks = content.get("blocks", [])
    unique = next((block for block in blocks if isinstance(block, dict) and block.get("pairs") == "unique"), {})
    paradigm = unique.get("paradigm")  # None: pairs of all kinds
    scale = unique.get("scale")
    choices |= {"ratings_each": unique.get("ratings_per_pair"), "rating_scale": _by_its_values(scale, content)}
    sources = [f"{SETTINGS} ({_said(choices)})"]
    drawn: dict[str, Any] = {}
    queries = None
    if (folder / DESIGN).is_file():
        first = read_json(folder / DESIGN)["rounds"][0]
        drawn = {name: first.get(name) for name in ("results", "exponent", "floor", "depth")}
        drawn["candidates"] = first.get("population", {}).get(paradigm or "image")
        sources.append(f"{DESIGN} ({_said(drawn)})")
    if (folder / PAIRS).is_file():
        pairs = read_pairs(folder / PAIRS)
        if paradigm is not None:
            pairs = pairs[pairs["paradigm"].isin([paradigm, ""])]
        queries = int(pairs["query_id"].nunique())
        drawn["base"] = base = int((pairs["block"] == "base").sum())
        sources.append(f"{PAIRS} (base {base})")
    asked = unique.get("pairs_per_rater")
    if isinstance(asked, int) and "base" in drawn:
        drawn["ratings_per_rater"] = asked + drawn["base"]
    stated = {name: value for name, value in (choices | drawn).items() if value is not None}
    return StudyDesign(stated, decision, f"the design is the study's own: {listed(sources)}", queries)


def _by_its_values(scale: Any, content: dict[str, Any]) -> Any:
    """A scale by a name that a plan knows: of one of the study's own its values, of a slider its ends.

    Examples
    --------
    >>> _by_its_values("stars", {"scales": {"stars": {"values": [1, 2, 3]}}}), _by_its_values("1-9", {})
    ('1,2,3', '1-9')
    """
    own = content.get("scales", {}).get(scale, {}) if isinstance(scale, str) else {}
    values = own.get("values")
    if not values:
        return scale
    return ("-" if own.get("continuous") else ",").join(f"{value:g}" for value in values)


def as_stated(plan: StudyPlan, decision: Decision, design: StudyDesign | None = None) -> StudyPlan:
    """The plan with the queries that the study has drawn, and with the smallest difference that matters, unless that is
    one of another index than is planned for."""
    if design is not None:
        plan, decision = replace(plan, drawn=design.queries), design.decision
    primary = decision.primary
    other = primary is not None and bare_name(index_called(primary).name) != bare_name(plan.index)
    return plan if other else replace(plan, matters=decision.matters)


def _said(choices: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in choices.items() if value is not None)
