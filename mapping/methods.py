"""Every mapping method by its name."""

from __future__ import annotations

from typing import Any, Literal, get_args

from relstudy.common.runtime.by_name import load
from relstudy.common.runtime.errors import RelstudyError

Compared = Literal["isotonic", "bagged", "correlation", "bayes"]
METHODS: tuple[Compared, ...] = get_args(Compared)
"""Those among which the best is chosen."""

OfTheSource = Literal[
    "quadratic", "quadratic-bagged", "local", "local-bagged", "bayes-conjugate", "bayes-sampler", "bayes-pymc", "ogive"
]
SOURCE_METHODS: tuple[OfTheSource, ...] = get_args(OfTheSource)
"""The source's own ways, to be run by name (Shirahatti and Barnard 2005, sections 4.1-4.3)."""

EVERY_METHOD = (*METHODS, *SOURCE_METHODS)
OTHER_NAMES = {"steps": "bayes-conjugate"}
"""The source's word for a method -> its name here, under which it is kept and printed."""
BEST = "best"
ENGINES = {"exact": "bayes", "sampler": "bayes-sampler", "pymc": "bayes-pymc"}
"""Engine of the Bayesian fit -> the method of that name."""

BOOTSTRAP_PROGRAMS = 25  # samples where each needs an optimiser
BAYES = "relstudy.mapping.changepoint.mapping:BayesMapping"
PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "isotonic": ("relstudy.mapping.least_squares.isotonic:IsotonicMapping", {}),
    "bagged": ("relstudy.mapping.least_squares.isotonic:BaggedMapping", {}),
    "correlation": ("relstudy.mapping.correlation.mapping:CorrelationMapping", {}),
    "bayes": (BAYES, {}),
    "bayes-conjugate": (BAYES, {"prior": "conjugate"}),
    "bayes-sampler": (BAYES, {"engine": "sampler"}),
    "bayes-pymc": (BAYES, {"engine": "pymc"}),
    "quadratic": ("relstudy.mapping.paper.quadratic:QuadraticMapping", {}),
    "quadratic-bagged": ("relstudy.mapping.paper.quadratic:QuadraticMapping", {"bagged": BOOTSTRAP_PROGRAMS}),
    "local": ("relstudy.mapping.paper.local_search:LocalCorrelationMapping", {}),
    "local-bagged": ("relstudy.mapping.paper.local_search:LocalCorrelationMapping", {"bagged": BOOTSTRAP_PROGRAMS}),
    "ogive": ("relstudy.mapping.paper.ogive.mapping:OgiveMapping", {}),
}
"""Where each method's estimator is, and what makes the method of it."""


def make_mapping(method: str, seed: int = 0, **parameters: Any) -> Any:
    """The estimator of a method, one of EVERY_METHOD, not yet fitted; `parameters` go to its constructor.

    Examples
    --------
    >>> make_mapping("isotonic").fit([1, 2], [1, 5]).predict([1.5]).tolist()
    [3.0]
    """
    method = OTHER_NAMES.get(method, method)
    if method not in EVERY_METHOD:
        raise RelstudyError(f"there is no mapping method {method!r}; there are: {', '.join((*EVERY_METHOD, BEST))}")
    place, own = PLACES[method]
    seeded = {} if method == "isotonic" else {"seed": seed}  # which draws nothing
    return load(place)(**seeded, **own | parameters)
