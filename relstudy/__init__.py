"""Find out whether people agree with a retrieval system.

    import relstudy as rs

    panel = rs.calibrate("ratings.csv")
    mapping = rs.fit("scores.csv", panel.judgments)
    result = rs.score({"new": "new.run", "old": "old.run"}, panel.judgments)

Functions take paths or DataFrames and give DataFrames. Nothing is imported before it is used.
"""

from __future__ import annotations

import importlib
import os
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relstudy.analysis.hashing import api as hashing
    from relstudy.analysis.scoring.options import ScoringOptions as ScoringOptions
    from relstudy.analysis.verdict.verdict import Verdict as Verdict
    from relstudy.api.asking import ask as ask
    from relstudy.api.by_groups import CalibratedParts as CalibratedParts
    from relstudy.api.by_groups import MappingGroups as MappingGroups
    from relstudy.api.by_groups import calibrate_by as calibrate_by
    from relstudy.api.by_groups import fit_by as fit_by
    from relstudy.api.calibrating import CalibratedPanel as CalibratedPanel
    from relstudy.api.calibrating import calibrate as calibrate
    from relstudy.api.calibrating import read_ratings as read_ratings
    from relstudy.api.comparing import Couples as Couples
    from relstudy.api.comparing import Preferences as Preferences
    from relstudy.api.comparing import couples as couples
    from relstudy.api.comparing import preferences as preferences
    from relstudy.api.fitting import Mappings as Mappings
    from relstudy.api.fitting import fit as fit
    from relstudy.api.joining import JoinedJudgments as JoinedJudgments
    from relstudy.api.joining import join as join
    from relstudy.api.judging import CheckedJudge as CheckedJudge
    from relstudy.api.judging import judge as judge
    from relstudy.api.judging import mean_judge as mean_judge
    from relstudy.api.planning import Plan as Plan
    from relstudy.api.planning import plan as plan
    from relstudy.api.reading import Inspection as Inspection
    from relstudy.api.reading import inspect as inspect
    from relstudy.api.reading import read as read
    from relstudy.api.remote import RemoteStudy as RemoteStudy
    from relstudy.api.remote import study as study
    from relstudy.api.sampling import Sample as Sample
    from relstudy.api.sampling import sample as sample
    from relstudy.api.scores import Scores as Scores
    from relstudy.api.scoring import score as score
    from relstudy.calibration.options import CalibrationOptions as CalibrationOptions
    from relstudy.calibration.reliability.generalizability import Generalizability as Generalizability
    from relstudy.calibration.tables.ratings import Ratings as Ratings
    from relstudy.common.cluster import on_cluster as on_cluster
    from relstudy.common.results.result import Result as Result
    from relstudy.common.runtime.errors import RelstudyError as RelstudyError
    from relstudy.mapping.fitted import FittedMapping as FittedMapping
    from relstudy.mapping.fitted import read_mappings as read_mappings
    from relstudy.mapping.options import FitOptions as FitOptions

    __version__: str

# In a checkout four packages are links to the folders beside this one; where the system made none, as Windows does not
# by default, they are found there.
if not os.path.isdir(os.path.join(__path__[0], "analysis")):
    __path__.append(os.path.dirname(__path__[0]))

_OWNERS = {
    "CalibratedPanel": "relstudy.api.calibrating",
    "CalibratedParts": "relstudy.api.by_groups",
    "CalibrationOptions": "relstudy.calibration.options",
    "CheckedJudge": "relstudy.api.judging",
    "Couples": "relstudy.api.comparing",
    "FitOptions": "relstudy.mapping.options",
    "FittedMapping": "relstudy.mapping.fitted",
    "Generalizability": "relstudy.calibration.reliability.generalizability",
    "Inspection": "relstudy.api.reading",
    "JoinedJudgments": "relstudy.api.joining",
    "MappingGroups": "relstudy.api.by_groups",
    "Mappings": "relstudy.api.fitting",
    "Plan": "relstudy.api.planning",
    "Preferences": "relstudy.api.comparing",
    "Ratings": "relstudy.calibration.tables.ratings",
    "RelstudyError": "relstudy.common.runtime.errors",
    "RemoteStudy": "relstudy.api.remote",
    "Result": "relstudy.common.results.result",
    "Sample": "relstudy.api.sampling",
    "Scores": "relstudy.api.scores",
    "ScoringOptions": "relstudy.analysis.scoring.options",
    "Verdict": "relstudy.analysis.verdict.verdict",
    "ask": "relstudy.api.asking",
    "calibrate": "relstudy.api.calibrating",
    "calibrate_by": "relstudy.api.by_groups",
    "couples": "relstudy.api.comparing",
    "fit": "relstudy.api.fitting",
    "fit_by": "relstudy.api.by_groups",
    "inspect": "relstudy.api.reading",
    "join": "relstudy.api.joining",
    "judge": "relstudy.api.judging",
    "mean_judge": "relstudy.api.judging",
    "on_cluster": "relstudy.common.cluster",
    "plan": "relstudy.api.planning",
    "preferences": "relstudy.api.comparing",
    "read": "relstudy.api.reading",
    "read_mappings": "relstudy.mapping.fitted",
    "read_ratings": "relstudy.api.calibrating",
    "sample": "relstudy.api.sampling",
    "score": "relstudy.api.scoring",
    "study": "relstudy.api.remote",
}

__all__ = [
    "CalibratedPanel",
    "CalibratedParts",
    "CalibrationOptions",
    "CheckedJudge",
    "Couples",
    "FitOptions",
    "FittedMapping",
    "Generalizability",
    "Inspection",
    "JoinedJudgments",
    "MappingGroups",
    "Mappings",
    "Plan",
    "Preferences",
    "Ratings",
    "RelstudyError",
    "RemoteStudy",
    "Result",
    "Sample",
    "Scores",
    "ScoringOptions",
    "Verdict",
    "__version__",
    "ask",
    "calibrate",
    "calibrate_by",
    "couples",
    "fit",
    "fit_by",
    "hashing",
    "inspect",
    "join",
    "judge",
    "mean_judge",
    "on_cluster",
    "plan",
    "preferences",
    "read",
    "read_mappings",
    "read_ratings",
    "sample",
    "score",
    "study",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("relstudy")
    if name == "hashing":
        return importlib.import_module("relstudy.analysis.hashing.api")
    if name in _OWNERS:
        value = getattr(importlib.import_module(_OWNERS[name]), name)
        if isinstance(value, types.FunctionType):
            value = _public(value)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'relstudy' has no attribute {name!r}")


def _public(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a notebook calls it: its messages name arguments, and it is pickled by the name it has here."""
    from relstudy.common.options.option_wording import called_in_python

    public = called_in_python(function)
    public.__module__ = __name__
    return public


def __dir__() -> list[str]:
    return __all__
