"""The cumulative-link model in PyMC: raters' parameters and thresholds; `Likelihood` sums out pair qualities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from relstudy.calibration.methods.ordinal_likelihood import Likelihood
from relstudy.common.runtime.console import hushed

LENIENCY_SPREAD = 1.5
SHARPNESS_SPREAD = 0.5
"""Wide enough that a dozen ratings outweigh them; spreads estimated from the panel agreed no better out of sample."""


class LikelihoodOp(Op):
    """`Likelihood.value_and_gradient` as a PyTensor operation: the log likelihood, then its derivatives."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood = likelihood

    def make_node(self, *parameters: Any) -> Any:
        inputs = [pt.as_tensor(parameter) for parameter in parameters]
        return Apply(self, inputs, [pt.dscalar(), *(variable.type() for variable in inputs)])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        for storage, result in zip(output_storage, self.likelihood.value_and_gradient(*inputs), strict=True):
            storage[0] = np.asarray(result)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        return [output_grads[0] * gradient for gradient in outputs[1:]]


def build_model(likelihood: Likelihood, raters: int, start: np.ndarray) -> Any:
    """The model; free: leniency (R), typical and relative log discrimination (R), thresholds (K - 1, from `start`)."""
    with pm.Model() as model:
        leniency = pm.Normal("leniency", 0, LENIENCY_SPREAD, shape=raters)
        typical = pm.Normal("typical_log_sharpness", 0.5, 1)
        relative = pm.Normal("relative_log_sharpness", 0, SHARPNESS_SPREAD, shape=raters)
        discrimination = pm.Deterministic("discrimination", pm.math.exp(typical + relative))
        ordered = pm.distributions.transforms.ordered if len(start) > 1 else None
        thresholds = pm.Normal("thresholds", 0, 5, shape=len(start), initval=start, transform=ordered)
        value = LikelihoodOp(likelihood)(leniency, discrimination, pt.tile(thresholds, (raters, 1)))[0]
        pm.Potential("ratings", value)
    return model


def posterior_mode(likelihood: Likelihood, raters: int, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leniency (R), discrimination (R) and thresholds (K - 1) of greatest posterior density, by L-BFGS."""
    # All the work is in the likelihood: compiling the rest to C would cost a minute and gain nothing.
    with pytensor.config.change_flags(mode="FAST_COMPILE"), hushed("pymc"), build_model(likelihood, raters, start):
        mode = pm.find_MAP(progressbar=False)
    return mode["leniency"], mode["discrimination"], mode["thresholds"]
