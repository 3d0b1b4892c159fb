"""DSH, its dispersed objective, and m-DSH: encoders like the others, learned by a small network."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from relstudy.analysis.hashing.encoders.base import BLOCK, Encoder
from relstudy.analysis.hashing.encoders.deep.items import Standard, check_items
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.common.runtime.errors import RelstudyError

if TYPE_CHECKING:
    from jax import Array

    from relstudy.analysis.hashing.encoders.deep.training import Epoch

APPLIED_AT_ONCE = 256
"""Items that go through the network at once; the last few are filled up, so that it is compiled for one shape."""


WHOLE = {"hold_out": False}
"""All items are learned from, for all epochs."""
DING_LI_AND_LI = {"epochs": 750, "batch": 200, "learning_rate": 0.01, "patience": 750, **WHOLE}
"""Section 5.3 of Ding, Li and Li 2018; the rate falls by 40 % every 150 epochs."""
JIANG_LI_AND_LI = {"epochs": 400, "batch": 128, "learning_rate": 0.05, "weight_decay": 5e-5, "patience": 400, **WHOLE}
"""Section 5.1 of Jiang, Li and Li 2019, which halves the rate after 200 epochs; here it falls by 40 % every 80."""


def deep_is_installed() -> bool:
    """True where JAX and optax can be imported."""
    return find_spec("jax") is not None and find_spec("optax") is not None


def need_extra() -> None:
    """Raise one sentence where the extra `deep` is not installed."""
    if not deep_is_installed():
        raise RelstudyError("deep encoders need JAX and optax: pip install 'relstudy[deep]'")


@dataclass
class DeepEncoder(Encoder):
    """A network of two full layers, after three convolutions where the items are pictures (Liu et al. 2016).

    Parameters
    ----------
    epochs, batch, learning_rate, weight_decay, patience, hold_out : see `training.Schedule`
    hidden : width of the first full layer; 0 leaves it out, so that on features of a trained network a hash layer alone
        is learned, as Jiang, Li and Li (2019) put one in place of a network's last layer
    watch : called after each epoch with its number and losses
    checkpoint : file to go on from after an interruption
    """

    epochs: int = 60
    batch: int = 200
    learning_rate: float = 1e-3
    weight_decay: float = 5e-5
    patience: int = 10
    hidden: int = 500
    hold_out: bool = True
    watch: Callable[[Epoch], None] | None = field(default=None, repr=False, compare=False)
    checkpoint: str | os.PathLike[str] | None = field(default=None, repr=False, compare=False)
    supervised: ClassVar[bool] = True
    takes_columns: ClassVar[bool] = False
    sharpening: ClassVar[float] = 1.0
    paper: ClassVar[dict[str, Any]] = {}
    """The settings of learning that the encoder's paper prints."""
    shape_: tuple[int, ...] = field(default=(), init=False)

    def fit(self, vectors: np.ndarray, labels: np.ndarray | Labels | None = None) -> Self:
        """Learn from vectors (n, D) or pictures (n, height, width, 3), which may lie in a file, and classes (n,).

        Raises
        ------
        RelstudyError
            for items that are neither, labels that do not fit, or where the extra `deep` is not installed
        """
        check_items(vectors)
        if len(vectors) < 2:
            raise RelstudyError(f"training needs at least two items; this array has {vectors.shape}")
        given = self._label_array(labels, len(vectors))
        need_extra()
        self.shape_, self.width_ = vectors.shape[1:], vectors.shape[1]
        self.learn(vectors, given)
        return self

    def learn(self, vectors: np.ndarray, labels: np.ndarray | None) -> None:
        assert labels is not None
        from relstudy.analysis.hashing.encoders.deep.network import new_weights
        from relstudy.analysis.hashing.encoders.deep.training import Objective, Schedule, TrainingItems, train

        self.standard_ = standard = Standard.of(vectors)
        kinds = self._kinds(labels)  # and whether there are superclasses, which the loss depends on
        pace = (self.epochs, self.batch, self.learning_rate, self.weight_decay, self.patience, self.sharpening)
        weights = train(
            new_weights(self.shape_, self.hidden, self.bits, self.seed),
            Objective(type(self).loss, self.settings()),
            TrainingItems(lambda rows: standard(vectors[rows]), kinds),
            Schedule(*pace, hold_out=self.hold_out, seed=self.seed),
            self.watch,
            self.checkpoint,
        )
        self.weights_ = {name: np.asarray(values) for name, values in weights.items()}

    def _kinds(self, labels: np.ndarray) -> np.ndarray:
        """Class and superclass as whole numbers, int32 (n, 2); if there is one label, both are it."""
        if labels.ndim != 1:
            raise RelstudyError(f"{type(self).__name__} learns from one class for each item, not from {labels.shape}")
        numbered = np.unique(labels, return_inverse=True)[1]
        return np.stack([numbered, numbered], axis=1).astype(np.int32)

    @staticmethod
    @abstractmethod
    def loss(outputs: Array, classes: Array, superclasses: Array, beta: Array, *settings: Any) -> Array:
        """The loss of a batch, from the network's outputs (n, Q)."""

    @abstractmethod
    def settings(self) -> tuple[Any, ...]:
        """Further arguments of the loss."""

    def project(self, vectors: np.ndarray) -> np.ndarray:
        import jax

        from relstudy.analysis.hashing.encoders.deep.network import outputs_of

        apply = jax.jit(outputs_of)
        rows = []
        for start in range(0, len(vectors), APPLIED_AT_ONCE):
            part = self.standard_(vectors[start : start + APPLIED_AT_ONCE])
            filled = np.zeros((APPLIED_AT_ONCE, *self.shape_), dtype=np.float32)
            filled[: len(part)] = part
            rows.append(np.asarray(apply(self.weights_, filled))[: len(part)])
        return np.concatenate(rows) if rows else np.empty((0, self.bits))

    def learned(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        arrays = {"mean": self.standard_.mean, "scale": self.standard_.scale}
        return {"shape": self.shape_}, arrays | {f"weights_{part}": values for part, values in self.weights_.items()}

    def restore(self, shape: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        from relstudy.analysis.hashing.encoders.deep.network import new_weights

        self.shape_ = tuple(shape["shape"])
        self.width_ = self.shape_[0]
        self.standard_ = Standard(arrays.pop("mean"), arrays.pop("scale"))
        self.weights_ = {name.removeprefix("weights_"): values for name, values in arrays.items()}
        expected = new_weights(self.shape_, self.hidden, self.bits, 0)
        if {name: part.shape for name, part in self.weights_.items()} != {n: w.shape for n, w in expected.items()}:
            raise TypeError("the layers do not have the widths of its settings")

    def _projected(self, vectors: np.ndarray) -> Iterator[np.ndarray]:
        if vectors.shape[1:] != self.shape_:
            needed = ", ".join(map(str, self.shape_))
            raise RelstudyError(f"items of the shape (n, {needed}) are needed, this array has {vectors.shape}")
        need_extra()
        for start in range(0, max(1, len(vectors)), BLOCK):
            yield self.project(vectors[start : start + BLOCK])


@dataclass
class DSH(DeepEncoder):
    """Deep supervised hashing (Liu et al. 2016, as Ding, Li and Li 2018 have it in Eq. 16 to 19).

    Parameters
    ----------
    margin : m, the distance that items of other classes must have; 2 Q by default
    alpha : weight of the distance of codes from -1 and +1
    norm : "l2" for squared distances, "l1" for the sum of absolute differences (section 5.2)
    """

    margin: float | None = None
    alpha: float = 0.01
    norm: Literal["l1", "l2"] = "l2"
    paper: ClassVar[dict[str, Any]] = DING_LI_AND_LI

    @staticmethod
    def loss(outputs: Array, classes: Array, superclasses: Array, beta: Array, *settings: Any) -> Array:
        from relstudy.analysis.hashing.encoders.deep.objectives import dsh

        return dsh(outputs, classes, *settings)

    def settings(self) -> tuple[Any, ...]:
        return self.norm, _or(self.margin, 2 * self.bits), self.alpha


@dataclass
class DispersedDSH(DeepEncoder):
    """The dispersed objective (Ding, Li and Li 2018): items of a class into a band of L1 distances and not to 0.

    With labels (n,) it is Eq. 20 to 24; with labels (n, 2), class and superclass, Eq. 25 to 31. Each differing bit adds
    2 to a distance.

    Parameters
    ----------
    margin : m, the distance that items of other classes must have; 2 Q by default, as printed
    alpha : weight of the distance of codes from -1 and +1
    band : r1 and r2, between which the distances of a class are to be; by default Q/6 and Q/3, with superclasses Q/12
        and Q/6
    superclass_band : r3 and r4, those of a superclass; Q/6 and Q/3 by default

    Raises
    ------
    RelstudyError
        unless 0 < r1 < r2 <= r3 < r4
    """

    margin: float | None = None
    alpha: float = 0.01
    band: tuple[float, float] | None = None
    superclass_band: tuple[float, float] | None = None
    paper: ClassVar[dict[str, Any]] = DING_LI_AND_LI
    nested_: bool = field(default=False, init=False)

    def _kinds(self, labels: np.ndarray) -> np.ndarray:
        self.nested_ = labels.ndim == 2
        if not self.nested_:
            return super()._kinds(labels)
        if labels.shape[1] != 2:
            raise RelstudyError(f"labels hold a class, or a class and a superclass, for each item, not {labels.shape}")
        return np.stack([np.unique(column, return_inverse=True)[1] for column in labels.T], axis=1).astype(np.int32)

    @staticmethod
    def loss(outputs: Array, classes: Array, superclasses: Array, beta: Array, *settings: Any) -> Array:
        from relstudy.analysis.hashing.encoders.deep.objectives import dispersed, dispersed_superclasses

        nested, *bands_margin_alpha = settings
        if nested:
            return dispersed_superclasses(outputs, classes, superclasses, *bands_margin_alpha)
        return dispersed(outputs, classes, *bands_margin_alpha)

    def settings(self) -> tuple[Any, ...]:
        k, nested = self.bits, self.nested_
        own = tuple(self.band or ((k / 12, k / 6) if nested else (k / 6, k / 3)))
        above = tuple(self.superclass_band or (k / 6, k / 3)) if nested else ()
        if self.superclass_band and not nested:
            raise RelstudyError("a band for superclasses needs superclasses beside the classes")
        ends = (0, *own, *above)
        if list(ends) != sorted(ends) or ends[0] == own[0] or own[0] == own[1] or (nested and above[0] == above[1]):
            raise RelstudyError(f"bands need 0 < r1 < r2 <= r3 < r4, not {', '.join(f'{end:g}' for end in ends[1:])}")
        return nested, (own, above) if nested else own, _or(self.margin, 2 * k), self.alpha


@dataclass
class MDSH(DeepEncoder):
    """m-DSH (Jiang, Li and Li 2019, Eq. 4 and section 4.2): items of a class to the Hamming distance m, others to Q.

    m = 0 is that paper's deep squared hashing. Codes are tanh(beta x) while learning; beta grows by 1.005 an epoch.

    Parameters
    ----------
    shift : m, a number of bits
    """

    shift: float = 4.0
    batch: int = 128
    sharpening: ClassVar[float] = 1.005
    paper: ClassVar[dict[str, Any]] = JIANG_LI_AND_LI

    @staticmethod
    def loss(outputs: Array, classes: Array, superclasses: Array, beta: Array, *settings: Any) -> Array:
        import jax.numpy as jnp

        from relstudy.analysis.hashing.encoders.deep.objectives import shifted_squares

        return shifted_squares(jnp.tanh(beta * outputs), classes, *settings)

    def settings(self) -> tuple[Any, ...]:
        return (self.shift,)


def _or(given: float | None, default: float) -> float:
    return default if given is None else given


DEEP_ENCODERS: dict[str, type[DeepEncoder]] = {"dsh": DSH, "dsh-dispersed": DispersedDSH, "m-dsh": MDSH}
