"""The objectives of Ding, Li and Li 2018, Eq. 16 to 31, and Jiang, Li and Li 2019, Eq. 4 and section 4.2, by terms.

Distances are between the real-valued codes of a batch, float (n, n); every objective is a mean over the pairs of a
batch where the print has a sum, so that the step does not hang on the batch's size.

Where the print cannot be meant:

- Eq. 19, 24 and 31 print |b1 - 1| + |b1 - 1|: the first code twice and the second never, without the absolute value of
  the code that lets it approach -1. Taken: ||b1| - 1| + ||b2| - 1|, as Liu et al. (2016) have it.
- Section 5.3 comes out of the type as "r1 = 6 and r2 = 3", against 0 < r1 < r2 of Eq. 22. Taken: k/6 and k/3.
- Section 5.3 sets m = 2k "to encourage dissimilar images at least k/2 apart". That holds for the squared distances of
  Eq. 18, where each differing bit adds 4. Among the L1 distances of Eq. 23 each adds 2, and m = 2k asks for all k bits
  to differ. Taken: 2k, as printed; `margin` sets another.
- Eq. 25 as printed pulls pairs of a class by B as well as by A, for they share the superclass too; with r2 = r3 both
  vanish at the distance r2 alone. Taken as printed.
- The two lines of Jiang, Li and Li's Eq. 4 are not equal: the first weighs all pairs alike, the second similar and
  dissimilar pairs apart. Taken: the second, of which J(H; m) is made.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def squared_distances(codes: Array) -> Array:
    """|b1 - b2|^2 of all pairs of codes, float (n, k) to (n, n)."""
    return ((codes[:, None] - codes[None, :]) ** 2).sum(axis=-1)


def l1_distances(codes: Array) -> Array:
    """|b1 - b2| in L1 of all pairs of codes, float (n, k) to (n, n)."""
    return jnp.abs(codes[:, None] - codes[None, :]).sum(axis=-1)


def hamming_distances(codes: Array) -> Array:
    """(Q - h1 h2) / 2, the Hamming distance where codes are -1 and +1: float (n, Q) to (n, n)."""
    return (codes.shape[1] - codes @ codes.T) / 2


def shortfall(distances: Array, margin: float) -> Array:
    """max(m - d, 0): what a pair lacks to be m apart (Ding, Li and Li 2018, Eq. 18, 23 and 30)."""
    return jnp.maximum(margin - distances, 0)


def outside_band(distances: Array, low: float, high: float) -> Array:
    """max(low - d, 0) + max(d - high, 0): how far a pair is outside of a band (Eq. 21 and 22; 26 to 29)."""
    return shortfall(distances, low) + jnp.maximum(distances - high, 0)


def from_binary(codes: Array) -> Array:
    """||b1| - 1| + ||b2| - 1| in L1 for all pairs of codes, float (n, k) to (n, n) (Eq. 19, 24 and 31, mended)."""
    each = jnp.abs(jnp.abs(codes) - 1).sum(axis=1)
    return each[:, None] + each[None, :]


def same(classes: Array) -> Array:
    """1 where two items share the class, 0 elsewhere: (n,) to float (n, n)."""
    return (classes[:, None] == classes[None, :]).astype(jnp.float32)


def dsh(codes: Array, classes: Array, norm: str, margin: float, alpha: float) -> Array:
    """Deep supervised hashing (Ding, Li and Li 2018, Eq. 16 to 19, after Liu et al. 2016).

    `norm` is "l2" for the squared distances of the print, or "l1", which section 5.2 puts in their place before it
    disperses the codes.
    """
    distances, alike = {"l1": l1_distances, "l2": squared_distances}[norm](codes), same(classes)
    pull, push = alike * distances, (1 - alike) * shortfall(distances, margin)
    return _mean_of_pairs(pull / 2 + push / 2 + alpha * from_binary(codes))


def dispersed(codes: Array, classes: Array, band: tuple[float, float], margin: float, alpha: float) -> Array:
    """The dispersed objective for one label (Ding, Li and Li 2018, Eq. 20 to 24)."""
    distances, alike = l1_distances(codes), same(classes)
    pull, push = alike * outside_band(distances, *band), (1 - alike) * shortfall(distances, margin)
    return _mean_of_pairs(pull / 2 + push / 2 + alpha * from_binary(codes))


def dispersed_superclasses(
    codes: Array,
    classes: Array,
    superclasses: Array,
    bands: tuple[tuple[float, float], tuple[float, float]],
    margin: float,
    alpha: float,
) -> Array:
    """The dispersed objective for class and superclass (Ding, Li and Li 2018, Eq. 25 to 31); a band for each."""
    distances, alike, akin = l1_distances(codes), same(classes), same(superclasses)
    class_pull, superclass_pull = (outside_band(distances, *band) for band in bands)
    push = (1 - akin) * shortfall(distances, margin)
    return _mean_of_pairs((alike * class_pull + akin * superclass_pull + push) / 2 + alpha * from_binary(codes))


def shifted_squares(codes: Array, classes: Array, shift: float) -> Array:
    """J(H; m) of m-DSH (Jiang, Li and Li 2019, section 4.2): similar pairs to the distance m, others to Q.

    m = 0 is Eq. 4. A kind of pair that a batch has none of adds 0.
    """
    distances, alike = hamming_distances(codes), same(classes)
    return _mean_of(alike, (shift - distances) ** 2) + _mean_of(1 - alike, (codes.shape[1] - distances) ** 2)


def _mean_of_pairs(values: Array) -> Array:
    return _mean_of(jnp.ones_like(values), values)


def _mean_of(kind: Array, values: Array) -> Array:
    pairs = jnp.triu(kind, k=1)
    return (pairs * values).sum() / jnp.maximum(pairs.sum(), 1)
