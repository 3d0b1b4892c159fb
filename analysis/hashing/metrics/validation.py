"""An encoder's settings taken on the validation part of each split (Moran 2016, section 3.5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.truth.labels import Labels, mask_words
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.analysis.hashing.truth.splits import Split
from relstudy.common.runtime.errors import RelstudyError

Setting = Mapping[str, float]
"""Values of an encoder's hyperparameters by name."""


@dataclass(frozen=True, eq=False)
class Searched:
    """The result of a search in one split.

    Parameters
    ----------
    taken : the setting of greatest mAP of the validation queries against the validation database
    validation : mAP of each setting there, in the order in which they were given
    table : counts of the test queries against the test database, by codes of the setting taken
    """

    taken: Setting
    validation: tuple[float, ...]
    table: CountTable


def grid_of(kind: type[Encoder], values: Mapping[str, Sequence[str]]) -> list[dict[str, float]]:
    """Every combination of an encoder's settings.

    Parameters
    ----------
    kind : the encoder's class
    values : setting -> the values to try, as text

    Raises
    ------
    RelstudyError
        where the encoder has no such setting, or a value is not a number

    Examples
    --------
    >>> from relstudy.analysis.hashing.encoders import ENCODERS
    >>> grid_of(ENCODERS["ksh"], {"anchors": ["50", "100"]})
    [{'anchors': 50}, {'anchors': 100}]
    """
    for name in values:
        check_setting(kind, name)
    read = [[_number(name, text) for text in texts] for name, texts in values.items()]
    return [dict(zip(values, each, strict=True)) for each in product(*read)]


def check_setting(kind: type[Encoder], name: str) -> None:
    """Refuse a setting that an encoder does not have."""
    names = {field.name for field in fields(kind) if field.init} - {"bits", "seed"}
    if name not in names:
        has = f"it has {', '.join(sorted(names))}" if names else "it has none"
        raise RelstudyError(f"{kind.__name__} has no setting {name!r}; {has}")


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise RelstudyError(f"{name}: {text!r} is not a number")
    return int(value) if value.is_integer() and "." not in text else value


def search(
    make: Callable[[Setting], Encoder],
    settings: Sequence[Setting],
    vectors: np.ndarray,
    labels: np.ndarray,
    splits: Iterable[Split],
) -> list[Searched]:
    """In each split, learn with every setting from its training part, and take the one that validates best.

    Parameters
    ----------
    make : an encoder with a setting, not yet fitted
    vectors : float [items, D]
    labels : classes [items], or 0/1 labels [items, L]; items that share one are relevant to each other

    Raises
    ------
    RelstudyError
        where a split has no validation part
    """
    found = []
    for split in splits:
        if not len(split.validation_queries) or not len(split.validation_database):
            raise RelstudyError("a search needs splits with validation queries and a validation database")
        learned = [make(setting).fit(vectors[split.training], labels[split.training]) for setting in settings]
        checked = (split.validation_queries, split.validation_database)
        values = [expected_map(counted(each, vectors, labels, checked)) for each in learned]
        best = int(np.argmax(values))
        tested = counted(learned[best], vectors, labels, (split.test_queries, split.test_database))
        found.append(Searched(settings[best], tuple(values), tested))
    return found


def counted(encoder: Encoder, vectors: np.ndarray, labels: np.ndarray, parts: Sequence[np.ndarray]) -> CountTable:
    """The table of queries against a database, each given by rows."""
    kinds = [
        Labels(classes=labels[rows]) if labels.ndim == 1 else Labels(masks=mask_words(labels[rows].astype(bool)))
        for rows in parts
    ]
    queries, database = (encoder.encode(vectors[rows]) for rows in parts)
    return count(queries, database, LabelTruth.by(*kinds))


def expected_map(table: CountTable) -> float:
    """mAP over all relevant codes, expected over the order of ties; 0 where no query has one."""
    return mean_average_precision(table, None, "relevant").expected or 0.0


def said(setting: Setting) -> str:
    """A setting as text.

    Examples
    --------
    >>> said({"anchors": 100, "alpha": 0.5}), said({})
    ('anchors 100, alpha 0.5', 'as by default')
    """
    return ", ".join(f"{name} {value:g}" for name, value in setting.items()) or "as by default"


def as_json(found: Sequence[Searched], settings: Sequence[Setting]) -> list[dict[str, Any]]:
    """The setting taken in each split, with the mAP of every setting on its validation part, as plain JSON."""
    return [
        {
            "taken": dict(each.taken),
            "validation_map": [
                {"setting": dict(setting), "map": value}
                for setting, value in zip(settings, each.validation, strict=True)
            ],
        }
        for each in found
    ]
