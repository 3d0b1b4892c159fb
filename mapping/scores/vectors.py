"""Vectors as a system: the score of a pair is the similarity of its query's and its result's vector."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from relstudy.common.options.declaration import fields_given
from relstudy.common.options.option_wording import option as worded
from relstudy.common.runtime.compression import refuse_devices
from relstudy.common.runtime.damaged_files import DAMAGED_ARRAYS, TENSORS, refuse_tensors
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.mapping.scores.score_table import ScoreTable
from relstudy.mapping.vector_options import Measure, VectorOptions

Ids = str | os.PathLike[str] | Sequence[str] | pd.Index
"""Ids of vectors: a file with one a line, or the ids themselves."""


class VectorChanges(TypedDict, total=False):
    """The fields of `VectorOptions` as arguments of a function, for type checkers; None leaves one as it is."""

    ids: Ids | None
    query_vectors: str | os.PathLike[str] | pd.DataFrame | None
    similarity: Measure | None


def are_vectors(source: Any) -> bool:
    """True for an array of numbers, or the path of one (.npy, or a file of tensors, which is refused when read).

    Examples
    --------
    >>> are_vectors("mine.npy"), are_vectors(np.ones((2, 3))), are_vectors("mine=bm25.run")
    (True, True, False)
    """
    is_path = isinstance(source, str | os.PathLike)
    return isinstance(source, np.ndarray) or (is_path and os.fspath(source).lower().endswith((".npy", *TENSORS)))


@dataclass(frozen=True, eq=False)
class Similarity:
    """The way in which scores are made of vectors.

    Parameters
    ----------
    ids : of the vectors; None: the text beside their file
    queries : vectors of the queries, a path or a frame indexed by id; None: the results' own
    """

    ids: Ids | None = None
    queries: str | os.PathLike[str] | pd.DataFrame | None = None
    measure: Measure = "cosine"

    def scores(self, source: str | os.PathLike[str] | np.ndarray, pairs: pd.DataFrame, name: str = "") -> ScoreTable:
        """The pairs' scores by some vectors.

        Parameters
        ----------
        source : a path or an array, as `read_vectors` takes it
        pairs : query_id, result_id
        name : of the system; "": that of the file, or "vectors" for an array
        """
        if not name:
            name = "vectors" if isinstance(source, np.ndarray) else Path(source).stem
        if not isinstance(source, np.ndarray) and self.ids is None and (sides := _matrix_ids(Path(source))):
            return matrix_scores(Path(source), pairs, *sides, name)
        queries = self.queries
        asked = queries if queries is None or isinstance(queries, pd.DataFrame) else read_vectors(queries)
        return vector_scores(pairs, read_vectors(source, self.ids), asked, self.measure, name)

    def refuse_without_vectors(self, sources: Sequence[Any]) -> None:
        """Refuse what is said of vectors if there are none."""
        if (self.ids is not None or self.queries is not None) and not any(map(are_vectors, sources)):
            raise RelstudyError(
                f"{worded('ids')} and {worded('query_vectors')} go with vectors (.npy), and none are given"
            )


def similarity_of(choices: Mapping[str, Any], scores: Sequence[str]) -> Similarity:
    """The way in which vectors score pairs, from a command's options; refused where no score file holds vectors."""
    import click

    similarity = Similarity(**fields_given(VectorOptions, choices))
    try:
        similarity.refuse_without_vectors(scores)
    except RelstudyError as error:
        raise click.UsageError(str(error)) from None
    return similarity


def read_vectors(path: str | os.PathLike[str] | np.ndarray, ids: Ids | None = None) -> pd.DataFrame:
    """Read vectors with their ids.

    Parameters
    ----------
    path : .npy, numbers [items, dimensions], or the array itself
    ids : the ids, or text with one a line; None looks for NAME.ids.txt, NAME.txt and NAME.ids beside NAME.npy

    Returns
    -------
    DataFrame indexed by id (text), float columns

    Raises
    ------
    RelstudyError
        where a file is absent or no such array, ids and vectors differ in number, an id stands twice, a number is NaN
    """
    file = "the vectors" if isinstance(path, np.ndarray) else os.fspath(path)
    values = path if isinstance(path, np.ndarray) else _load(file)
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind not in "fiub":
        raise RelstudyError(f"{file}: an array of numbers [items, dimensions] is needed")
    if isinstance(path, np.ndarray) and ids is None:
        raise RelstudyError(f"{file}: an array needs ids, one a row; else a path or a pandas DataFrame is needed")
    names = _read_ids(Path(file), ids) if ids is None or isinstance(ids, str | os.PathLike) else list(map(str, ids))
    if len(names) != len(values):
        raise RelstudyError(f"{file}: {len(values)} vectors, but {len(names)} ids; one id a vector is needed")
    index = pd.Index(names)
    if index.has_duplicates:
        raise RelstudyError(f"{file}: the id {index[index.duplicated()][0]!r} appears more than once")
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
        raise RelstudyError(f"{file}: the vector of {names[row]!r} holds a value that is not a finite number")
    return pd.DataFrame(numbers, index=index)


def _load(file: str) -> Any:
    refuse_tensors(file)
    refuse_devices(file)
    try:
        return np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise RelstudyError(f"{file}: file not found") from None
    except (OSError, *DAMAGED_ARRAYS):
        raise RelstudyError(f"{file}: this is not an array of numbers saved by numpy.save") from None


def _read_ids(vectors: Path, ids: str | os.PathLike[str] | None) -> list[str]:
    if ids is None:
        beside = [vectors.with_suffix(ending) for ending in (".ids.txt", ".txt", ".ids")]
        file = next((path for path in beside if path.is_file()), None)
        if file is None:
            looked = ", ".join(path.name for path in beside)
            raise RelstudyError(
                f"{vectors}: vectors need ids, one a line, in a file beside them ({looked}); a matrix of scores, "
                f"queries by results, needs {vectors.stem}.queries.txt and {vectors.stem}.results.txt"
            )
        ids = file
    refuse_devices(ids)
    try:
        lines = Path(ids).read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise RelstudyError(f"{os.fspath(ids)}: file not found") from None
    except OSError as error:
        raise RelstudyError(f"{os.fspath(ids)}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise RelstudyError(f"{os.fspath(ids)}: the ids are not UTF-8 text") from None
    return [line.strip() for line in lines if line.strip()]


def _matrix_ids(file: Path) -> tuple[Path, Path] | None:
    """NAME.queries.txt and NAME.results.txt beside NAME.npy, which make it a matrix of scores; None where either is
    not there."""
    queries, results = (file.with_suffix(ending) for ending in (".queries.txt", ".results.txt"))
    return (queries, results) if queries.is_file() and results.is_file() else None


def matrix_scores(file: Path, pairs: pd.DataFrame, queries: Path, results: Path, system: str) -> ScoreTable:
    """Score pairs by a matrix of scores, queries by results; pairs that it does not hold are left out.

    Parameters
    ----------
    file : .npy, numbers [queries, results], NaN if there is no score
    pairs : query_id, result_id
    queries, results : text, an id a line, in the order of rows and of columns
    """
    values = _load(os.fspath(file))
    rows, columns = (pd.Index(_read_ids(file, ids)) for ids in (queries, results))
    if (
        not isinstance(values, np.ndarray)
        or values.dtype.kind not in "fiub"
        or values.shape != (len(rows), len(columns))
    ):
        raise RelstudyError(
            f"{file}: {len(rows)} queries in {queries.name} and {len(columns)} results in {results.name} need an array "
            f"of numbers of that shape, not {getattr(values, 'shape', 'something else')}"
        )
    for ids, where in ((rows, queries), (columns, results)):
        if ids.has_duplicates:
            raise RelstudyError(f"{where}: the id {ids[ids.duplicated()][0]!r} appears more than once")
    row = rows.get_indexer(pd.Index(pairs["query_id"].astype(object)))
    column = columns.get_indexer(pd.Index(pairs["result_id"].astype(object)))
    score = np.where((row >= 0) & (column >= 0), values[row, column].astype(np.float64), np.nan)
    if np.isinf(score).any():
        raise RelstudyError(f"{file}: every score must be finite, or NaN where missing")
    frame = pairs[PAIR].assign(system=system, score=score).dropna(subset="score").reset_index(drop=True)
    return ScoreTable(frame[["system", *PAIR, "score"]])


def vector_scores(
    pairs: pd.DataFrame,
    results: pd.DataFrame,
    queries: pd.DataFrame | None = None,
    similarity: Measure = "cosine",
    system: str = "vectors",
) -> ScoreTable:
    """Score pairs by the similarity of their vectors; pairs without both vectors are left out.

    Parameters
    ----------
    pairs : query_id, result_id
    results, queries : as `read_vectors` gives them; queries None takes the queries' vectors from `results` too
    similarity : "cosine", "dot", or "euclidean" (the negative distance, so that higher is better)

    Returns
    -------
    ScoreTable, of which it is known that higher is better

    Examples
    --------
    >>> vectors = pd.DataFrame([[1.0, 0.0], [1.0, 1.0]], index=["a", "b"])
    >>> pairs = pd.DataFrame({"query_id": ["a"], "result_id": ["b"]})
    >>> vector_scores(pairs, vectors).frame["score"].round(4).tolist()
    [0.7071]
    """
    asked = results if queries is None else queries
    if asked.shape[1] != results.shape[1]:
        raise RelstudyError(
            f"query vectors have {asked.shape[1]} dimensions and result vectors {results.shape[1]}; they must be equal"
        )
    left = asked.index.get_indexer(pd.Index(pairs["query_id"].astype(object)))
    right = results.index.get_indexer(pd.Index(pairs["result_id"].astype(object)))
    has_vectors = (left >= 0) & (right >= 0)
    a, b = asked.to_numpy()[left[has_vectors]], results.to_numpy()[right[has_vectors]]
    if similarity == "euclidean":
        score = -np.sqrt(np.einsum("ij,ij->i", a - b, a - b))
    else:
        score = np.einsum("ij,ij->i", a, b)
        if similarity == "cosine":
            lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
            score = np.divide(score, lengths, out=np.zeros_like(score), where=lengths > 0)
    kept = pairs.loc[has_vectors, PAIR]
    frame = pd.DataFrame(
        {
            "system": system,
            "query_id": kept["query_id"].to_numpy(),
            "result_id": kept["result_id"].to_numpy(),
            "score": score,
        }
    )
    return ScoreTable(frame, {system: "higher"})
