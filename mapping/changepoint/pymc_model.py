"""The source's model of monotone steps in PyMC: change points by a step method of their own, the variance by NUTS.

For those who want the model written down, ArviZ's InferenceData and another program's chains beside the exact engine
and the project's own sampler. It costs half a minute, most of it compiling.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from relstudy.common.runtime.console import hushed
from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.changepoint.chains import Chains, too_few
from relstudy.mapping.changepoint.model import ConjugatePrior
from relstudy.mapping.changepoint.sampler import LEAST_KEPT, STEPS
from relstudy.mapping.tied_scores import Pooled


def build_model(bins: Pooled, prior: ConjugatePrior) -> Any:
    """The PyMC model of Eq. 4.11-4.13, levels integrated out; free: `variance` and `begins`.

    `begins` (m - 1,) says at which bins, from the second on, a new level begins. Its own prior is flat; the Poisson
    number of change points and their uniform positions come as a potential, as does the likelihood.
    """
    import pymc as pm
    import pytensor.tensor as pt

    n, m = bins.weights, len(bins.weights)
    means = bins.means - prior.mean
    total_square = float(bins.within.sum() + n @ means**2)
    log_weights = np.full(m, -np.inf)
    log_weights[: prior.most(m)] = prior.log_weights(m)
    with pm.Model() as model:
        variance = pm.InverseGamma("variance", alpha=prior.shape, beta=prior.scale)
        begins = pm.Bernoulli("begins", p=0.5, shape=m - 1, initval=_one_change(m))
        pm.Potential("change_points", pt.as_tensor(log_weights)[begins.sum()] + (m - 1) * np.log(2))
        which = pt.concatenate([pt.zeros(1, dtype="int64"), pt.cumsum(begins)])
        size = pt.inc_subtensor(pt.zeros(m)[which], n)
        total = pt.inc_subtensor(pt.zeros(m)[which], n * means)
        square = total_square - (total**2 / (prior.strength + size)).sum()
        sets = 0.5 * pt.log(prior.strength / (prior.strength + size)).sum()
        pm.Potential("likelihood", sets - 0.5 * n.sum() * pt.log(2 * np.pi * variance) - square / (2 * variance))
    return model


def _one_change(m: int) -> np.ndarray:
    """The simplest model: one change point, in the middle."""
    begins = np.zeros(m - 1, dtype=np.int64)
    begins[(m - 1) // 2] = 1
    return begins


def change_point_step(model: Any) -> Any:
    """A PyMC step method over `begins`: births, deaths and Gaussian moves, accepted by Eq. 4.14."""
    from pymc.blocking import RaveledVars
    from pymc.step_methods.arraystep import ArrayStep

    class ChangePointStep(ArrayStep):
        name = "change_points"
        stats_dtypes_shapes: ClassVar[dict[str, tuple[Any, list[int]]]] = {"accepted": (np.float64, [])}

        def astep(self, apoint: Any, *args: Any) -> tuple[Any, list[dict[str, float]]]:
            (log_p,) = args
            begins, accepted = apoint.data, 0
            current = log_p(apoint)
            for _ in range(STEPS):
                proposed, log_ratio = propose(begins, self.rng)
                if proposed is None:
                    continue
                density = log_p(RaveledVars(proposed, apoint.point_map_info))
                if np.log(self.rng.random()) < density - current + log_ratio:
                    begins, current, accepted = proposed, density, accepted + 1
            return RaveledVars(begins, apoint.point_map_info), [{"accepted": accepted / STEPS}]

    return ChangePointStep([model.rvs_to_values[model["begins"]]], [model.compile_logp()])


def propose(begins: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray | None, float]:
    """A birth, a death or a Gaussian move; None where it is not possible; and log S(M | M') / S(M' | M) of Eq. 4.14."""
    taken, free = np.flatnonzero(begins), np.flatnonzero(begins == 0)
    kind = rng.integers(3)
    if len(free if kind == 0 else taken) == 0:
        return None, 0.0
    proposed = begins.copy()
    if kind == 0:
        proposed[rng.choice(free)] = 1
        return proposed, float(np.log(len(free) / (len(taken) + 1)))
    old = int(rng.choice(taken))
    proposed[old] = 0
    if kind == 1:
        return proposed, float(np.log(len(taken) / (len(free) + 1)))
    new = old + round(rng.normal(0.0, 1.5 if rng.random() < 0.5 else max(1.5, len(begins) / 5)))
    if not 0 <= new < len(begins) or begins[new]:
        return None, 0.0
    proposed[new] = 1
    return proposed, 0.0


def sample(
    bins: Pooled, prior: ConjugatePrior, *, draws: int = 2000, chains: int = 4, tune: int = 500, seed: int = 0
) -> tuple[Chains, Any]:
    """Sample change points and variance, then levels from their conditionals; draws out of order are thrown away.

    Parameters
    ----------
    bins : in the order in which levels rise; at least two

    Returns
    -------
    Chains, and ArviZ InferenceData: posterior (variance, begins; every draw), sample_stats, and in
    posterior_predictive `curve` (chain, draw, bin), those in order

    Raises
    ------
    RelstudyError
        with fewer than two bins, or where hardly any draw obeys the order
    """
    import pymc as pm

    if len(bins.weights) < 2:
        raise RelstudyError('engine="pymc" needs at least two distinct scores; use engine="exact"')
    with build_model(bins, prior) as model, hushed("pymc"):
        inference_data = pm.sample(
            draws=draws,
            tune=tune,
            chains=chains,
            cores=1,
            step=[change_point_step(model)],
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )
    variance = inference_data.posterior["variance"].to_numpy()
    begins = inference_data.posterior["begins"].to_numpy().astype(int)
    divergences = (
        int(inference_data.sample_stats["diverging"].sum()) if "diverging" in inference_data.sample_stats else 0
    )
    curves = draw_levels(bins, prior, variance, begins, np.random.default_rng(seed))
    ordered = np.asarray((np.diff(curves, axis=2) >= 0).all(axis=2))
    kept = ordered.sum(axis=1)
    if kept.min() < LEAST_KEPT:
        raise too_few(int(kept.sum()), ordered.size)
    least = int(kept.min())
    every = [np.flatnonzero(row)[:least] for row in ordered]

    def retained(array: np.ndarray) -> np.ndarray:
        return np.stack([part[rows] for part, rows in zip(array, every, strict=True)])

    in_order = Chains(
        retained(curves),
        np.sqrt(retained(variance)),
        retained(begins).sum(axis=2),
        begins[ordered].mean(axis=0),
        float(ordered.mean()),
        divergences,
    )
    _add_curves(inference_data, in_order.curves, bins)
    return in_order, inference_data


def draw_levels(
    bins: Pooled, prior: ConjugatePrior, variance: np.ndarray, begins: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Level of each bin given change points and variance, in any order, shape (chains, draws, m)."""
    which = np.concatenate([np.zeros((*variance.shape, 1), dtype=int), np.cumsum(begins, axis=2)], axis=2)
    hot = which[..., None] == np.arange(which.max() + 1)
    size = np.einsum("j,cdjk->cdk", bins.weights, hot)
    total = np.einsum("j,cdjk->cdk", bins.weights * (bins.means - prior.mean), hot)
    spread = np.sqrt(variance[..., None] / (prior.strength + size))
    levels = prior.mean + total / (prior.strength + size) + spread * rng.standard_normal(size.shape)
    return np.take_along_axis(levels, which, axis=2)


def _add_curves(inference_data: Any, levels: np.ndarray, bins: Pooled) -> None:
    import xarray as xr

    curve = xr.DataArray(levels, dims=("chain", "draw", "bin"), coords={"bin": bins.scores})
    inference_data.add_groups({"posterior_predictive": xr.Dataset({"curve": curve})})
