"""Gradient descent on an objective over the pairs of each batch, with early stop and a file to go on from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import numpy as np
import optax
from jax import Array

from relstudy.analysis.hashing.encoders.deep.network import Weights, outputs_of
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing

MOST_HELD_OUT = 2000
DECAY = 0.6
"""Of the learning rate after each fifth of the epochs: Ding, Li and Li's (2018) 40% every 150 of 750."""


@dataclass(frozen=True)
class Objective:
    """Loss of outputs (n, k), classes (n,), superclasses (n,) and the sharpness beta; equal ones are compiled once.

    Parameters
    ----------
    loss : called with these four and then the settings
    settings : what else the loss depends on
    """

    loss: Callable[..., Array]
    settings: tuple[Any, ...]

    def __call__(self, outputs: Array, classes: Array, superclasses: Array, beta: Array) -> Array:
        return self.loss(outputs, classes, superclasses, beta, *self.settings)


@dataclass(frozen=True)
class Schedule:
    """Length and pace of learning.

    Parameters
    ----------
    epochs : at most so many passes over the training items
    batch : items of a step; all their pairs count
    learning_rate : of AdamW at the start; it falls by 40% after each fifth of the epochs
    weight_decay : of AdamW
    patience : epochs without a better loss before it stops early
    sharpening : factor of beta after each epoch
    hold_out : keep a tenth aside that judges the epochs; without it the loss on the training items does
    seed : of what is held out and of the order of the items
    """

    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float
    patience: int
    sharpening: float
    hold_out: bool
    seed: int


@dataclass(frozen=True)
class Epoch:
    """Figures after an epoch; losses are means over batches, `held_out` is None where nothing is held out."""

    number: int
    of: int
    loss: float
    held_out: float | None

    @property
    def judged(self) -> float:
        """The loss that decides which epoch is kept."""
        return self.loss if self.held_out is None else self.held_out


@dataclass
class _State:
    weights: Weights
    moments: Any
    best: Weights
    best_loss: float
    best_epoch: int
    next_epoch: int


@dataclass(frozen=True, eq=False)
class TrainingItems:
    """Items that a network learns from.

    Parameters
    ----------
    at : standardised items at given rows, so that they may lie in a file
    classes : int (n, 2), class and superclass
    """

    at: Callable[[np.ndarray], np.ndarray]
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.classes)


def train(
    weights: Weights,
    objective: Objective,
    items: TrainingItems,
    schedule: Schedule,
    watch: Callable[[Epoch], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Weights:
    """The weights with the smallest loss on the held-out tenth, or on the training items where nothing is held out.

    Of fewer than 100 items nothing is.

    Parameters
    ----------
    watch : called after each epoch
    checkpoint : file that is written after each epoch, gone on from where it is there, and removed at the end
    """
    classes = items.classes
    held_out, training = _parts(len(items), schedule)
    size = min(schedule.batch, len(training))
    steps = len(training) // size
    optimiser, step, measure = _compiled(
        objective, schedule.learning_rate, max(1, schedule.epochs * steps // 5), schedule.weight_decay
    )
    state = _State(weights, optimiser.init(weights), weights, np.inf, -1, 0)
    mark = json.dumps([repr(schedule), len(items), sorted((name, list(w.shape)) for name, w in weights.items())])
    if checkpoint is not None and os.path.exists(checkpoint):
        state = _resumed(checkpoint, state, mark)
    for epoch in range(state.next_epoch, schedule.epochs):
        beta = np.float32(schedule.sharpening**epoch)
        order = np.random.default_rng((schedule.seed, epoch)).permutation(training)
        losses = []
        for rows in order[: steps * size].reshape(steps, size):
            state.weights, state.moments, loss = step(state.weights, state.moments, items.at(rows), classes[rows], beta)
            losses.append(loss)
        mean = float(np.mean(losses))
        checked = [float(measure(state.weights, items.at(rows), classes[rows], beta)) for rows in held_out]
        judged = float(np.mean(checked)) if checked else mean
        if not np.isfinite(mean) or not np.isfinite(judged):
            raise RelstudyError(
                f"the loss is no longer a number in epoch {epoch + 1}; a smaller learning rate may help"
            )
        if judged < state.best_loss:
            state.best, state.best_loss, state.best_epoch = state.weights, judged, epoch
        state.next_epoch = epoch + 1
        if checkpoint is not None:
            _keep(checkpoint, state, mark)
        if watch is not None:
            watch(Epoch(epoch + 1, schedule.epochs, mean, judged if checked else None))
        if epoch - state.best_epoch >= schedule.patience:
            break
    if checkpoint is not None and os.path.exists(checkpoint):
        os.remove(checkpoint)
    return state.best


@lru_cache(maxsize=32)
def _compiled(objective: Objective, learning_rate: float, fall: int, weight_decay: float) -> tuple[Any, Any, Any]:
    """The optimiser, a step of it, and the loss alone; the rate falls every so many steps.

    Each is compiled when it is first called, which takes as long as some hundred steps of a small network: an encoder
    that is fitted again, or one like it, does not wait for that again.
    """
    rate = optax.exponential_decay(learning_rate, fall, DECAY, staircase=True)
    optimiser = optax.adamw(rate, weight_decay=weight_decay)

    def loss_of(current: Weights, batch: Array, kinds: Array, beta: Array) -> Array:
        return objective(outputs_of(current, batch), kinds[:, 0], kinds[:, 1], beta)

    @jax.jit
    def step(current: Weights, moments: Any, batch: Array, kinds: Array, beta: Array) -> tuple[Weights, Any, Array]:
        loss, slope = jax.value_and_grad(loss_of)(current, batch, kinds, beta)
        change, moments = optimiser.update(slope, moments, current)
        return optax.apply_updates(current, change), moments, loss

    return optimiser, step, jax.jit(loss_of)


def _parts(number: int, schedule: Schedule) -> tuple[list[np.ndarray], np.ndarray]:
    """Batches of held-out rows, and the rows to train on."""
    order = np.random.default_rng(schedule.seed).permutation(number)
    aside = min(number // 10, MOST_HELD_OUT) if schedule.hold_out and number >= 100 else 0
    size = min(schedule.batch, aside) or 1
    aside -= aside % size
    return list(order[:aside].reshape(-1, size)), order[aside:]


def _keep(checkpoint: str | os.PathLike[str], state: _State, mark: str) -> None:
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves((state.weights, state.moments, state.best))]
    header = json.dumps([mark, state.best_loss, state.best_epoch, state.next_epoch])
    with replacing(checkpoint) as beside, open(beside, "wb") as handle:
        np.savez(
            handle, allow_pickle=False, header=np.array(header), **{f"leaf_{i}": leaf for i, leaf in enumerate(leaves)}
        )


def _resumed(checkpoint: str | os.PathLike[str], fresh: _State, mark: str) -> _State:
    with np.load(checkpoint, allow_pickle=False) as kept:
        kept_mark, best_loss, best_epoch, next_epoch = json.loads(str(kept["header"]))
        if kept_mark != mark:
            raise RelstudyError(
                f"{os.fspath(checkpoint)} was begun with other settings or data; remove it to start again"
            )
        leaves, shape = jax.tree.flatten((fresh.weights, fresh.moments, fresh.best))
        values = [jax.numpy.asarray(kept[f"leaf_{i}"]) for i in range(len(leaves))]
    weights, moments, best = jax.tree.unflatten(shape, values)
    return _State(weights, moments, best, best_loss, best_epoch, next_epoch)
