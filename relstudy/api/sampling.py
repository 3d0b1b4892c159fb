"""The pairs to ask people about: `sample`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from relstudy.api.inputs import scores_of, table_of
from relstudy.common.charts.figures import SERIES, drawing, figure_of, svg
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import FolderResult, Summary
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.formats.dataframe_libraries import Source as TableSource
from relstudy.common.tables.formats.dataframe_libraries import path_or_frame
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.large_collection import open_collection
from relstudy.studyapp.commands.sample import write
from relstudy.studyapp.commands.sample_output import cost_of, summarise
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.sampling import first_round
from relstudy.studyapp.sampling.options import AssumptionOptions, CostOptions, SampleChanges, SampleOptions
from relstudy.studyapp.sampling.sources import Source, open_sources, sources_of

Systems = TableSource | Mapping[str, TableSource] | Sequence[str | os.PathLike[str]]


if TYPE_CHECKING:
    from matplotlib.figure import Figure


def chances_picture(pairs: pd.DataFrame) -> str:
    """Inclusion probability by rank, a colour per source; SVG text."""
    with drawing(5.6, 3.4) as figure:
        axes = figure.subplots()
        for (name, rows), colour in zip(pairs.groupby("source"), cycle(SERIES), strict=False):
            axes.scatter(rows["rank"], rows["inclusion_probability"], s=9, color=colour, label=name, alpha=0.7)
        axes.set(xscale="log", yscale="log", xlabel="rank", ylabel="inclusion probability")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return svg(figure, "Chance of each pair to be drawn, by its rank")


@dataclass(frozen=True, eq=False, repr=False)
class Sample(FolderResult):
    """Pairs drawn with known probability.

    Parameters
    ----------
    drawn : pairs, design and expectation, as the command holds them
    folder : the study's folder, if any
    study : its study.toml, if any
    good, skill : what was assumed of the collection
    """

    saved_as = "sample"
    drawn: first_round.Sample
    folder: Path | None = None
    study: Study | None = None
    good: float = 0.02
    skill: float = 0.5

    @property
    def pairs(self) -> pd.DataFrame:
        """One row per pair: pair_id, query_id, result_id, paradigm, source (the system that proposed it), rank,
        inclusion_probability, query_probability, block (base or unique), round; what pairs.csv holds."""
        return self.drawn.pairs

    @property
    def table(self) -> pd.DataFrame:
        """The pairs: as `.pairs`."""
        return self.pairs

    def as_json(
        self,
        *,
        raters: int = 12,
        seconds: float | None = None,
        good: float | None = None,
        skill: float | None = None,
    ) -> dict[str, Any]:
        """The output of `relstudy sample --json`: number of pairs, hours of work, and the share of good matches to
        expect.

        Parameters
        ----------
        raters : people among whom the work is divided
        seconds : seconds per rating; None takes the median of the folder's ratings.csv, else 6
        good : assumed share of all pairs that are good matches; None: as the draw assumed
        skill : assumed correlation of a system's scores with what people value; None: as the draw assumed

        Examples
        --------
        >>> words = ["sky", "sky", "sea", "sea", "sea", "sky"]
        >>> items = pd.DataFrame({"item_id": list("abcdef"), "text": "words", "keywords": words})
        >>> sample(items, ["keywords"], queries=3, results=2, base=2).as_json(raters=5)["rater_hours"]["ratings"]
        14
        """
        check_arguments(Sample.as_json, locals())
        cost = cost_of(self.folder, self.study, CostOptions(raters, seconds))
        good, skill = self.good if good is None else good, self.skill if skill is None else skill
        return summarise(self.drawn, self.study, cost, AssumptionOptions(good, skill))

    def summary(
        self,
        *,
        raters: int = 12,
        seconds: float | None = None,
        good: float | None = None,
        skill: float | None = None,
    ) -> Summary:
        """Number of pairs, hours of work, and the share of good matches to expect, of the same choices as `as_json`."""
        return self._summary_of(self.as_json(raters=raters, seconds=seconds, good=good, skill=skill))

    def _write_tables(self, folder: Path) -> None:
        if (folder / "pairs.csv").exists():
            raise RelstudyError(
                f"{folder / 'pairs.csv'}: there are pairs here already, and a new draw would give their ids to others; "
                "name another folder"
            )
        write(folder, self.drawn)

    def plot(self) -> Figure:
        """The chance of each pair to be drawn, by the rank that its system gave it.

        Examples
        --------
        >>> words = ["sky", "sky", "sea", "sea", "sea", "sky"]
        >>> items = pd.DataFrame({"item_id": list("abcdef"), "text": "words", "keywords": words})
        >>> sample(items, ["keywords"], queries=3, results=2, base=2).plot().axes[0].get_xlabel()
        'rank'
        """
        return figure_of(lambda: chances_picture(self.pairs))

    def heading(self) -> str:
        """The numbers of pairs and of queries."""
        base = int((self.pairs["block"] == "base").sum())
        queries = count_of(self.pairs["query_id"].nunique(), "query", "queries")
        return f"{count_of(len(self.pairs), 'pair')} ({base:,} base) of {queries}"

    def overview(self) -> pd.DataFrame:
        """The pairs."""
        return self.pairs[["pair_id", "query_id", "result_id", "source", "rank", "inclusion_probability", "block"]]

    def remarks(self) -> Sequence[str]:
        """The smallest probability, which decides the largest weight, and how score tables were read."""
        return (f"smallest inclusion probability {self.drawn.expectation.smallest:.3g}", *self.drawn.notes)


@takes_options(SampleOptions, AssumptionOptions)
def sample(
    collection: TableSource,
    systems: Systems | None = None,
    *,
    given: Sequence[str | int] | None = None,
    **changes: Unpack[SampleChanges],
) -> Sample:
    """Choose pairs with known inclusion probabilities, as `relstudy sample` does; nothing is written.

    Parameters
    ----------
    collection : a study's folder, the path of a collection.csv, or a DataFrame with item_id, and kind, path, text,
        title, keywords, role where they are known
    systems : names of built-in systems and paths of score tables; or a score table (path or DataFrame), or one for each
        system's name. None takes the built-in systems that apply, and every table in the folder's scores/
    given : ids of the queries to use, all of them, instead of drawing some
    changes : the fields of `SampleOptions` and `AssumptionOptions`, each by its name; None leaves one as it is

    Raises
    ------
    RelstudyError
        where the collection has faults or allows no query, a system is not known, or the base block exceeds the sample

    Examples
    --------
    >>> words = ["sky", "sky", "sea", "sea", "sea", "sky"]
    >>> items = pd.DataFrame({"item_id": list("abcdef"), "text": "words", "keywords": words})
    >>> drawn = sample(items, ["keywords"], queries=3, results=2, base=2)
    >>> len(drawn.pairs), drawn.pairs["block"].value_counts().to_dict()
    (6, {'unique': 4, 'base': 2})
    """
    check_arguments(sample, locals())
    items, folder = _collection(collection)
    study = Study.load(folder) if folder is not None and (folder / "study.toml").exists() else None
    options = SampleOptions(
        given=None if given is None else [str(each) for each in given],
        page=first_round.base_pages(study),
        **fields_given(SampleOptions, changes),
    )
    assumed = AssumptionOptions(**fields_given(AssumptionOptions, changes))
    drawn = first_round.draw_sample_from(items, _sources(systems, items, folder or Path()), options)
    return Sample(drawn.with_reach(assumed), folder, study, assumed.good_share, assumed.skill)


def _collection(collection: TableSource) -> tuple[Collection, Path | None]:
    given = path_or_frame(collection, "the collection")
    if isinstance(given, pd.DataFrame):
        return Collection.of(table_of(given, "the collection"), Path()), None
    path = Path(given)
    if path.is_dir():
        return open_collection(path), path
    return Collection.of(table_of(path, "the collection"), path.parent), path.parent


def _path_of(system: object) -> str:
    """The path of a table of scores among several."""
    given = path_or_frame(system, "the systems")
    if isinstance(given, pd.DataFrame):
        raise RelstudyError("the systems: several tables are paths; one DataFrame may hold the scores of all systems")
    return os.fspath(given)


def _sources(systems: Systems | None, collection: Collection, folder: Path) -> Sequence[Source]:
    if isinstance(systems, pd.DataFrame | Mapping):
        table, name = scores_of(systems)
        content = pd.util.hash_pandas_object(table.frame, index=False).to_numpy()
        stamp = hashlib.sha256(np.ascontiguousarray(content).tobytes()).hexdigest()[:16]
        return sources_of(table, collection, stamp, name)
    if systems is None:
        return open_sources(folder, collection, None)
    named = list(systems) if isinstance(systems, Sequence) and not isinstance(systems, str) else [systems]
    return open_sources(folder, collection, [_path_of(system) for system in named])
