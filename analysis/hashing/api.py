"""Hamming metrics in a notebook: `rs.hashing`. Arrays in, tables out; the figures are those of `relstudy hash`."""

from __future__ import annotations

import os
import types
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, Unpack

import numpy as np
import pandas as pd

from relstudy.analysis.hashing.codes.code_arrays import codes_of
from relstudy.analysis.hashing.codes.code_files import read_codes
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting import counts as counting
from relstudy.analysis.hashing.counting.counts import CountTable, without_self
from relstudy.analysis.hashing.datasets.dataset_arrays import unit_length
from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.encoders.cross_modal import CrossModal
from relstudy.analysis.hashing.lookup.sweep import Grid, sweep
from relstudy.analysis.hashing.metrics import class_distances as measured
from relstudy.analysis.hashing.metrics.conventions import PRESETS, ConventionChanges, Conventions
from relstudy.analysis.hashing.metrics.label_grades import graded_figures
from relstudy.analysis.hashing.notebook_results import Comparison, Evaluation
from relstudy.analysis.hashing.options import Empty, Engine, Format, Gain, Searcher
from relstudy.analysis.hashing.truth.labels import Labels, labels_of, read_labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth, Truth
from relstudy.analysis.hashing.truth.vector_truth import epsilon_ball, epsilon_radius, nearest_neighbours
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.option_wording import called_in_python
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import plain_array

__all__ = [
    "Codes",
    "Comparison",
    "Conventions",
    "CountTable",
    "Evaluation",
    "LabelTruth",
    "Labels",
    "class_distances",
    "compare",
    "count",
    "cross_modal",
    "encoder",
    "epsilon_ball",
    "epsilon_radius",
    "evaluate",
    "graded",
    "health",
    "load_encoder",
    "look_up",
    "nearest_neighbours",
    "presets",
    "rank",
    "read_codes",
    "read_labels",
    "save_encoder",
    "unit_length",
    "without_self",
]

CodesLike: TypeAlias = Codes | np.ndarray
LabelsLike: TypeAlias = Labels | np.ndarray | pd.Series | list[Any]


def count(
    queries: CodesLike,
    database: CodesLike,
    query_labels: LabelsLike | None = None,
    database_labels: LabelsLike | None = None,
    *,
    truth: Truth | None = None,
    form: Format = "auto",
    code_bits: int | None = None,
    engine: Engine = "auto",
) -> CountTable:
    """Count, for each query and Hamming radius, the codes and the relevant codes.

    Parameters
    ----------
    queries, database : codes of the same length: arrays of shape (codes, bits) of bool, 0/1 or -1/+1 numbers, or
        (codes, bytes) of uint8 as `numpy.packbits` packs them; or what `read_codes` gives
    query_labels, database_labels : classes of shape (items,), numbers or text, or 0/1 of shape (items, labels); or what
        `read_labels` gives. A code is relevant to a query when they share a label.
    truth : instead of labels: what `nearest_neighbours` or `epsilon_ball` gives
    form : what arrays of codes hold: `bits` or `packed`; `auto` takes uint8 as packed unless all its values are 0 or 1
    code_bits : code length, where the last byte of packed codes is not full
    engine : `numba`, `numpy`, or `auto`, which is numba where it can be imported

    Returns
    -------
    The count table, from which `evaluate` and `compare` compute every figure; `.total` and `.relevant` are int64 arrays
    of shape (queries, bits + 1), `.notes` say what was assumed of codes and labels, `.save(path)` writes it for
    `relstudy hash evaluate`.

    Raises
    ------
    RelstudyError
        one sentence: values that are no bits, lengths that differ, labels with nothing in common

    Examples
    --------
    >>> counts = count(np.array([[0, 0]]), np.array([[0, 0], [0, 1], [1, 1]]), ["cat"], ["cat", "dog", "cat"])
    >>> counts.total.tolist(), counts.relevant.tolist()
    ([[1, 1, 1]], [[1, 0, 1]])
    """
    check_arguments(count, locals())
    notes: list[str] = []
    query_codes, database_codes = _both_codes(queries, database, form, code_bits, notes)
    by = _truth(query_labels, database_labels, truth, notes)
    return counting.count(query_codes, database_codes, by, engine=engine, about={"notes": notes})


def _both_codes(
    queries: CodesLike, database: CodesLike, form: Format, bits: int | None, notes: list[str]
) -> tuple[Codes, Codes]:
    return _codes(queries, "queries", form, bits, notes), _codes(database, "database", form, bits, notes)


T = TypeVar("T", bound=Truth)


def _truth(
    queries: LabelsLike | None, database: LabelsLike | None, truth: T | None, notes: list[str]
) -> T | LabelTruth:
    if truth is None:
        if queries is None or database is None:
            raise RelstudyError("counting needs labels of queries and database, or a truth")
        return LabelTruth.by(*_labels(queries, database, notes))
    if queries is not None or database is not None:
        raise RelstudyError("counting needs labels or a truth, not both")
    return truth


def _codes(given: CodesLike, name: str, form: Format, bits: int | None, notes: list[str]) -> Codes:
    return given if isinstance(given, Codes) else codes_of(plain_array(given, name), name, form, bits, notes)


def _labels(queries: LabelsLike, database: LabelsLike, notes: list[str]) -> list[Labels]:
    if isinstance(queries, Labels) and isinstance(database, Labels):
        return [queries, database]
    if isinstance(queries, Labels) or isinstance(database, Labels):
        raise RelstudyError("labels of queries and database must both come from read_labels, or both be arrays")
    return labels_of(queries, database, names=("query_labels", "database_labels"), notes=notes)


def evaluate(
    counts: CountTable,
    k: int | Iterable[int] = (),
    radius: int | Iterable[int] = (),
    *,
    preset: str = "default",
    **conventions: Unpack[ConventionChanges],
) -> Evaluation:
    """Every figure that a count table holds.

    Parameters
    ----------
    counts : what `count` gives
    k : one cut-off or several, each at least 1
    radius : radii from 0 to the code length; none means all
    preset : conventions of a published evaluator; see `presets`
    conventions : single choices instead of the preset's, such as denominator="hits"; see `Conventions`

    Raises
    ------
    RelstudyError
        where a cut-off is below 1, a radius is above the code length, or a convention or preset is not known

    Examples
    --------
    >>> counts = CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]]))
    >>> round(evaluate(counts, k=3).table.loc["mAP", "expected"], 4)
    np.float64(0.8431)
    """
    check_arguments(evaluate, locals())
    from relstudy.analysis.hashing.metrics.evaluate import evaluate as evaluate_table

    rules = _rules(preset, conventions)
    return Evaluation(
        evaluate_table(counts, k=_several(k), radius=_several(radius), conventions=rules),
        rules.queries_counted(counts),
        rules,
    )


def compare(
    systems: Mapping[str, CountTable | tuple[CodesLike, CodesLike]],
    query_labels: LabelsLike | None = None,
    database_labels: LabelsLike | None = None,
    *,
    truth: Truth | None = None,
    k: int | Iterable[int] = (),
    radius: int = 2,
    preset: str = "default",
    seed: int = 0,
    **conventions: Unpack[ConventionChanges],
) -> Comparison:
    """Several systems' count tables side by side, with paired differences over the same queries.

    Parameters
    ----------
    systems : name -> counts, all of the same queries in the same order against the same truth; or name -> codes of
        queries and database, which are counted as by `count`
    query_labels, database_labels, truth : for codes, as in `count`
    k : cut-offs of mAP
    radius : of precision within the radius and RAMAP
    preset, conventions : as in `evaluate`
    seed : of the bootstrap over queries

    Raises
    ------
    RelstudyError
        if there is no system, a convention or a radius is not known, or tables were counted from different queries
        or ground truths

    Examples
    --------
    >>> near = CountTable(np.array([[2, 2], [1, 3]]), np.array([[2, 0], [1, 0]]))
    >>> far = CountTable(np.array([[2, 2], [3, 1]]), np.array([[0, 2], [1, 0]]))
    >>> compare({"near": near, "far": far}, radius=1).table["mAP"].round(2).tolist()
    [1.0, 0.51]
    """
    check_arguments(compare, locals())
    from relstudy.analysis.hashing.metrics.comparison import compare as compare_tables

    if not systems:
        raise RelstudyError("the systems: there is none; counts for each system's name are needed")
    rules, tables = _rules(preset, conventions), dict[str, CountTable]()
    for name, given in systems.items():
        if isinstance(given, CountTable):
            tables[name] = given
        elif isinstance(given, tuple) and len(given) == 2:
            tables[name] = count(*given, query_labels, database_labels, truth=truth)
        else:
            raise RelstudyError(f"system {name}: counts, or codes of queries and database, are needed")
    stated = any(each is not None for each in (query_labels, database_labels, truth))
    if stated and all(isinstance(given, CountTable) for given in systems.values()):
        raise RelstudyError("labels and a truth are for codes; counts have theirs")
    return Comparison(compare_tables(tables, radius=radius, conventions=rules, seed=seed, k=_several(k)))


def encoder(name: str, bits: int, *, seed: int = 0, **settings: Any) -> Encoder:
    """An encoder by name, to be fitted: `encoder("itq", bits=32).fit(vectors).encode(vectors)`.

    `.real_values(vectors)` gives the numbers whose signs are the bits; `save_encoder` keeps what was learned.

    Parameters
    ----------
    name : lsh, pcah, pca-rr, itq, sh, sklsh, spherical, density-sensitive; and ksh and grh, which learn from labels
        by `.fit(vectors, labels)`
    bits : code length
    seed : of everything random
    settings : the encoder's own, such as alpha=0.9 of grh

    Raises
    ------
    RelstudyError
        if there is no encoder of this name, it has no such setting, or a number is beyond its limits

    Examples
    --------
    >>> vectors = np.random.default_rng(0).standard_normal((50, 8))
    >>> encoder("pcah", bits=4).fit(vectors).encode(vectors)
    Codes(50 codes of 4 bits)
    """
    check_arguments(encoder, locals())
    from relstudy.analysis.hashing.encoders import ENCODERS
    from relstudy.analysis.hashing.metrics.validation import check_setting

    if name not in ENCODERS:
        raise RelstudyError(f"{name!r} is not an encoder; there are {', '.join(ENCODERS)}")
    if bits < 1:
        raise RelstudyError(f"bits: a code has at least one, not {bits}")
    kind = ENCODERS[name]
    for setting in settings:
        check_setting(kind, setting)
    return kind(bits, seed, **settings)


def save_encoder(encoder: Encoder, path: str | os.PathLike[str]) -> None:
    """Keep a fitted encoder in a .npz file, whole or not at all.

    Parameters
    ----------
    encoder : one that was fitted
    path : of the file

    Raises
    ------
    RelstudyError
        where the encoder was not fitted, or the file cannot be written

    Examples
    --------
    >>> import tempfile
    >>> fitted = encoder("lsh", bits=4).fit(np.eye(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_encoder(fitted, f"{folder}/lsh.npz")
    ...     load_encoder(f"{folder}/lsh.npz").encode(np.eye(3))
    Codes(3 codes of 4 bits)
    """
    check_arguments(save_encoder, locals())
    from relstudy.analysis.hashing.encoders.saved import save_encoder as save

    save(encoder, path)


def load_encoder(path: str | os.PathLike[str]) -> Encoder:
    """The encoder that `save_encoder` or `relstudy hash encode --save` kept; it encodes bit for bit as it did.

    Parameters
    ----------
    path : of the file

    Raises
    ------
    RelstudyError
        if there is no such file, or it holds no encoder

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_encoder(encoder("pcah", bits=2).fit(np.eye(3)), f"{folder}/pcah.npz")
    ...     load_encoder(f"{folder}/pcah.npz").encode(np.eye(3))
    Codes(3 codes of 2 bits)
    """
    check_arguments(load_encoder, locals())
    from relstudy.analysis.hashing.encoders.saved import load_encoder as load

    return load(path)


def cross_modal(first: np.ndarray, second: np.ndarray, bits: int) -> CrossModal:
    """Codes for two kinds of descriptors of the same items, learned together, as `relstudy hash cross-modal` does.

    Parameters
    ----------
    first, second : descriptors (n, D1) and (n, D2)
    bits : code length, at most the smaller of D1 and D2

    Returns
    -------
    CrossModal: `.first.encode(vectors)` and `.second.encode(vectors)` give codes that can be counted with one another

    Raises
    ------
    RelstudyError
        where items, bits or numbers do not fit: as many items of both kinds, bits from 1 to the shorter descriptor

    Examples
    --------
    >>> vectors = np.random.default_rng(0).standard_normal((50, 4))
    >>> encoder = cross_modal(vectors, vectors[:, ::-1], bits=2)
    >>> bool((encoder.first.encode(vectors).columns == encoder.second.encode(vectors[:, ::-1]).columns).all())
    True
    """
    check_arguments(cross_modal, locals())
    return CrossModal(bits).fit(first, second)


def health(codes: CodesLike) -> pd.Series:
    """Use of the codes by a database: distinct codes, utilisation, collisions, entropy (Ding, Li and Li 2018).

    Parameters
    ----------
    codes : as in `count`

    Returns
    -------
    The figures by name; `.attrs["notes"]`: what was assumed of the codes

    Raises
    ------
    RelstudyError
        for values that are no bits

    Examples
    --------
    >>> used = health(np.array([[0, 0], [0, 0], [1, 1]]))
    >>> used["distinct"], used["fullest"]
    (np.float64(2.0), np.float64(2.0))
    """
    check_arguments(health, locals())
    from relstudy.analysis.hashing.metrics.health import code_health
    from relstudy.analysis.hashing.metrics.lgap import UniqueCodes

    notes: list[str] = []
    used = code_health(UniqueCodes.of(_codes(codes, "codes", "auto", None, notes)))
    figures = pd.Series(used.as_json(), name="value", dtype=float)
    figures.attrs["notes"] = notes
    return figures


def class_distances(codes: Codes | np.ndarray, labels: Labels | np.ndarray | list[str]) -> pd.DataFrame:
    """Distances of codes within each class and to other classes (Ding, Li and Li 2018, Eq. 7 and 8).

    Parameters
    ----------
    codes : n of them, as `count` takes them
    labels : one class for each

    Returns
    -------
    One row a class, which is the index: points, codes, diameter (h_s), nearest (h_d), perfect (share of points with an
    average precision of 1), apart (whether h_s < h_d); `.attrs["notes"]`: what was assumed of codes and labels

    Raises
    ------
    RelstudyError
        if there are not as many labels as codes, or no labels

    Examples
    --------
    >>> class_distances(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]]), ["dog", "dog", "cat"]).diameter.to_dict()
    {'cat': 0, 'dog': 1}
    """
    check_arguments(class_distances, locals())
    notes: list[str] = []
    read = _codes(codes, "codes", "auto", None, notes)
    as_labels = labels if isinstance(labels, Labels) else labels_of(labels, names=("labels",), notes=notes)[0]
    rows = [each.as_json() for each in measured.class_distances(read, as_labels)]
    table = pd.DataFrame(rows).set_index("name")
    table.attrs["notes"] = notes
    return table


def look_up(
    queries: Codes,
    database: Codes,
    truth: Truth,
    *,
    bits: Iterable[int] = (),
    tables: Iterable[int] = (1,),
    flips: Iterable[int] = (0,),
    engine: Searcher = "numpy",
) -> pd.DataFrame:
    """Recall and time of hash tables; the first row is the scan of all codes.

    Parameters
    ----------
    queries, database : codes of the same length
    truth : which codes are relevant to which query
    bits, tables, flips : K, L and the bits flipped in each key; each is tried with each of the others. Without `bits`,
        one table of the whole code: then `flips` are Hamming radii.
    engine : `numpy`, or `faiss` (the extra `faiss`), which looks into the same buckets

    Returns
    -------
    One row per setting: bits, tables, flips, probes, candidates, empty, precision, recall, f1 (micro), milliseconds of
    the processor a query; `.attrs["notes"]`: which settings were left out, as they do not fit the codes

    Raises
    ------
    RelstudyError
        where no table fits the codes, a number is below 1 (of flips, 0), or the truth speaks of other numbers of
        queries and codes

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.relevance import ListedTruth
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 1], [1, 1]], dtype=bool))
    >>> truth = ListedTruth.from_lists([[0, 1]], 3)
    >>> look_up(codes.take(slice(0, 1)), codes, truth, flips=(0, 1)).recall.tolist()
    [1.0, 0.5, 1.0]
    """
    check_arguments(look_up, locals())
    grid = Grid(tuple(bits) or (database.bits,), tuple(tables), tuple(flips), None, engine)
    if not grid.settings(database.bits):
        raise RelstudyError(f"none of these tables fits codes of {database.bits} bits")
    table = pd.DataFrame([row.as_json() for row in sweep(queries, database, truth, grid)])
    table.attrs["notes"] = grid.left_out(database.bits)
    return table


def graded(
    queries: CodesLike,
    database: CodesLike,
    query_labels: LabelsLike | None = None,
    database_labels: LabelsLike | None = None,
    *,
    k: int | Iterable[int] = (),
    truth: LabelTruth | None = None,
    form: Format = "auto",
    code_bits: int | None = None,
    gain: Gain = "exponential",
    no_relevant: Empty = "skip",
) -> pd.DataFrame:
    """ACG, nDCG and WAP by the number of shared labels (Zhao et al. 2015).

    Parameters
    ----------
    queries, database, form, code_bits : codes, as `count` takes them
    query_labels, database_labels : 0/1 of shape (items, labels), or as `count` takes them
    k : one cut-off or several; the whole ranking is always there too
    truth : instead of labels: a `LabelTruth`
    gain : of nDCG: 2^labels - 1, or their number
    no_relevant : queries that share no label with any code: left out, 0, or 1 in nDCG

    Returns
    -------
    Pessimistic, expected and optimistic over the order of ties; one row a figure, such as "WAP@100" or "WAP";
    `.attrs["queries_without_relevant"]`: how many queries share no label with any code; `.attrs["notes"]`: what was
    assumed of codes and labels

    Raises
    ------
    RelstudyError
        where codes differ in length, there are not as many labels as codes, or a cut-off is below 1

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1]])
    >>> graded(codes[:1], codes, np.array([[1, 1]]), np.array([[1, 1], [1, 0]]), k=1).loc["ACG@1", "expected"]
    np.float64(2.0)
    """
    check_arguments(graded, locals())
    from relstudy.analysis.hashing.metrics.label_grades import shared_label_counts

    notes: list[str] = []
    query_codes, database_codes = _both_codes(queries, database, form, code_bits, notes)
    counts = shared_label_counts(query_codes, database_codes, _truth(query_labels, database_labels, truth, notes))
    rows: dict[str, dict[str, float | None]] = {}
    for cut in (*_several(k), None):
        rows |= graded_figures(counts, cut, gain, no_relevant).named(cut)
    table = pd.DataFrame(rows, dtype=float).T
    table.attrs["queries_without_relevant"] = int((counts[:, 1:].sum(axis=(1, 2)) == 0).sum())
    table.attrs["notes"] = notes
    return table


def rank(distances: Iterable[np.ndarray], truth: Truth, name: str) -> CountTable:
    """A count table of rankings by real-valued distances, for `evaluate` and `compare` beside hash codes.

    Parameters
    ----------
    distances : of each query in turn, float (N,), from every item of the database
    truth : which items are relevant to which query
    name : what ranks, in a word or two

    Raises
    ------
    RelstudyError
        where a query's distances are not numbers, one for each item of the database

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.relevance import ListedTruth
    >>> rank([np.array([0.3, 0.1, 0.2])], ListedTruth.from_lists([[1]], 3), "Euclidean")
    CountTable(1 queries x 3 items by Euclidean distance, 1 relevant pairs by listed)
    """
    check_arguments(rank, locals())
    from relstudy.analysis.hashing.ranking import rank_table

    return rank_table(distances, truth, name)


def presets() -> pd.DataFrame:
    """The conventions of published evaluators, one row each, by name.

    Examples
    --------
    >>> presets().loc["default", "empty_ball"]
    'zero'
    """
    return pd.DataFrame.from_dict({name: rules.choices() for name, rules in PRESETS.items()}, orient="index")


def _rules(preset: str, conventions: Mapping[str, Any]) -> Conventions:
    if preset not in PRESETS:
        raise RelstudyError(f"{preset!r} is not a preset; there are {', '.join(PRESETS)}")
    unknown = sorted(set(conventions) - set(PRESETS[preset].choices()))
    if unknown:
        raise RelstudyError(f"{unknown[0]!r} is not a convention; there are {', '.join(PRESETS[preset].choices())}")
    return replace(PRESETS[preset], **conventions)


def __dir__() -> list[str]:
    return __all__


def _several(values: int | Iterable[int]) -> list[int]:
    return [values] if isinstance(values, (int, np.integer)) else list(values)


for _name in __all__:
    if isinstance(globals()[_name], types.FunctionType):
        # A notebook calls it from here, so that its messages name arguments, and it is pickled by its name here.
        globals()[_name] = called_in_python(globals()[_name])
        globals()[_name].__module__ = __name__
