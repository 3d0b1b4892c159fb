"""Every mapping method by its name."""

from __future__ import annotations

from typing import Any, Literal, get_args

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


def make_mapping(method: str, seed: int = 0, **parameters: Any) -> Any:
    """The estimator of a method, one of EVERY_METHOD, not yet fitted; `parameters` go to its constructor.

    Examples
    --------
    >>> make_mapping("isotonic").fit([1, 2], [1, 5]).predict([1.5]).tolist()
    [3.0]
    """
    method = OTHER_NAMES.get(method, method)
    name, _, variant = method.partition("-")
    if method not in EVERY_METHOD:
        raise RelstudyError(f"there is no mapping method {method!r}; there are: {', '.join((*EVERY_METHOD, BEST))}")
    if name == "isotonic":
        from relstudy.mapping.least_squares.isotonic import IsotonicMapping

        return IsotonicMapping(**parameters)
    if name == "bagged":
        from relstudy.mapping.least_squares.isotonic import BaggedMapping

        return BaggedMapping(seed=seed, **parameters)
    if name == "correlation":
        from relstudy.mapping.correlation.mapping import CorrelationMapping

        return CorrelationMapping(seed=seed, **parameters)
    if name == "quadratic":
        from relstudy.mapping.least_squares.quadratic import QuadraticMapping

        return QuadraticMapping(seed=seed, **({"bagged": BOOTSTRAP_PROGRAMS} if variant else {}) | parameters)
    if name == "local":
        from relstudy.mapping.correlation.local_search import LocalCorrelationMapping

        return LocalCorrelationMapping(seed=seed, **({"bagged": BOOTSTRAP_PROGRAMS} if variant else {}) | parameters)
    if name == "ogive":
        from relstudy.mapping.changepoint.ogive.mapping import OgiveMapping

        return OgiveMapping(seed=seed, **parameters)
    from relstudy.mapping.changepoint.mapping import BayesMapping

    variants: dict[str, dict[str, Any]] = {"": {}, "conjugate": {"prior": "conjugate"}}
    return BayesMapping(seed=seed, **variants.get(variant, {"engine": variant}) | parameters)
