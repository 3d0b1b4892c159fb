"""Where ratings vary: between queries, between results of a query, between raters, and by chance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.generalizability import Generalizability, of_panel
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR


@dataclass(frozen=True)
class Variances:
    """Standard deviations on the rating scale.

    Parameters
    ----------
    query : of the mean true relevance of queries
    result : of the true relevance of results within a query
    rater : of the raters' offsets, before calibration
    noise : of one rating around its pair's true relevance, the rater's offset taken out
    study : what the ratings that they are of tell; None where they are stated
    """

    query: float
    result: float
    rater: float
    noise: float
    study: Generalizability | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in self.as_json().items():
            if not (np.isfinite(value) and value >= 0):
                raise RelstudyError(f"the standard deviation of {name} is a number from 0, not {value}")

    def as_json(self) -> dict[str, float]:
        return {"query": self.query, "result": self.result, "rater": self.rater, "noise": self.noise}


def variances_of(ratings: pd.DataFrame) -> Variances:
    """Of pilot ratings, by restricted maximum likelihood (`relstudy.calibration.reliability.generalizability`).

    What a rater thinks of a query differently from others counts as noise here, which it is for a pair.

    Parameters
    ----------
    ratings : rater_id, query_id, result_id, rating (NaN where undecided)

    Raises
    ------
    RelstudyError
        where no pair has two ratings, so that noise cannot be separated from relevance, or there is a single query

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     [
    ...         (r, q, i, 3.0 + (q == "a") + (i == "x") + (r == "one") * 0.5 + (r + i == "oney") * 0.1)
    ...         for r in ("one", "two") for q in "ab" for i in "xy"
    ...     ],
    ...     columns=["rater_id", "query_id", "result_id", "rating"],
    ... )
    >>> variances = variances_of(table)
    >>> round(variances.rater, 4), round(variances.noise, 4)
    (0.3884, 0.0408)
    """
    decided = ratings[np.isfinite(ratings["rating"].to_numpy(dtype=float))]
    pairs = decided.groupby(PAIR).ngroups
    if pairs == len(decided) or len(decided) < pairs + decided["rater_id"].nunique():
        raise RelstudyError(
            "no noise can be estimated from these ratings: pairs rated by several raters are needed; state "
            f"{option('noise')} instead"
        )
    if decided["query_id"].nunique() < 2:
        raise RelstudyError("all pilot ratings are of one query; at least two are needed")
    study = of_panel(Panel.from_frame(decided))
    rest, result, rater, query, taste = (float(each) for each in study.variances)
    return Variances(query**0.5, result**0.5, rater**0.5, (rest + taste) ** 0.5, study)
