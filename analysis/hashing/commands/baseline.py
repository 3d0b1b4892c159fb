"""What `relstudy hash encode` does for the baselines: vectors of files, saving, loading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.hashing.commands.inputs import label_array_in, vectors_in
from relstudy.common.console import say
from relstudy.common.errors import RelstudyError

if TYPE_CHECKING:
    import numpy as np

    from relstudy.analysis.hashing.commands.deep import EncodeJob
    from relstudy.analysis.hashing.encoders.base import Encoder


def baseline_encoder(job: EncodeJob, files: Sequence[str]) -> tuple[Encoder, list[np.ndarray], dict[str, Any]]:
    """An encoder, learned or read from a file; what it is to encode; and what happened, for the summary."""
    from relstudy.analysis.hashing.encoders import ENCODERS, GRH
    from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS
    from relstudy.analysis.hashing.encoders.saved import load_encoder, save_encoder

    if unused := job.given(*job.DEEP_ALONE):
        raise click.UsageError(f"{', '.join(unused)}: for {', '.join(DEEP_ENCODERS)} alone.")
    if job.alpha is not None and job.encoder != "grh":
        raise click.UsageError("--alpha is of grh.")
    if job.load is not None:
        if unused := job.given("bits", "train", "train_labels", "alpha", "save"):
            raise click.UsageError(f"--load brings everything; leave out {', '.join(unused)}.")
        loaded = load_encoder(job.load)
        if type(loaded) is not ENCODERS[job.encoder]:
            raise RelstudyError(f"{job.load} holds {type(loaded).__name__}, not {job.encoder}")
        return loaded, _sources(files, loaded.width_, job.load), {"trained_on": None}
    assert job.bits is not None and job.train is not None
    labels = None if job.train_labels is None else label_array_in(job.train_labels)
    training = vectors_in(job.train)
    sources = _sources(files, training.shape[1], job.train)
    settings = {} if job.alpha is None else {"alpha": job.alpha}
    encoder = ENCODERS[job.encoder](job.bits, job.seed, **settings).fit(training, labels)
    summary: dict[str, Any] = {"trained_on": len(training)}
    if isinstance(encoder, GRH):
        summary |= {"alpha": encoder.alpha_, "notes": [encoder.choice()]}
    if job.save is not None:
        save_encoder(encoder, job.save)
        say(f"wrote {job.save}")
    return encoder, sources, summary


def _sources(files: Sequence[str], width: int, learned_from: str) -> list[np.ndarray]:
    sources = [vectors_in(file) for file in files]
    for file, vectors in zip(files, sources, strict=True):
        if vectors.shape[1] != width:
            raise RelstudyError(
                f"{file} has vectors of {vectors.shape[1]} numbers and {learned_from} of {width}; they must be equal"
            )
    return sources
