"""Each term of each equation alone, by hand; gradients against finite differences; what cannot be meant as printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

jax = pytest.importorskip("jax")
from relstudy.analysis.hashing.encoders.deep import objectives as o  # noqa: E402

pytestmark = pytest.mark.slow

CODES = np.array([[1.0, -1.0, 0.5], [-1.0, -1.0, 0.5], [0.25, 2.0, -0.5]], dtype=np.float32)
CLASSES = np.array([0, 0, 1])


@pytest.mark.parametrize(
    ("distances", "first_row"),
    [(o.squared_distances, [0.0, 4.0, 0.75**2 + 9 + 1]), (o.l1_distances, [0.0, 2.0, 0.75 + 3 + 1])],
    ids=["squared, Eq. 17", "L1, Eq. 21 to 23"],
)
def test_distances_are_those_of_their_equations(
    distances: Callable[[np.ndarray], object], first_row: list[float]
) -> None:
    assert np.asarray(distances(CODES))[0].tolist() == first_row


def test_hamming_distances_count_differing_bits_of_binary_codes() -> None:
    bits = np.random.default_rng(0).integers(0, 2, (6, 16))
    wanted = (bits[:, None] != bits[None]).sum(axis=-1)
    assert np.asarray(o.hamming_distances(2.0 * bits - 1)).tolist() == wanted.tolist()


def test_a_pair_beyond_the_margin_lacks_nothing() -> None:
    assert np.asarray(o.shortfall(np.array([0.0, 3.0, 5.0, 9.0]), 5.0)).tolist() == [5.0, 2.0, 0.0, 0.0]


def test_a_pair_in_its_band_is_left_alone() -> None:
    distances = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 7.0])
    assert np.asarray(o.outside_band(distances, 2.0, 4.0)).tolist() == [2.0, 1.0, 0.0, 0.0, 0.0, 3.0]


def test_both_codes_of_a_pair_are_drawn_to_minus_and_plus_one() -> None:
    each = np.array([0.5, 0.5, 0.75 + 1 + 0.5])
    assert np.asarray(o.from_binary(CODES)).tolist() == (each[:, None] + each[None]).tolist()


def test_eq_19_as_printed_would_push_all_bits_to_plus_one_and_leave_the_second_code_alone() -> None:
    """ "Forming the binary-like continuous output codes close to {-1, 1}" is not what |b1 - 1| + |b1 - 1| does."""

    def printed(first: np.ndarray, second: np.ndarray) -> float:
        return float(np.abs(first - 1).sum() + np.abs(first - 1).sum())

    minus, half = -np.ones(3), np.full(3, 0.5)
    assert printed(minus, minus) == 12.0  # a perfectly binary pair, at the greatest cost
    assert printed(np.ones(3), half) == printed(np.ones(3), minus)  # nothing asked of the second code
    assert float(o.from_binary(np.stack([minus, minus]))[0, 1]) == 0.0
    assert float(o.from_binary(np.stack([np.ones(3), half]))[0, 1]) == 1.5


def test_2k_is_half_of_the_bits_for_squared_distances_and_all_of_them_for_l1() -> None:
    """Section 5.3 sets one m = 2k for Eq. 18 and Eq. 23, "to encourage dissimilar images at least k/2 apart"."""
    k = 12
    codes = np.ones((2, k), dtype=np.float32)
    lacking = {}
    for differing in (k // 2, k - 1, k):
        codes[1] = np.where(np.arange(k) < differing, -1, 1)
        apart = (o.squared_distances(codes)[0, 1], o.l1_distances(codes)[0, 1])
        lacking[differing] = [float(o.shortfall(distance, 2 * k)) for distance in apart]
    assert lacking == {k // 2: [0.0, 12.0], k - 1: [0.0, 2.0], k: [0.0, 0.0]}


def test_the_band_as_it_comes_out_of_the_type_would_hold_no_distance() -> None:
    """ "r1 = 6 and r2 = 3": max(6 - d, 0) + max(d - 3, 0) is never 0; k/6 and k/3 leave a band."""
    distances = np.linspace(0, 24, 97)
    assert (np.asarray(o.outside_band(distances, 6.0, 3.0)) >= 3).all()
    assert (np.asarray(o.outside_band(distances, 12 / 6, 12 / 3)) == 0).any()


def test_dsh_is_eq_16_over_the_pairs_of_a_batch() -> None:
    """Pairs 01 (one class), 02 and 12 (others), margin 12, alpha .1."""
    apart = {(0, 1): 4.0, (0, 2): 0.75**2 + 9 + 1, (1, 2): 1.25**2 + 9 + 1}
    binary = {(0, 1): 1.0, (0, 2): 2.75, (1, 2): 2.75}
    terms = [apart[0, 1] / 2 + 0.1 * binary[0, 1]]
    terms += [max(12 - apart[pair], 0) / 2 + 0.1 * binary[pair] for pair in ((0, 2), (1, 2))]
    assert float(o.dsh(CODES, CLASSES, "l2", 12.0, 0.1)) == pytest.approx(np.mean(terms), rel=1e-6)  # float32


def test_dsh_with_l1_distances_is_the_dispersed_objective_with_a_band_that_begins_and_ends_at_0() -> None:
    of_l1 = float(o.dsh(CODES, CLASSES, "l1", 12.0, 0.1))
    assert of_l1 == pytest.approx(float(o.dispersed(CODES, CLASSES, (0.0, 0.0), 12.0, 0.1)), rel=1e-6)
    assert of_l1 != float(o.dsh(CODES, CLASSES, "l2", 12.0, 0.1))


def test_dispersed_is_eq_20_over_the_pairs_of_a_batch() -> None:
    apart = {(0, 1): 2.0, (0, 2): 4.75, (1, 2): 5.25}
    binary = {(0, 1): 1.0, (0, 2): 2.75, (1, 2): 2.75}
    terms = [(2.5 - apart[0, 1]) / 2 + 0.1 * binary[0, 1]]
    terms += [(6 - apart[pair]) / 2 + 0.1 * binary[pair] for pair in ((0, 2), (1, 2))]
    assert float(o.dispersed(CODES, CLASSES, (2.5, 3.0), 6.0, 0.1)) == pytest.approx(np.mean(terms), rel=1e-6)


def test_dispersed_superclasses_is_eq_25_over_the_pairs_of_a_batch() -> None:
    """Pair 01 shares class and superclass, 02 and 12 share the superclass alone, 3 is alone."""
    codes = np.vstack([CODES, [[-1.0, -1.0, -1.0]]]).astype(np.float32)
    classes, superclasses = np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])
    bands, margin = ((2.5, 3.0), (3.0, 5.0)), 6.0
    total = 0.0
    for a in range(4):
        for b in range(a + 1, 4):
            d = np.abs(codes[a] - codes[b]).sum()
            if classes[a] == classes[b]:
                total += (max(2.5 - d, 0) + max(d - 3.0, 0)) / 2
            if superclasses[a] == superclasses[b]:
                total += (max(3.0 - d, 0) + max(d - 5.0, 0)) / 2
            else:
                total += max(margin - d, 0) / 2
            total += 0.1 * (np.abs(np.abs(codes[a]) - 1).sum() + np.abs(np.abs(codes[b]) - 1).sum())
    ours = o.dispersed_superclasses(codes, classes, superclasses, bands, margin, 0.1)
    assert float(ours) == pytest.approx(total / 6, rel=1e-6)


def test_eq_25_as_printed_holds_pairs_of_a_class_at_one_distance() -> None:
    """They share the superclass too, so A and B both pull; with r2 = r3 = k/6 only that distance costs nothing."""
    k = 12
    distances = np.linspace(0, 2 * k, 2 * k * 4 + 1)
    cost = np.asarray(o.outside_band(distances, k / 12, k / 6) + o.outside_band(distances, k / 6, k / 3))
    assert distances[cost == 0].tolist() == [k / 6]


@pytest.mark.parametrize("shift", [0.0, 4.0])
def test_m_dsh_averages_similar_and_other_pairs_apart(shift: float) -> None:
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (9, 16)).astype(np.float32)
    classes = np.array([0] * 6 + [1] * 3)
    similar, others = [], []
    for a in range(9):
        for b in range(a + 1, 9):
            d = (signs[a] != signs[b]).sum()
            (similar if classes[a] == classes[b] else others).append(
                (shift - d) ** 2 if classes[a] == classes[b] else (16 - d) ** 2
            )
    ours = float(o.shifted_squares(signs, classes, shift))
    assert ours == pytest.approx(np.mean(similar) + np.mean(others), rel=1e-6)
    # The first line of Eq. 4 weighs every pair by 1/L^2; its second line, which is taken, is another number.
    assert ours != pytest.approx(np.mean(similar + others), rel=0.1)


def test_a_batch_without_a_kind_of_pair_has_a_finite_loss() -> None:
    assert np.isfinite(float(o.shifted_squares(CODES, np.arange(3), 4.0)))
    assert np.isfinite(float(o.shifted_squares(CODES, np.zeros(3), 4.0)))


SUPERCLASSES = np.array([0, 0, 0, 1, 1, 1])
MORE = np.array([0, 0, 1, 2, 2, 3])
LOSSES: dict[str, Callable] = {
    "squared distances": lambda x: o.squared_distances(x).sum(),
    "L1 distances": lambda x: o.l1_distances(x).sum(),
    "Hamming distances": lambda x: o.hamming_distances(x).sum(),
    "shortfall": lambda x: o.shortfall(o.squared_distances(x), 8.0).sum(),
    "band": lambda x: o.outside_band(o.l1_distances(x), 1.5, 3.0).sum(),
    "binarity": lambda x: o.from_binary(x).sum(),
    "dsh": lambda x: o.dsh(x, MORE, "l2", 8.0, 0.3),
    "dispersed": lambda x: o.dispersed(x, MORE, (0.7, 1.4), 8.0, 0.3),
    "superclasses": lambda x: o.dispersed_superclasses(x, MORE, SUPERCLASSES, ((0.4, 0.7), (0.7, 1.4)), 8.0, 0.3),
    "m-DSH": lambda x: o.shifted_squares(jax.numpy.tanh(1.3 * x), MORE, 1.0),
}


@pytest.fixture
def double_precision() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.usefixtures("double_precision")
def test_the_gradient_is_the_finite_difference(name: str) -> None:
    loss, step = jax.jit(LOSSES[name]), 1e-6
    point = np.random.default_rng(3).standard_normal((6, 4))
    slope = np.asarray(jax.grad(loss)(point))
    differences = np.empty_like(point)
    for entry in np.ndindex(point.shape):
        move = np.zeros_like(point)
        move[entry] = step
        differences[entry] = (float(loss(point + move)) - float(loss(point - move))) / (2 * step)
    # Central differences at 1e-6 in double precision err by about 1e-9 of sums of a hundred terms.
    assert slope == pytest.approx(differences, abs=1e-6)
    assert np.abs(slope).max() > 1e-3
