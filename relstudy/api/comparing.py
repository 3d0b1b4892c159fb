"""Comparisons of two: `couples` to ask people about, and `preferences` from their answers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from relstudy.api.inputs import table_of
from relstudy.calibration.plots import preferences_picture
from relstudy.calibration.preferences import PreferenceStudy, read_preferences
from relstudy.common.charts.figures import SERIES, drawing, figure_of, svg
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import FolderResult
from relstudy.common.results.serialization import NOT_KEPT
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, quoted
from relstudy.common.tables.formats.dataframe_libraries import Source, path_or_frame
from relstudy.common.tables.meaning.reading import Columns, Reading
from relstudy.common.tables.meaning.study_folder import table_in
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.large_collection import open_collection
from relstudy.studyapp.collection.lists import RankedList
from relstudy.studyapp.sampling.couples import add_couples, draw
from relstudy.studyapp.sampling.options import CouplesChanges, CouplesOptions
from relstudy.studyapp.sampling.sources import open_sources

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Preferences(FolderResult):
    """Judgments from answers to which of two results, or of two lists, is better.

    Parameters
    ----------
    result : judgments, raters and systems as the command holds them
    """

    saved_as = "preferences"
    result: PreferenceStudy

    @property
    def judgments(self) -> pd.DataFrame:
        """One row per result, or list: `judgment` (0 to 1, the chance of being preferred to an average one of the
        query), `standard_error`, `n_ratings`, `log_odds`; what the command writes to judgments.csv."""
        return self.result.judgments.frame

    @property
    def raters(self) -> pd.DataFrame:
        """One row per rater: answers, the share called equal, lean to the left and readiness for ties, in log odds."""
        return self.result.raters

    @property
    def systems(self) -> pd.DataFrame:
        """Of whole lists, one row per couple of systems: how often the one's are preferred, with its interval."""
        return self.result.systems

    @property
    def table(self) -> pd.DataFrame:
        """Of lists how often systems are preferred, by "ONE over OTHER"; of results the raters."""
        if not len(self.systems):
            return self.raters
        return self.systems.set_index(self.systems["system"] + " over " + self.systems["other"])

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy calibrate preferences --json` prints."""
        return self.result.as_json()

    def plot(self) -> Figure:
        """How often each system's lists are preferred; of results the chance of the best to be, with their intervals.

        Examples
        --------
        >>> rows = [("a", "q", "x", "y", "x", -1), ("b", "q", "x", "y", "y", 1), ("a", "q", "y", "z", "y", 0)]
        >>> names = ["rater_id", "query_id", "result_id", "other_id", "left", "rating"]
        >>> axes = preferences(pd.DataFrame(rows, columns=names)).plot().axes[0]
        >>> [each.get_text() for each in axes.get_yticklabels()]
        ['x (q)', 'z (q)', 'y (q)']
        """
        return figure_of(lambda: preferences_picture(self.result))

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        return {"": self.overview(), "Raters:": self.raters}

    def _write_tables(self, folder: Path) -> None:
        self.result.write(folder)

    def heading(self) -> str:
        """Numbers of answers, raters and results."""
        what = "list" if len(self.systems) else "result"
        answers = count_of(int(self.raters["n_ratings"].sum()), "answer")
        return f"{answers} by {count_of(len(self.raters), 'rater')} on {count_of(len(self.judgments), what)}"

    def overview(self) -> pd.DataFrame:
        """The table, of judgments the columns that are read most."""
        if len(self.systems):
            return self.systems
        return self.judgments[["query_id", "result_id", "judgment", "standard_error", "n_ratings"]]

    def remarks(self) -> Sequence[str]:
        """Notes, one sentence each."""
        return self.result.notes


def preferences(
    ratings: Source,
    *,
    lists: bool = False,
    columns: Columns | None = None,
    values: Mapping[str, float] | None = None,
    missing: str | float | Sequence[str | float] | None = None,
    where: str | None = None,
) -> Preferences:
    """Turn answers to which of two is better into judgments, as `relstudy calibrate preferences` does.

    Parameters
    ----------
    ratings : a table (path or DataFrame) with rater_id, query_id, result_id, other_id, left (what stood on the left;
        without this column result_id did) and rating (-1 the left one is better, 0 neither, 1 the right one, empty
        undecided), or a study's folder
    lists : read the answers on whole lists (scale "which-list"), and compare their systems
    columns, values, missing, where : how the table is read, as `ReadingOptions` says: `{"a": -1, "same": 0, "b": 1}`

    Raises
    ------
    RelstudyError
        where the table has faults, or holds no such answers

    Examples
    --------
    >>> rows = [("a", "q", "x", "y", "x", -1), ("b", "q", "x", "y", "y", 1), ("a", "q", "y", "z", "y", 0)]
    >>> names = ["rater_id", "query_id", "result_id", "other_id", "left", "rating"]
    >>> found = preferences(pd.DataFrame(rows, columns=names))
    >>> bool(found.judgments["judgment"].iloc[0] > 0.5)
    True
    """
    check_arguments(preferences, locals())
    source = path_or_frame(ratings, "the ratings")
    if isinstance(source, str | os.PathLike) and Path(source).is_dir():
        source = table_in(Path(source), "ratings.csv", f"relstudy export {quoted(source)}")
    reading = Reading.stated({"columns": columns, "values": values, "missing": missing, "where": where})
    return Preferences(read_preferences(table_of(source, "the ratings"), lists, reading))


@dataclass(frozen=True, eq=False, repr=False)
class Couples(FolderResult):
    """Couples drawn for a study; `save(folder)` of the study's folder adds them to its pairs.csv, as the command does.

    Parameters
    ----------
    drawn : one row per couple, as pairs.csv has them
    lists : the lists that are compared; none where results are
    collection : that they were drawn from
    """

    saved_as = "couples"
    drawn: pd.DataFrame
    lists: tuple[RankedList, ...] = ()
    collection: Collection | None = field(default=None, kw_only=True, metadata=NOT_KEPT)

    @property
    def table(self) -> pd.DataFrame:
        """One row per couple: pair_id, query_id, result_id, other_id, source, inclusion_probability, ..."""
        return self.drawn

    def as_json(self) -> dict[str, Any]:
        """Numbers of couples, queries and lists."""
        queries = int(self.drawn["query_id"].nunique())
        return {"couples": len(self.drawn), "queries": queries, "lists": len(self.lists)}

    def plot(self) -> Figure:
        """The chance of each couple to be drawn, query by query.

        Examples
        --------
        >>> ids = {"query_id": ["q", "q"], "result_id": ["x", "y"], "other_id": ["y", "z"]}
        >>> drawn = Couples(pd.DataFrame({**ids, "source": "bm25", "inclusion_probability": [0.2, 0.4]}))
        >>> drawn.plot().axes[0].get_ylabel()
        'chance to be drawn'
        """
        return figure_of(lambda: couples_picture(self.drawn))

    def _write_tables(self, folder: Path) -> None:
        if self.collection is None or folder.resolve() != Path(self.collection.folder or "").resolve():
            raise RelstudyError(f"{folder}: couples are saved to the folder of the study that they were drawn for")
        add_couples(folder, self.collection, self.drawn, self.lists)

    def heading(self) -> str:
        """Numbers of couples and queries."""
        queries = count_of(int(self.drawn["query_id"].nunique()), "query", "queries")
        return f"{count_of(len(self.drawn), 'couple')} of {queries}"

    def overview(self) -> pd.DataFrame:
        """What is compared, and how likely it was to be drawn."""
        return self.drawn[["query_id", "result_id", "other_id", "source", "inclusion_probability"]]

    def remarks(self) -> Sequence[str]:
        """None."""
        return ()


def couples_picture(drawn: pd.DataFrame) -> str:
    """The inclusion probability of each couple, in the order of queries; SVG text."""
    chances = drawn.sort_values(["query_id", "inclusion_probability"], kind="stable")["inclusion_probability"]
    with drawing(6.0, 3.2) as figure:
        axes = figure.subplots()
        axes.plot(range(1, len(chances) + 1), chances, ".", color=SERIES[0])
        axes.set(xlabel="couple, query by query", ylabel="chance to be drawn", ylim=(0, 1.03))
        return svg(figure, "The chance of each couple to be drawn")


@takes_options(CouplesOptions)
def couples(
    folder: str | os.PathLike[str], systems: Sequence[str] | None = None, **changes: Unpack[CouplesChanges]
) -> Couples:
    """Draw couples of results, or of whole lists, for the queries of a study, as `relstudy sample couples` does.

    Parameters
    ----------
    folder : the study's, with its pairs.csv
    systems : whose rankings these are, as `sample` names them; None: all there are
    changes : of the draw

    Raises
    ------
    RelstudyError
        if there are no queries with known probability, or couples are there already

    Examples
    --------
    >>> import tempfile
    >>> from relstudy import sample
    >>> words = ["sky", "sky", "sea", "sea", "sea", "sky"]
    >>> items = pd.DataFrame({"item_id": list("abcdef"), "kind": "text", "text": "words", "keywords": words})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     items.to_csv(Path(folder, "collection.csv"), index=False)
    ...     _ = sample(items, ["keywords"], queries=3, results=2, base=2).save(folder)
    ...     drawn = couples(folder, ["keywords"], each=1)
    >>> int(drawn.table["query_id"].nunique())
    3
    """
    check_arguments(couples, locals())
    options = CouplesOptions(**fields_given(CouplesOptions, changes))
    study, collection = Path(folder), open_collection(Path(folder))
    sources = open_sources(study, collection, systems)
    drawn, lists = draw(study, collection, sources, options)
    return Couples(drawn, tuple(lists), collection=collection)
