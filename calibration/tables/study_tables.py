"""A study's tables travel together: judgments, the ratings behind them, the pairs as they were drawn, and the pool.

Whoever is given judgments is given what lies beside them by this one reader. What was looked for and is not there is a
note of the judgments, since figures then say less or something else.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.calibration.tables.decision import Decision, read_decision
from relstudy.calibration.tables.judgments import CARELESS, Judgments, read_judgments, with_careless
from relstudy.calibration.tables.own_ids import OwnIds
from relstudy.calibration.tables.pair_ratings import PairRatings
from relstudy.calibration.tables.qrels import is_dataset
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, write_json
from relstudy.common.runtime.wording import count_of, listed
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.formats.file_kind import file_part
from relstudy.common.tables.formats.study_archive import in_archive
from relstudy.common.tables.formats.table_files import read_table, write_table
from relstudy.common.tables.meaning.group_columns import groups_of, said_once
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import read_pairs, source_members
from relstudy.common.tables.meaning.reading import PLAIN, Reading
from relstudy.common.tables.meaning.study_folder import ANSWERS
from relstudy.common.tables.whole_number_ids import whole_ids

JUDGMENTS, CALIBRATED, RATINGS, PAIRS = "judgments.csv", "calibrated.csv", "ratings.csv", "pairs.csv"
POOL = ("pool.csv", "pool.parquet")
PROVENANCE = "provenance.json"
EXPORTED = "ratings.json"
"""What `relstudy export` says of the ratings."""
SETTINGS = "study.toml"
ABSENT = {
    CALIBRATED: "intervals speak of these raters alone",
    PAIRS: "which systems proposed the pairs is not known",
    POOL[0]: "results outside the pool are not counted",
}
"""Figures that are missing without a table."""
WEIGHT = "query_weight"
SAME = 1e-9
"""Shares of a few ratings that differ by more than rounding are of other ratings."""


@dataclass(frozen=True)
class InputFile:
    """One file that was read.

    Parameters
    ----------
    name : path inside the study's folder, or the file's name alone
    sha256 : hash of its bytes, hexadecimal
    size : bytes
    """

    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, path: Path, folder: Path | None = None) -> InputFile:
        """The file at `path`, named as it stands in `folder` where it lies there."""
        content = file_part(path).read_bytes()
        inside = folder is not None and path.is_relative_to(folder)
        name = path.relative_to(folder).as_posix() if folder is not None and inside else path.name
        return cls(name, hashlib.sha256(content).hexdigest(), len(content))


@dataclass(frozen=True, eq=False)
class Pool:
    """The results of each query that pairs could be drawn from.

    Parameters
    ----------
    pairs : (query_id, result_id) of all of them
    depth : how many first results of each system they are made of
    """

    pairs: pd.MultiIndex
    depth: int


@dataclass(frozen=True, eq=False)
class StudyTables:
    """Judgments with the tables that lie beside them.

    Parameters
    ----------
    judgments : with the ratings that they were made of and the systems that proposed their pairs, where these are known
    rated : calibrated.csv as it stands, else ratings.csv; None where neither is there
    drawn : pairs.csv as it stands; None where it is not there
    pairs : the same as `read_pairs` gives it; None where it is not there or has faults
    pool : the results that pairs could be drawn from; None where there was no pool, or its table is not there
    files : every file that was read, and those that are said to be behind them
    decision : what study.toml states of the analysis
    queries : a table of queries, for groups and weights of them; None where none was given
    closed : whether no further ratings come, since the study was closed before its ratings were exported
    """

    judgments: Judgments
    rated: Checked | None = None
    drawn: Checked | None = None
    pairs: pd.DataFrame | None = None
    pool: Pool | None = None
    files: tuple[InputFile, ...] = ()
    decision: Decision = field(default_factory=Decision)
    queries: Checked | None = None
    closed: bool = False

    def with_table_of_queries(self, queries: Checked, file: InputFile) -> StudyTables:
        """The same with a table of queries, and its file among those that were read."""
        return replace(self, queries=queries, files=(*self.files, file))

    def with_queries(self, queries: Checked | None, weights: str | None = None) -> StudyTables:
        """The same with a table of queries (query_id and what is known of each), and with what each query counts.

        Parameters
        ----------
        queries : the table; None: there is none
        weights : the column that says how much a query counts, such as its traffic, of the judgments or of that table;
            None takes `query_weight` where one of them has it

        Raises
        ------
        RelstudyError
            where neither has the column, a query has no weight or two, or one is not above 0
        """
        study, name = replace(self, queries=queries), weights or WEIGHT
        found = study._by_pair(name)
        if found is None and weights is None:
            return study
        if found is None:
            tables = (self.judgments.frame, *([] if queries is None else [query_rows(queries)]))
            names = ", ".join(str(each) for table in tables for each in table if each not in PAIR)
            raise RelstudyError(f"{option('query_weights')}: there is no column {name!r}; there are: {names}")
        values, file = found
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
        one = _one_weight_a_query(self.judgments.frame["query_id"], numbers, name, file)
        heaviest = one.sort_values(ascending=False).cumsum() / one.sum()
        half = count_of(
            int((heaviest < 0.5 - 1e-9).sum()) + 1, f"query of {len(one)} has", f"queries of {len(one)} have"
        )
        note = (
            f"Queries count by {name} ({Path(file).name}), unequally: {half} half of the weight. Mappings are fitted "
            "to pairs that count equally."
        )
        weighted = self.judgments.frame.assign(**{WEIGHT: numbers})
        return replace(study, judgments=replace(self.judgments, frame=weighted, notes=(*self.judgments.notes, note)))

    def _by_pair(self, column: str) -> tuple[pd.Series, str] | None:
        """Each judged pair's cell of a column of the judgments, else of the queries, and what messages call that table;
        None where neither has it."""
        judged, of_queries = self.judgments.frame, None if self.queries is None else query_rows(self.queries)
        if column in judged:
            return judged[column], "the judgments"
        if self.queries is None or of_queries is None or column not in of_queries:
            return None
        return judged["query_id"].astype("str").map(of_queries[column]), self.queries.file

    def is_of_people(self, column: str, pairs: Checked | None = None) -> bool:
        """True where a column is one of the ratings behind the judgments alone, which says something of who rated."""
        ratings, beside = self.judgments.ratings, self.drawn if pairs is None else pairs
        others = [None if each is None else each.frame for each in (self.queries, beside)]
        elsewhere = any(frame is not None and column in frame for frame in (self.judgments.frame, *others))
        return ratings is not None and column in ratings and "rater_id" in ratings and not elsewhere

    def groups_of_people(self, column: str) -> np.ndarray:
        """The entries of a column of the ratings behind the judgments, text [ratings of judged pairs].

        Raises
        ------
        RelstudyError
            where it says several things of one rater, or has too many values
        """
        ratings, judged = self.judgments.ratings, self.judgments.frame[PAIR].astype("str")
        assert ratings is not None
        inside = pd.MultiIndex.from_frame(ratings[PAIR].astype("str")).isin(pd.MultiIndex.from_frame(judged))
        rows = ratings[inside]
        values = groups_of(rows, column, table="the ratings")
        said_once(pd.Series(values, rows.index), rows["rater_id"], column)
        return values

    def groups(self, column: str, pairs: Checked | None = None) -> np.ndarray:
        """Each judged pair's value of a column of the judgments, else of the queries, else of the pairs, text [pairs].

        Parameters
        ----------
        pairs : another table of pairs than the one beside the judgments

        Raises
        ------
        RelstudyError
            where neither table has the column, or it has too many values
        """
        judged, found = self.judgments.frame, self._by_pair(column)
        if found is not None and column not in judged:
            return groups_of(judged.assign(**{column: found[0]}), column)
        beside = self.drawn if pairs is None else pairs
        return groups_of(judged, column, None if beside is None else beside.without_faults())


def _one_weight_a_query(query_id: pd.Series, weights: np.ndarray, name: str, file: str) -> pd.Series:
    """The weight of each query, by its id.

    Parameters
    ----------
    query_id, weights : of each judged pair
    name, file : what messages call the column and its table

    Raises
    ------
    RelstudyError
        where one is not a number above 0, or a query has two
    """
    by_query = pd.DataFrame({"query": query_id.astype("str").to_numpy(), "weight": weights})
    wrong = ~(np.isfinite(weights) & (weights > 0))
    if wrong.any():
        query = by_query["query"][wrong].iloc[0]
        raise RelstudyError(f"{file}: query {query} needs a number above 0 in {name}, which says what it counts")
    one = by_query.drop_duplicates()
    again = one["query"][one["query"].duplicated()]
    if len(again):
        raise RelstudyError(f"{file}: {name} has two values for query {again.iloc[0]}; a query has one weight")
    return one.set_index("query")["weight"]


def query_rows(queries: Checked) -> pd.DataFrame:
    """A table of queries, indexed by query_id as text.

    Raises
    ------
    RelstudyError
        where it names no query, or one twice
    """
    table = under_own_names(queries, ("query_id",))
    table.require("query_id")
    rows = table.frame.assign(query_id=whole_ids(table.frame["query_id"]).astype("str").str.strip()).drop_duplicates()
    again = rows["query_id"][rows["query_id"].duplicated()]
    if len(again):
        raise RelstudyError(f"{queries.file}: query {again.iloc[0]} has two rows that differ; one a query is needed")
    return rows.set_index("query_id")


def read_study_tables(
    path: str | os.PathLike[str],
    reading: Reading = PLAIN,
    ratings: str | os.PathLike[str] | pd.DataFrame | None = None,
    *,
    folder: Path | None = None,
    own: bool = False,
    completed: Callable[[Judgments], Judgments] | None = None,
) -> StudyTables:
    """Read judgments with what lies beside them.

    Parameters
    ----------
    path : judgments (a table or TREC qrels); or a folder or zip file that holds judgments.csv and the other tables, as
        `relstudy calibrate -o` and `relstudy admin archive` write them
    reading : what is stated about the table of judgments
    ratings : the calibrated ratings behind the judgments; None takes calibrated.csv beside them where it is theirs
    folder : the study's, whose tables are taken if there are none beside the judgments
    own : whether the tables beside the judgments are known to be the study's, so that faults in them are refused; else
        such a table has no part, and a note says so
    completed : gives the judgments with the ratings and proposers that a saved comparison holds, in place of files

    Raises
    ------
    RelstudyError
        where the judgments have faults, or the ratings that are named are not those of the judgments
    """
    if is_dataset(path):
        whole = read_judgments(path, reading)
        return StudyTables(whole if completed is None else completed(whole))
    file = Path(in_archive(path, JUDGMENTS))
    look = _Beside(file, folder)
    judgments = read_judgments(file, reading)
    look.add(file)
    if completed is not None:
        drawn = look.table(PAIRS)
        pool, decision = look.pool(judgments), look.decision()
        return StudyTables(completed(judgments), None, drawn, None, pool, tuple(look.files), decision)
    rated = None if judgments.qrels else look.table(CALIBRATED, RATINGS)
    is_sound = own  # else whoever's they are, faults in them are no reason to refuse
    if ratings is not None:
        judgments = judgments_with_ratings(judgments, ratings)
        look.files += [] if isinstance(ratings, pd.DataFrame) else [InputFile.of(Path(ratings), folder)]
    elif rated is not None and Path(rated.file).name == CALIBRATED and judgments.ratings is None:
        judgments, rated = look.with_calibrated(judgments, rated, own)
        is_sound = True
    elif not judgments.qrels and judgments.ratings is None:
        look.absent.append(CALIBRATED)
    if rated is not None and not is_sound:
        rated = look.readable(rated)
    if judgments.scale.how == "values" and rated is not None:
        given = read_ratings(rated.without_faults(), trust_raters=True)
        if not judgments.frame[PAIR].merge(given.frame[PAIR], on=PAIR).empty:  # else they are of another study
            judgments = replace(judgments, scale=given.scale)
    judgments = look.with_careless(judgments)
    drawn = look.table(PAIRS)
    pairs = None if drawn is None or (judgments.qrels and not own) else look.pairs(drawn, own)
    if not judgments.qrels and "source" not in judgments.frame and drawn is None:
        look.absent.append(PAIRS)
    judgments = with_proposers(judgments, pairs)
    pool = look.pool(judgments)
    look.add_provenance()
    decision = look.decision()
    judgments = replace(judgments, notes=(*judgments.notes, *look.notes()))
    answers = look.find(ANSWERS)
    judgments = judgments if answers is None else replace(judgments, own_ids=OwnIds.in_file(answers))
    return StudyTables(judgments, rated, drawn, pairs, pool, tuple(look.files), decision, closed=look.is_closed())


@dataclass
class _Beside:
    """Tables read beside judgments, and those not found there.

    Parameters
    ----------
    file : the judgments
    folder : the study's, where a table is looked for that is not beside them
    files : those that were read
    absent : names of those that are not there, of `ABSENT`
    without_part : why a file that is there is left out, a sentence each
    """

    file: Path
    folder: Path | None
    files: list[InputFile] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    without_part: list[str] = field(default_factory=list)

    def add_provenance(self) -> None:
        """Add the files that the tables were made of, where it is said beside them."""
        file = self.find(PROVENANCE)
        if file is None:
            return
        try:
            made_of = read_json(file)["files"]
            self.files += [InputFile(str(each["name"]), str(each["sha256"]), int(each["size"])) for each in made_of]
        except (RelstudyError, TypeError, KeyError, ValueError) as error:
            self.no_part(RelstudyError(f"{PROVENANCE}: {error!r}"))

    def no_part(self, error: RelstudyError) -> None:
        """Note why a file beside the judgments is left out, once."""
        sentence = f"{error}; so that file has no part in this."
        self.without_part += [] if sentence in self.without_part else [sentence]

    def add(self, path: Path) -> None:
        """Add a file that was read."""
        self.files.append(InputFile.of(path, self.folder or self.file.parent))

    def find(self, *names: str) -> Path | None:
        """The first of some files that is there, beside the judgments or in the study's folder."""
        places = [self.file.parent, *([] if self.folder is None else [self.folder])]
        found = _first_of(names, *places)
        if found is not None:
            self.add(found)
        return found

    def table(self, *names: str) -> Checked | None:
        """The first of some tables that is there; None where none is, and, with a note, where it cannot be read."""
        file = self.find(*names)
        if file is None:
            return None
        try:
            return read_table(file)
        except RelstudyError as error:
            self.no_part(error)
            return None

    def readable(self, ratings: Checked) -> Checked | None:
        """The ratings; None, with a note, where they cannot be read and may be anybody's."""
        try:
            read_ratings(ratings.without_faults(), trust_raters=True)
        except RelstudyError as error:
            self.no_part(error)
            return None
        return ratings

    def with_calibrated(self, judgments: Judgments, table: Checked, own: bool) -> tuple[Judgments, Checked | None]:
        """The judgments with the ratings of calibrated.csv where these are theirs; the table where it can be read."""
        try:
            ratings = read_calibrated(table.without_faults())
        except RelstudyError as error:
            if own:
                raise
            self.no_part(error)
            return judgments, None
        try:
            return with_ratings(judgments, ratings, CALIBRATED), table
        except RelstudyError as error:
            self.no_part(error)
            return judgments, table

    def with_careless(self, judgments: Judgments) -> Judgments:
        """The judgments with what there would be if careless raters were taken another way."""
        file = None if judgments.qrels else self.find(CARELESS)
        if file is None:
            return judgments
        try:
            return with_careless(judgments, file)
        except RelstudyError as error:
            self.no_part(error)
            return judgments

    def pairs(self, table: Checked, own: bool) -> pd.DataFrame | None:
        """The pairs as they were drawn; None, with a note, where their table has faults and may be another study's."""
        try:
            return read_pairs(table.without_faults())
        except RelstudyError as error:
            if own:
                raise
            self.without_part.append(f"Who proposed the pairs is not known, since {PAIRS} cannot be read: {error}")
            return None

    def pool(self, judgments: Judgments) -> Pool | None:
        """The pool, or None. Judgments drawn from one whose table is not there are noted."""
        file = self.find(*POOL)
        if file is not None:
            return read_pool(file)
        if "pool" in judgments.frame:
            self.absent.append(POOL[0])
        return None

    def decision(self) -> Decision:
        """The analysis as study.toml states it; the default if there is no such file.

        Raises
        ------
        RelstudyError
            where the file is no TOML, or says what is not allowed
        """
        file = self.find(SETTINGS)
        return Decision() if file is None else read_decision(file)

    def is_closed(self) -> bool:
        """Whether the study was closed when its ratings were exported."""
        places = [self.file.parent, *([] if self.folder is None else [self.folder])]
        file = _first_of([EXPORTED], *places)
        try:
            said = None if file is None else read_json(file)
        except RelstudyError:  # by hand: as if it were not there
            return False
        return isinstance(said, dict) and said.get("state") == "closed"

    def notes(self) -> list[str]:
        """Notes on tables without a part, and on missing ones with the figures that need them."""
        if not self.absent:
            return self.without_part
        are = "is" if len(self.absent) == 1 else "are"
        lacks = ", and ".join(ABSENT[name] for name in self.absent)
        return [*self.without_part, f"{listed(self.absent)} {are} not beside {self.file.name}: {lacks}."]


def _first_of(names: Iterable[str], *folders: Path) -> Path | None:
    """The first file of some names that is in the first of some folders that has any; None where none has."""
    return next((folder / name for folder in folders for name in names if (folder / name).is_file()), None)


def write_with_provenance(
    write: Callable[[Path], None], folder: Path, ratings: Path, pairs: Path | None = None
) -> None:
    """Write calibrated tables with the pairs, the pool and what all of it was made of: a study that travels whole.

    Parameters
    ----------
    write : writes judgments.csv and what goes with it to a folder
    ratings : the table that was calibrated
    pairs : the pairs as they were drawn; the pool beside them is taken, too
    """
    write(folder)
    made_of = [ratings]
    if pairs is not None:
        made_of.append(pairs)
        write_table(read_table(pairs).frame, folder / PAIRS)
        pool = _first_of(POOL, pairs.parent)
        if pool is not None:
            made_of.append(pool)
            shutil.copyfile(pool, folder / pool.name)
    files = [asdict(InputFile.of(file)) for file in made_of]
    content = {"made_by": "relstudy calibrate", "version": version("relstudy"), "files": files}
    write_json(content, folder / PROVENANCE)


def pairs_beside(path: str | os.PathLike[str]) -> Path:
    """Where pairs.csv lies beside judgments, whether it is there or not."""
    return Path(in_archive(path, JUDGMENTS)).parent / PAIRS


def find_pool(folder: Path) -> Pool | None:
    """The pool of a study's folder, or None."""
    file = _first_of(POOL, folder)
    return None if file is None else read_pool(file)


def read_pool(file: Path) -> Pool:
    """Read pool.csv or pool.parquet: query_id, result_id and depth (how many first results of each system it holds).

    Raises
    ------
    TableError
        where ids are empty or a depth is not a whole number from 1
    """
    table = read_table(file, *PAIR, "depth")
    pairs = pd.MultiIndex.from_arrays([table.texts(name) for name in PAIR])
    depth = table.numbers("depth", low=1, whole=True)
    table.raise_faults()
    return Pool(pairs, int(depth.max()))


def with_ratings(judgments: Judgments, ratings: pd.DataFrame, name: str) -> Judgments:
    """The judgments with the ratings that they were made of.

    Parameters
    ----------
    ratings : query_id, result_id, calibrated (float, NaN where undecided), one row per rating
    name : what messages call them

    Raises
    ------
    RelstudyError
        where they are not the ratings that these judgments were made of
    """
    empty = ratings["calibrated"].isna()
    decided = (ratings[~empty] if empty.any() else ratings).reset_index(drop=True)
    frame = judgments.frame
    beside = PairRatings.of(decided, frame)
    share, many = (
        beside.share_above(judgments.scale.scale.cut, len(frame)),
        np.bincount(beside.pair, minlength=len(frame)),
    )
    missing, other = int((many == 0).sum()), 0
    if "relevant_share" in frame:
        other = int((np.abs(frame["relevant_share"].to_numpy(dtype=float) - share) > SAME).sum())
    elif "n_ratings" in frame:
        other = int((pd.to_numeric(frame["n_ratings"], errors="coerce").to_numpy(dtype=float) != many).sum())
    if missing or other:
        what = f"have none of {missing}" if missing else f"differ from them in {other}"
        raise RelstudyError(
            f"{name}: these are not the ratings that the judgments were made of: they {what} of {len(frame)} pairs"
        )
    if "care" in ratings:  # nor has a rating that does not count a calibrated value
        empty &= pd.to_numeric(ratings["care"], errors="coerce") > 0
    blank = ratings[empty].drop_duplicates(PAIR)[PAIR].astype("str")
    answered = pd.MultiIndex.from_frame(blank).isin(pd.MultiIndex.from_frame(decided[PAIR].astype("str")))
    return replace(judgments, ratings=decided, undecided=blank[~answered].reset_index(drop=True))


def judgments_with_ratings(judgments: Judgments, ratings: str | os.PathLike[str] | pd.DataFrame) -> Judgments:
    """The judgments with the ratings that they were made of, from a file or a table as `relstudy.calibrate` gives it.

    Raises
    ------
    RelstudyError
        where these are not their ratings, or there is no column calibrated
    """
    if not isinstance(ratings, pd.DataFrame):
        return with_ratings(judgments, read_calibrated(ratings), os.fspath(ratings))
    missing = [name for name in (*PAIR, "calibrated") if name not in ratings]
    if missing:
        raise RelstudyError(f"the ratings: the column {missing[0]} is needed; calibrate gives such ratings")
    return with_ratings(judgments, ratings, "the ratings")


def read_calibrated(source: str | os.PathLike[str] | Checked) -> pd.DataFrame:
    """Ratings with their calibrated values, as `relstudy calibrate` writes them, from a file or a table that was read.

    Raises
    ------
    RelstudyError
        if there is no column calibrated, or the table has other faults
    """
    table = read_table(source)
    frame = read_ratings(table, trust_raters=True, with_set_aside=True).frame
    if "calibrated" not in frame:
        raise RelstudyError(f"{table.file}: the column calibrated is needed; relstudy calibrate writes it")
    return frame.assign(calibrated=pd.to_numeric(frame["calibrated"], errors="coerce"))


def with_proposers(judgments: Judgments, pairs: pd.DataFrame | None = None) -> Judgments:
    """The judgments with the systems that proposed any of their pairs, where that is known.

    Parameters
    ----------
    pairs : as they were drawn, for judgments without a column `source`
    """
    if "source" in judgments.frame:
        return _proposed_by(judgments, judgments.frame["source"])
    if judgments.qrels or pairs is None:
        return judgments
    judged = pd.MultiIndex.from_frame(judgments.frame[PAIR].astype("str"))
    return _proposed_by(judgments, pairs.loc[pd.MultiIndex.from_frame(pairs[PAIR]).isin(judged), "source"])


def _proposed_by(judgments: Judgments, sources: pd.Series) -> Judgments:
    members = source_members(sources.dropna().astype("str"))
    return replace(judgments, proposers=tuple(members)) if members else judgments
