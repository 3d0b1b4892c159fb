"""Sources of rankings: built-in systems, and score tables or runs that someone else made."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed
from relstudy.common.tables.meaning.pairs_table import NO_SYSTEM, SOURCE_SEPARATOR
from relstudy.common.tables.meaning.study_folder import score_files
from relstudy.mapping.scores.score_table import ScoreTable
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.large_collection import LargeCollection
from relstudy.studyapp.sampling.population import ScoredItems
from relstudy.studyapp.sampling.saved_scores import is_computed
from relstudy.studyapp.systems import SYSTEMS, fit
from relstudy.studyapp.systems.base import Progress, System, silent

RESERVED = (*NO_SYSTEM, "all")


class Source(Protocol):
    """Something that scores items for one query, None where it cannot; `stamp` changes when its answers may have."""

    @property
    def name(self) -> str: ...

    @property
    def stamp(self) -> str: ...

    def scored(self, query: Item) -> ScoredItems | None: ...


@dataclass(frozen=True, eq=False)
class TableSource:
    """One system of a score table; items that the table leaves out are NaN, worse than any that it names.

    `direction` is what the table says of its scores: "higher" or "lower" is better, None where it says nothing and
    higher is taken to be. `notes` say how the table was read, one sentence each.
    """

    name: str
    stamp: str
    file: str
    queries: dict[str, ScoredItems]
    direction: str | None = None
    notes: tuple[str, ...] = ()

    def scored(self, query: Item) -> ScoredItems | None:
        """The results that the table names for the query; None where it names none."""
        return self.queries.get(query.id)


@dataclass(frozen=True, eq=False)
class BuiltInSource:
    """A built-in system, fitted to a collection."""

    name: str
    stamp: str
    system: System
    collection: Collection

    @property
    def notes(self) -> tuple[str, ...]:
        return getattr(self.system, "notes", ())

    def scored(self, query: Item) -> ScoredItems | None:
        """All items by the system; None where it cannot answer such a query."""
        scores = self.system.score(self.collection.asking(query))
        return None if scores is None else ScoredItems(scores)


def table_sources(path: Path, collection: Collection) -> list[TableSource]:
    """The systems of a score table or TREC run; pairs outside the collection are refused by name."""
    from relstudy.mapping.scores.score_files import read_scores

    stamp = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return sources_of(read_scores(path), collection, stamp, str(path))


def sources_of(scores: ScoreTable | pd.DataFrame, collection: Collection, stamp: str, file: str) -> list[TableSource]:
    """The systems of a score table that is in memory; `file` is what messages call it."""
    table = ScoreTable.of(scores)
    for column in ("query_id", "result_id"):
        names = table.frame[column].unique()
        unknown = np.asarray(names, dtype=object)[collection.positions(names) < 0]
        if len(unknown):
            more = len(unknown) - 1
            others = f", nor {'is' if more == 1 else 'are'} {count_of(more, 'other')}" if more else ""
            raise RelstudyError(f"{file}, column {column}: {unknown[0]!r} is not in the collection{others}")
    code, results = pd.factorize(table.frame["result_id"])
    placed = table.frame.assign(position=collection.positions(np.asarray(results, dtype=object))[code])
    systems = []
    for name, system in placed.groupby("system", sort=True):
        direction = table.directions.get(str(name))
        falls = direction == "lower"
        queries = {
            str(query): ScoredItems(group["score"].to_numpy(float), group["position"].to_numpy(np.int64), not falls)
            for query, group in system.sort_values("position").groupby("query_id", sort=False)
        }
        # ranks that were drawn from the other way round are not to be taken for these
        stamped = f"{stamp}-lower" if falls else stamp
        systems.append(TableSource(str(name), stamped, file, queries, direction, table.notes))
    return systems


def scores_of(query: Item, sources: Sequence[Source]) -> dict[str, ScoredItems]:
    """Scores of the items by each system that can answer the query, by the system's name."""
    return {source.name: said for source in sources if (said := source.scored(query)) is not None}


def directions_of(sources: Sequence[Source]) -> dict[str, str | None]:
    """Of each system of a table, which scores are better, as the table says; None where it says nothing."""
    return {source.name: source.direction for source in sources if isinstance(source, TableSource)}


def notes_of(sources: Sequence[Source]) -> tuple[str, ...]:
    """Sentences on how the systems' tables were read, and on what is kept of built-in ones, each once."""
    notes = (note for source in sources for note in getattr(source, "notes", ()))
    return tuple(dict.fromkeys(notes))


def tells_apart(said: ScoredItems, candidates: np.ndarray) -> bool:
    """True where a system says anything else of one candidate than of another, by which it would order them."""
    scores = said.at(candidates)
    scored = scores[~np.isnan(scores)]
    return 0 < len(scored) < len(scores) or (len(scored) > 1 and bool((scored != scored[0]).any()))


def silent_systems(sources: Sequence[Source], ordering: Container[str]) -> tuple[str, ...]:
    """A sentence on each system that orders the results of no query, and so draws at random."""
    return tuple(
        f"{source.name} gives all pairs the same score: what it proposes is drawn at random"
        for source in sources
        if source.name not in ordering
    )


def default_systems(collection: Collection) -> list[str]:
    """The built-in systems that work on this collection without the extra; none where it is read in a stream."""
    if isinstance(collection, LargeCollection):
        return []
    names = []
    if any(item.words for item in collection):
        names.append("keywords")
    if collection.has_images:
        names.append("colour")
    return names


def listed_systems(text: str | None) -> list[str] | None:
    """Names of systems from a text with commas between them; None, for all there are, of None.

    Examples
    --------
    >>> listed_systems("keywords, mine.run"), listed_systems(","), listed_systems(None)
    (['keywords', 'mine.run'], [], None)
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def open_sources(
    folder: Path, collection: Collection, names: Sequence[str] | None, progress: Progress = silent
) -> list[Source]:
    """Fit or read the systems asked for.

    Parameters
    ----------
    folder : the study
    names : built-in systems, or files (absolute, or seen from the study's folder or from its scores/, there without
        their ending, too); None takes the
        built-in systems that need no extra, and every table in scores/ that is not a built-in system's

    Raises
    ------
    RelstudyError
        for no name, a name that is neither, or two systems of one name
    """
    if names is None:
        names = [*default_systems(collection), *(str(path) for path in foreign_tables(folder))]
    elif not names:
        raise RelstudyError(
            f"{option('systems')}: no system is named; built-in systems, score tables and TREC runs are wanted"
        )
    sources: list[Source] = []
    for name in names:
        if name in SYSTEMS or name.startswith("vectors:"):
            system = fit(name, collection, folder, progress)
            sources.append(BuiltInSource(system.name, f"{name}:{collection.fingerprint}", system, collection))
            continue
        path = next((p for p in (folder / name, folder / "scores" / name, Path(name)) if p.is_file()), None)
        if path is None:
            tables = [each for each in foreign_tables(folder) if each.name.split(".")[0] == name]
            if len(tables) > 1:
                files = listed([each.name for each in tables])
                raise RelstudyError(f"system {name!r} may be {files} in {folder / 'scores'}; name the file whole")
            path = next(iter(tables), None)
        if path is None:
            raise RelstudyError(
                f"there is no system {name!r}: it is neither a file nor one of the built-in systems "
                f"{', '.join(SYSTEMS)} (or vectors:FILE.npy)"
            )
        sources.extend(table_sources(path, collection))
    _check_names(sources)
    if not sources:
        raise RelstudyError(
            f"{folder}: no system can rank this collection; give keywords or pictures in collection.csv, or a score "
            f"table in {folder / 'scores'}"
        )
    return sources


def _check_names(sources: Sequence[Source]) -> None:
    """Refuse systems of the same name."""
    files: dict[str, str] = {}
    for source in sources:
        file = source.file if isinstance(source, TableSource) else ""
        if source.name in RESERVED:
            raise RelstudyError(f"no system can be named {source.name!r}; {', '.join(RESERVED)} are taken")
        if SOURCE_SEPARATOR in source.name:
            raise RelstudyError(
                f"{file or source.name}: no system can be named {source.name!r}, since {SOURCE_SEPARATOR!r} separates "
                "names in pairs.csv"
            )
        if source.name in files:
            tables = [name for name in (files[source.name], file) if name]
            raise RelstudyError(
                f"two systems cannot both be named {source.name!r}"
                + (f"; one is in {tables[0]}" if tables else "")
                + f"; rename one of them, or say with {option('systems')} which to use"
            )
        files[source.name] = file


def foreign_tables(folder: Path) -> list[Path]:
    """Score tables in scores/ that relstudy did not compute itself."""
    return [path for path in score_files(folder) if not is_computed(path)]


def is_built_in(stamp: str) -> bool:
    """True if a source with this stamp is a built-in system; a table's stamp is the hash of its bytes alone."""
    return ":" in stamp
