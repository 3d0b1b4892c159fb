"""The change-point model in PyMC: the path summed out by the same recursion, written in PyTensor; NUTS on what is left.

For checking the exact engine, and for those who want chains, ArviZ and a learnt rate. It costs half a minute where the
exact engine costs a tenth of a second, most of it compiling.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from relstudy.common.console import hushed
from relstudy.common.errors import RelstudyError
from relstudy.mapping.changepoint.model import PLAIN_LIMIT, Prior, curves, monotone_deficit
from relstudy.mapping.isotonic import isotonic_fit
from relstudy.mapping.pooling import Pooled

R_HAT_LIMIT = 1.01
KEPT = 200  # draws whose curves are kept, spread evenly over the chains


@dataclass(frozen=True)
class Sampled:
    """What the chains gave.

    Parameters
    ----------
    inference_data : ArviZ InferenceData: posterior (sigma; rate where it is learnt), sample_stats, and in
        posterior_predictive `curve` (chain, draw, bin): the level of each bin in independent draws of the path
    sigma : kept draws of sigma, shape (K,)
    diagnostics : r_hat, ess_bulk, divergences, warning (None or a sentence)
    """

    inference_data: Any
    sigma: np.ndarray
    diagnostics: dict[str, Any]


def build_model(bins: Pooled, prior: Prior) -> Any:
    """The PyMC model; free: sigma, and the rate where `prior.learn_rate`."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor.scan.basic import scan

    n = bins.weights
    square = bins.within[:, None] + n[:, None] * (bins.means[:, None] - prior.levels) ** 2
    least = square.min(axis=1, keepdims=True)
    counts = np.arange(1, prior.most(len(n)) + 1)
    with pm.Model() as model:
        sigma = pm.TruncatedNormal(
            "sigma", mu=0.0, sigma=prior.sigma_scale, lower=prior.step, initval=_start(bins, prior)
        )
        if prior.learn_rate:
            rate = pm.Gamma("rate", alpha=prior.rate, beta=1.0)
            log_p = (counts - 1) * pt.log(rate) - pt.gammaln(counts)
            log_weights = log_p - pt.logsumexp(log_p) + prior.log_configurations(len(n))
        else:
            log_weights = pt.as_tensor(prior.log_weights(len(n)))
        likelihood = pt.exp(-(square - least) / (2 * sigma**2))
        first = pt.set_subtensor(pt.zeros((len(counts), prior.grid))[0], likelihood[0])
        start = first.sum()

        def step(now: Any, states: Any, log_scale: Any) -> tuple[Any, Any]:
            below = pt.cumsum(states, axis=1) - states
            moved = pt.concatenate([states[:1], states[1:] + below[:-1]], axis=0) * now
            total = moved.sum()
            return moved / total, log_scale + pt.log(total)

        outputs = scan(step, sequences=[likelihood[1:]], outputs_info=[first / start, pt.log(start)])
        # PyTensor gives its updates beside the outputs, and has announced that it will give the outputs alone.
        states, log_scales = outputs[0] if isinstance(outputs, tuple) else outputs
        # sums before logarithms: the share of a number of levels may be 0, whose logarithm has no gradient
        peak = float(prior.log_weights(len(n)).max())
        end = pt.log((states[-1].sum(axis=1) * pt.exp(log_weights - peak)).sum()) + peak
        constant = -0.5 * n.sum() * np.log(2 * np.pi)
        pm.Potential(
            "evidence", log_scales[-1] + end - n.sum() * pt.log(sigma) - least.sum() / (2 * sigma**2) + constant
        )
    return model


def _start(bins: Pooled, prior: Prior) -> float:
    fit = isotonic_fit(bins)
    residual = float(bins.within.sum() + bins.weights @ (bins.means - fit) ** 2) / float(bins.weights.sum())
    return float(np.clip(np.sqrt(residual), 2 * prior.step, 4 * prior.sigma_scale))


def sample(
    bins: Pooled,
    prior: Prior,
    *,
    draws: int = 1000,
    tune: int = 300,
    chains: int = 2,
    cores: int | None = None,
    seed: int = 0,
) -> Sampled:
    """Sample sigma (and the rate) by NUTS, then curves backwards for evenly spread draws.

    Parameters
    ----------
    bins : in the order in which levels rise; at least two

    Raises
    ------
    RelstudyError
        with fewer than two bins, or where the judgments contradict the direction so strongly that the recursion,
        which PyTensor runs on plain numbers, would underflow

    Warns
    -----
    RuntimeWarning
        where the chains disagree (R-hat above 1.01) or a transition diverged
    """
    import pymc as pm

    if len(bins.weights) < 2:
        raise RelstudyError('engine="pymc" needs at least two distinct scores; use engine="exact"')
    if monotone_deficit(bins, prior, _start(bins, prior)) > PLAIN_LIMIT:
        raise RelstudyError(
            'engine="pymc" cannot fit judgments that contradict the direction of the mapping so strongly; '
            'use engine="exact", or increasing="auto"'
        )
    with build_model(bins, prior), hushed("pymc"):
        inference_data = pm.sample(
            draws=draws,
            tune=tune,
            chains=chains,
            cores=cores,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )
    diagnostics = diagnose(inference_data)
    if diagnostics["warning"] is not None:
        warnings.warn(diagnostics["warning"], RuntimeWarning, stacklevel=2)
    kept = inference_data.posterior.isel(draw=np.unique(np.linspace(0, draws - 1, max(KEPT // chains, 1)).astype(int)))
    sigma = kept["sigma"].to_numpy()
    paths = curves(bins, prior, sigma.ravel(), np.random.default_rng(seed))
    _add_curves(inference_data, prior.levels[paths].reshape(*sigma.shape, -1), kept, bins)
    return Sampled(inference_data, sigma.ravel(), diagnostics)


def _add_curves(inference_data: Any, levels: np.ndarray, kept: Any, bins: Pooled) -> None:
    import xarray as xr

    coordinates = {"chain": kept["chain"], "draw": kept["draw"], "bin": bins.scores}
    curve = xr.DataArray(levels, dims=("chain", "draw", "bin"), coords=coordinates)
    inference_data.add_groups({"posterior_predictive": xr.Dataset({"curve": curve})})


def diagnose(inference_data: Any) -> dict[str, Any]:
    """R-hat and effective sample size of the worst parameter, divergences, and a warning in words or None."""
    import arviz as az

    r_hat = float(az.rhat(inference_data.posterior).to_array().max())
    ess = float(az.ess(inference_data.posterior).to_array().min())
    divergences = (
        int(inference_data.sample_stats["diverging"].sum()) if "sample_stats" in inference_data.groups() else 0
    )
    warning = None
    if not r_hat < R_HAT_LIMIT:
        warning = (
            f"the chains disagree (R-hat {r_hat:.3f}, below {R_HAT_LIMIT} is needed): they have not settled on one "
            "answer, so do not use this fit; sample longer, or use the exact engine"
        )
    elif divergences > 0:
        warning = f"{divergences} transitions diverged: the posterior may be biased; use the exact engine to check"
    return {"r_hat": r_hat, "ess_bulk": ess, "divergences": divergences, "warning": warning}
