"""The networks: three convolutions and two full layers for pictures, the two full layers alone for vectors."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

Weights = dict[str, Array]

KERNELS = ((5, 3, 32), (5, 32, 32), (5, 32, 64))
"""Side, input channels and output channels of the convolutions (Liu et al. 2016, section 3.3)."""


def new_weights(shape: tuple[int, ...], hidden: int, bits: int, seed: int) -> Weights:
    """Random weights for items of a shape: (D,) for vectors, (height, width, 3) for pictures; sides multiples of 8.

    Where `hidden` is 0 there is no first full layer: the code is read off the items, or the convolutions, at once.
    """
    rng = np.random.default_rng(seed)
    weights: dict[str, np.ndarray] = {}
    width = shape[0]
    if len(shape) == 3:
        for number, (side, inputs, outputs) in enumerate(KERNELS):
            weights[f"convolution_{number}"] = _normal(rng, (side, side, inputs, outputs), side * side * inputs)
            weights[f"convolution_{number}_offset"] = np.zeros(outputs)
        width = shape[0] // 8 * (shape[1] // 8) * KERNELS[-1][2]
    full = [("hidden", width, hidden), ("code", hidden, bits)] if hidden else [("code", width, bits)]
    for layer, inputs, outputs in full:
        weights[layer] = _normal(rng, (inputs, outputs), inputs)
        weights[f"{layer}_offset"] = np.zeros(outputs)
    return {name: jnp.asarray(values, dtype=jnp.float32) for name, values in weights.items()}


def outputs_of(weights: Weights, items: Array) -> Array:
    """The real-valued codes of standardised vectors (n, D) or pictures (n, height, width, 3): float (n, bits)."""
    values = items
    if items.ndim == 4:
        for layer in range(len(KERNELS)):
            values = _convolved(values, weights[f"convolution_{layer}"]) + weights[f"convolution_{layer}_offset"]
            values = jax.nn.relu(values)
            values = _pooled(values, jnp.max if layer == 0 else jnp.mean)
        values = values.reshape(len(values), -1)
    if "hidden" in weights:
        values = jax.nn.relu(values @ weights["hidden"] + weights["hidden_offset"])
    return values @ weights["code"] + weights["code_offset"]


def _convolved(values: Array, kernel: Array) -> Array:
    order = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(values, kernel, (1, 1), "SAME", dimension_numbers=order)


def _pooled(values: Array, pool: object) -> Array:
    number, height, width, channels = values.shape
    return pool(values.reshape(number, height // 2, 2, width // 2, 2, channels), axis=(2, 4))  # type: ignore[operator]


def _normal(rng: np.random.Generator, shape: tuple[int, ...], inputs: int) -> np.ndarray:
    return rng.standard_normal(shape) * np.sqrt(2 / inputs)
