"""Parts of codes that lie in files.

Counts add, so the parts may be counted anywhere, in any order, and more than once: the table is the same to the bit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from relstudy.analysis.hashing.codes.code_files import CodeFile
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.options import Engine, Format, Separator
from relstudy.analysis.hashing.truth.labels import Labels, read_labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth, ListedTruth, Truth, fingerprint, load_truth
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.array_files import file_stamp
from relstudy.common.tables.formats.file_kind import file_part

MOST_FILES = 256
"""Files of which it is remembered what they hold."""
T = TypeVar("T")
Watch = Callable[[Iterable[T], int], Iterator[T]]


@dataclass(frozen=True)
class Job:
    """The files to count, and the labels or lists that make codes relevant.

    Parameters
    ----------
    queries : file of query codes
    database : files of database codes, in order
    query_labels, database_labels : label files (one a database file), or None and ()
    truth_file : relevance lists over the whole database, or None
    form : what the code files hold
    bits : their code length, where the last byte is not full
    separator : of labels in text
    """

    queries: str
    database: tuple[str, ...]
    query_labels: str | None
    database_labels: tuple[str, ...]
    truth_file: str | None
    form: Format = "auto"
    bits: int | None = None
    separator: Separator = "auto"

    def absolute(self) -> Job:
        """The same files by names that hold in every process that sees them."""
        return replace(
            self,
            queries=os.path.abspath(self.queries),
            database=tuple(map(os.path.abspath, self.database)),
            query_labels=None if self.query_labels is None else os.path.abspath(self.query_labels),
            database_labels=tuple(map(os.path.abspath, self.database_labels)),
            truth_file=None if self.truth_file is None else os.path.abspath(self.truth_file),
        )


@dataclass(frozen=True)
class Part:
    """Rows `start` to `stop` of database file `number`, which begins at row `offset` of the whole database."""

    file: CodeFile
    number: int
    start: int
    stop: int
    offset: int


def parts_of(job: Job, size: int) -> list[Part]:
    """Cut the database files into parts of at most `size` codes, and refuse files that do not belong together."""
    queries, *files = _code_files(job)
    for file in files:
        if file.bits != queries.bits:
            raise RelstudyError(
                f"{queries.path} has codes of {queries.bits} bits and {file.path} of {file.bits}; they must be equal"
            )
    _check_truth(job, queries, files)
    parts, offset = [], 0
    for number, file in enumerate(files):
        for start in range(0, file.codes, size):
            parts.append(Part(file, number, start, min(start + size, file.codes), offset))
        offset += file.codes
    return parts


def _check_truth(job: Job, queries: CodeFile, files: list[CodeFile]) -> None:
    if job.truth_file is not None:
        truth = _lists(job.truth_file)
        codes = sum(file.codes for file in files)
        if truth.sizes != (queries.codes, codes):
            raise RelstudyError(
                f"{job.truth_file} speaks of {len(truth)} queries and {truth.codes} codes; "
                f"there are {queries.codes} and {codes}"
            )
        return
    for file, labels, path in zip([queries, *files], _labels(job)[0], _label_files(job), strict=True):
        if len(labels) != file.codes:
            raise RelstudyError(
                f"{path} has {len(labels)} labels for the {file.codes} codes of {file.path}; one each is needed"
            )


def notes_of(job: Job) -> list[str]:
    """Notes on what was assumed of the job's files, each with the option that says otherwise."""
    labels = [] if job.truth_file is not None else _labels(job)[1]
    return list(dict.fromkeys([*(note for file in _code_files(job) for note in file.notes), *labels]))


def _code_files(job: Job) -> list[CodeFile]:
    return [_code_file(path, job.form, job.bits, file_stamp(path)) for path in (job.queries, *job.database)]


# Whole files are looked through to settle what they hold.
@lru_cache(maxsize=MOST_FILES)
def _code_file(path: str, form: Format, bits: int | None, stamp: tuple[int, int]) -> CodeFile:
    return CodeFile.of(path, form, bits)


def count_part(job: Job, part: Part, engine: Engine = "auto") -> CountTable:
    """Count one part. Reads only the rows it needs of a .npy file."""
    queries = _code_file(job.queries, job.form, job.bits, file_stamp(job.queries)).read()
    codes = part.file.read(slice(part.start, part.stop))
    return count(queries, codes, _truth(job, part), engine=engine, about=_about(job, part))


def _truth(job: Job, part: Part) -> Truth:
    if job.truth_file is not None:
        return _lists(job.truth_file).shard(slice(part.offset + part.start, part.offset + part.stop))
    queries, *database = _labels(job)[0]
    return LabelTruth.by(queries, database[part.number]).shard(slice(part.start, part.stop))


def _label_files(job: Job) -> tuple[str, ...]:
    assert job.query_labels is not None
    return job.query_labels, *job.database_labels


def _labels(job: Job) -> tuple[list[Labels], list[str]]:
    paths = _label_files(job)
    return _read_labels(paths, job.separator, tuple(map(file_stamp, paths)))


# Parts follow one another, so the truth is read once; a file that has changed since is read again. Classes in a .npy
# file stay on disk until a part is cut out.
@lru_cache(maxsize=1)
def _read_labels(
    paths: tuple[str, ...], separator: Separator, stamps: tuple[tuple[int, int], ...]
) -> tuple[list[Labels], list[str]]:
    notes: list[str] = []
    return read_labels(*paths, separator=separator, notes=notes), notes


def _lists(path: str) -> ListedTruth:
    return _load_truth(path, file_stamp(path))


@lru_cache(maxsize=1)
def _load_truth(path: str, stamp: tuple[int, int]) -> ListedTruth:
    return load_truth(path)


def _fingerprint(job: Job) -> str:
    if job.truth_file is not None:
        return fingerprint(_lists(job.truth_file))
    queries = _labels(job)[0][0]
    return fingerprint(LabelTruth.by(queries, queries))


@lru_cache(maxsize=1)
def _digest(path: str, stamp: tuple[int, int]) -> str:
    return hashlib.sha256(file_part(path).read_bytes()).hexdigest()


def _about(job: Job, part: Part) -> dict[str, Any]:
    return {
        "queries": Path(job.queries).name,
        "queries_sha256": _digest(job.queries, file_stamp(job.queries)),
        "truth_sha256": _fingerprint(job),
        "database": [Path(part.file.path).name] if part.start == 0 else [],
        "notes": notes_of(job),
    }
