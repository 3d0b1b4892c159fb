"""Score tables: what each system thinks of each query-result pair.

Three forms are read: long (`system,query_id,result_id,score`), wide (`query_id,result_id`, then one numeric column a
system) and a TREC run. One form is given back: long, ids as text, every score finite, no pair twice in one system.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.compression import read_bytes
from relstudy.common.runtime.control_characters import refuse_controls
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.runtime.files import replacing
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.formats.dataframe_libraries import run_of_library
from relstudy.common.tables.formats.file_kind import RUN_ENDINGS, file_kind, file_part
from relstudy.common.tables.formats.table_files import read_table, write_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.reading import PLAIN, Reading, percentages, without_percent_signs
from relstudy.mapping.scores.runs import parse_run, rank_notes
from relstudy.mapping.scores.score_table import COLUMNS, ScoreTable, SystemChoice
from relstudy.mapping.scores.vectors import Similarity, are_vectors
from relstudy.mapping.scores.wide import read_numbers, read_wide

RUN = "run"
"""The system of a run that names none."""


def read_scores(
    path: str | os.PathLike[str],
    *,
    leave_out: Collection[str] = (),
    only: Collection[str] | None = None,
    system: str | None = None,
    reading: Reading = PLAIN,
) -> ScoreTable:
    """Read a score table.

    Parameters
    ----------
    path : CSV or Parquet, long or wide, or a TREC run (CSV and runs also as .gz, .bz2, .xz or .zst). A system whose
        scores stand in a column `score` and that nothing names is called by its file
    leave_out : systems (in a wide table: columns) not to read
    only : systems (columns) to read, all others left out; None reads all
    system : name for the system of a TREC run, in place of the run's own tag
    reading : which column is which; several for score, or one without a system, are a system each

    Returns
    -------
    ScoreTable, whose frame holds system, query_id, result_id (text) and score (float64, finite), in the order of the
    file. Directions are known of a run, and where the table has a column `direction`. The notes say which columns were
    left out because they are not numbers, which cells of a wide table are empty (a result that the system did not
    return), and how many repeated rows were merged.

    Raises
    ------
    RelstudyError
        when the file cannot be read, has no system, or lacks a system named in `only` or `leave_out`
    TableError
        naming the row of every score that is not a finite number and of every pair with two scores in one system
    """
    file = os.fspath(path)
    if file_kind(file) != "run":
        table = check_scores(read_table(path), leave_out=leave_out, only=only, reading=reading)
        unnamed = table.systems == ["score"] and name_of(file) != ""
        return replace(table.named(name_of(file), file), notes=table.notes) if unnamed else table
    frame = parse_run(read_bytes(file), file)
    if system is not None:
        frame["system"] = system
    chosen = SystemChoice(file, leave_out, only)
    chosen.check(frame["system"].unique())
    if "row" not in frame:
        frame["row"] = np.arange(len(frame)) + 1
    taken = frame if chosen.everything else frame[frame["system"].map(chosen.takes).to_numpy(dtype=bool)]
    notes = rank_notes(taken)
    finished = _finished(frame.drop(columns="rank"), chosen, notes)
    systems = [str(name) for name in finished["system"].unique()]
    return ScoreTable(finished, dict.fromkeys(systems, "higher"), tuple(systems), tuple(notes))


def read_score_files(
    paths: Sequence[str | os.PathLike[str]],
    *,
    leave_out: Collection[str] = (),
    only: Collection[str] | None = None,
    reading: Reading = PLAIN,
    similarity: Similarity | None = None,
    pairs: pd.DataFrame | None = None,
) -> ScoreTable:
    """Read several score tables as one; as `read_scores`, whose notes, runs and directions are joined.

    A path may have a name before it (`mine=bm25.run`), which its one system is then called; one of vectors (.npy) is
    read by `similarity`, which then scores `pairs`.

    Raises
    ------
    RelstudyError
        where two files hold one system, or none holds a system named in `only` or `leave_out`
    """
    if len(paths) == 1 and named_file(paths[0])[0] is None and not are_vectors(paths[0]):
        return read_scores(paths[0], leave_out=leave_out, only=only, reading=reading)
    tables: list[ScoreTable] = []
    file_of: dict[str, str] = {}
    for path in paths:
        table = read_named(path, reading, similarity, pairs)
        for name in table.systems:
            if name in file_of:
                raise RelstudyError(
                    f"{os.fspath(path)}: a system named {name!r} was already read from {file_of[name]}; systems need "
                    f"different names, which NAME={os.fspath(path)} gives"
                )
            file_of[name] = os.fspath(path)
        tables.append(table)
    file = ", ".join(os.fspath(path) for path in paths)
    return SystemChoice(file, leave_out, only).of(ScoreTable.joined(tables))


def name_of(file: str) -> str:
    """The name that a file gives to its one system.

    Examples
    --------
    >>> name_of("scores/bm25.csv.gz")
    'bm25'
    """
    return Path(file).name.partition(".")[0]


def named_file(path: str | os.PathLike[str]) -> tuple[str | None, str]:
    """The name that a system is to have and its file, from `mine=bm25.run`; None if there is no name before it.

    Examples
    --------
    >>> named_file("mine=bm25.run"), named_file("bm25.run")
    (('mine', 'bm25.run'), (None, 'bm25.run'))
    """
    text = os.fspath(path)
    name, equals, file = text.partition("=")
    is_named = equals and name.strip() and file and not os.path.exists(text) and os.sep not in name
    return (name.strip(), file) if is_named else (None, text)


def refuse_absent(paths: Sequence[str]) -> None:
    """Refuse a path, or FILE of NAME=FILE, where nothing is.

    Raises
    ------
    RelstudyError
    """
    for path in paths:
        if not os.path.exists(file_part(named_file(path)[1])):  # Path.exists fails on a text of a thousand letters
            raise RelstudyError(f"{path}: file not found")


def read_named(
    path: str | os.PathLike[str],
    reading: Reading = PLAIN,
    similarity: Similarity | None = None,
    pairs: pd.DataFrame | None = None,
) -> ScoreTable:
    """`read_scores` of a path that may have its system's name before it, as `mine=bm25.run`; vectors (.npy) score
    `pairs` by `similarity`."""
    name, file = named_file(path)
    if are_vectors(file) and similarity is not None and pairs is not None:
        return similarity.scores(file, pairs, name or "")
    table = read_scores(file, reading=reading)
    return table if name is None else table.named(name, file)


def check_scores(
    table: Checked,
    *,
    leave_out: Collection[str] = (),
    only: Collection[str] | None = None,
    reading: Reading = PLAIN,
) -> ScoreTable:
    """Check a long or wide table that is already in memory; see `read_scores`.

    Examples
    --------
    >>> frame = pd.DataFrame({"query_id": ["q"], "result_id": ["x"], "new": [0.5]})
    >>> check_scores(Checked(frame, "scores")).frame.values.tolist()
    [['new', 'q', 'x', 0.5]]
    """
    run = None if reading.columns else run_of_library(reading.rows_of(table))
    if run is not None:
        return check_run(run, leave_out=leave_out, only=only)
    table, systems = _renamed(table, reading)
    if systems is not None and only is None:
        only = systems
    table = _named(table)
    table.require(*PAIR, way_out=lambda name: f"{table.words.column(name)} names it")
    table = _without_percent_signs(table)
    notes = [f"{table.file}: {note}" for note in table.notes]
    chosen = SystemChoice(table.file, leave_out, only)
    if {"system", "score"} <= set(table.frame.columns):
        frame = _read_long(table)
        chosen.check(frame["system"].unique())
    else:
        chosen.check(name for name in table.frame.columns if name not in PAIR)
        frame = read_wide(table, chosen.takes, chosen.only is not None, notes)
    finished = _finished(frame, chosen, notes)
    return ScoreTable(finished, _directions(table, set(finished["system"].unique())), notes=tuple(notes))


def check_run(
    table: Checked, *, leave_out: Collection[str] = (), only: Collection[str] | None = None, system: str = RUN
) -> ScoreTable:
    """One system's run that is already in memory: query_id, result_id, score. What it does not hold was not retrieved.

    Parameters
    ----------
    system : its name
    """
    frame = _read_long(table.among(table.frame.assign(system=system), table.rows))
    chosen = SystemChoice(table.file, leave_out, only)
    chosen.check([system])
    notes = [f"{table.file}: {note}" for note in table.notes]
    return ScoreTable(_finished(frame, chosen, notes), {system: "higher"}, (system,), tuple(notes))


def _renamed(table: Checked, reading: Reading) -> tuple[Checked, list[str] | None]:
    """The table under relstudy's names, and the columns that are stated to be a system each; None where none are."""
    table = reading.rows_of(table)
    stated = reading.renamed_in(table, "scores")
    scores = stated.pop("score", [])
    twice = next((ours for ours, theirs in stated.items() if len(theirs) > 1), None)
    if twice is not None:
        raise RelstudyError(
            f"{table.file}: {option('columns')} names {len(stated[twice])} columns for {twice}; one is needed"
        )
    is_long = len(scores) == 1 and ("system" in stated or "system" in table.frame)
    names = {theirs[0]: ours for ours, theirs in stated.items()} | ({scores[0]: "score"} if is_long else {})
    if names:
        others = table.frame[[name for name in table.frame if name in names or name not in names.values()]]
        labels = {**table.labels, **{ours: theirs for theirs, ours in names.items()}}
        read = table.among(others.rename(columns=names), table.rows, labels)
        said = ", ".join(f"{ours} from {theirs}" for theirs, ours in names.items())
        read.notes = (*table.notes, f"read as stated: {said}")
        table = read
    return table, None if is_long or not scores else scores


def _named(table: Checked) -> Checked:
    """The table with relstudy's names where its own are almost so; a system's name in a wide table stays as it is."""
    long = under_own_names(table, (*COLUMNS, "direction"))
    return long if {"system", "score"} <= set(long.frame.columns) else under_own_names(table, PAIR)


def _without_percent_signs(table: Checked) -> Checked:
    """The table with numbers for the percentages in columns that hold nothing else."""
    others = table.frame.drop(columns=[*PAIR, "system", "direction"], errors="ignore")
    begin = {name: stripped(others[name].head(100)) for name in others if others[name].dtype.kind not in "fiu"}
    signed = [name for name, cells in begin.items() if percentages(cells[cells != ""]) is not None]
    texts = {str(name): stripped(others[name]) for name in signed}
    return without_percent_signs(
        table, [n for n, cells in texts.items() if percentages(cells[cells != ""]) is not None]
    )


def _directions(table: Checked, systems: set[str]) -> dict[str, str]:
    """Direction by system, where a long table has the column `direction`."""
    if not {"system", "score", "direction"} <= set(table.frame.columns):
        return {}
    stated = table.frame[["system", "direction"]].apply(stripped)
    table.add(~stated["direction"].isin(["higher", "lower", ""]), "direction", "higher or lower is allowed, or empty")
    table.raise_faults()
    stated = stated[(stated["direction"] != "") & stated["system"].isin(systems)].drop_duplicates()
    twice = stated["system"][stated["system"].duplicated()]
    if len(twice):
        raise RelstudyError(f"{table.file}, column direction: system {twice.iloc[0]!r} has both higher and lower")
    return dict(zip(stated["system"], stated["direction"], strict=True))


def _finished(frame: pd.DataFrame, chosen: SystemChoice, notes: list[str]) -> pd.DataFrame:
    """Chosen systems only, each pair once, ids as text; `frame` holds each score's row in its file as `row`."""
    if not chosen.everything:
        frame = frame[frame["system"].map(chosen.takes).to_numpy(dtype=bool)]
    chosen.refuse_none(len(frame))
    refuse_controls(frame["system"].unique(), chosen.file, "a system")
    frame = _merge_doubles(frame, chosen.file, notes)
    notes += [f"{chosen.file}: {note}" for note in _notes_on_marks(frame)]
    for column in ("system", "query_id", "result_id"):
        frame[column] = frame[column].astype("str")
    return frame[COLUMNS].reset_index(drop=True)


FEWEST_MARKS, FAR = 3, 3
"""So many equal scores, so many times as far from the others as these are apart, look like marks for no score."""


def _notes_on_marks(frame: pd.DataFrame) -> list[str]:
    """Notes on whole numbers that stand in several rows far from a system's other scores, as -999 for no score does."""
    notes = []
    ends = frame.groupby("system", sort=False, observed=True)["score"].agg(["min", "max"])
    for system, low, high in ends.itertuples():
        for end, is_mark in ((low, low < 0 and low % 1 == 0), (high, high >= 99 and high % 1 == 0)):
            if not is_mark:
                continue
            scores = frame["score"][(frame["system"] == system).to_numpy(dtype=bool)].to_numpy(dtype=float)
            rest = scores[scores != end]
            count = len(scores) - len(rest)
            if count < FEWEST_MARKS or len(np.unique(rest[:1000])) < FEWEST_MARKS:
                continue
            lowest, highest = float(rest.min()), float(rest.max())
            if min(abs(end - lowest), abs(end - highest)) > FAR * (highest - lowest):
                notes.append(
                    f"{count:,} scores of {system} are {end:g} and all others from {lowest:g} to {highest:g}: if these "
                    "are none, leave their cells empty"
                )
    return notes


def write_scores(scores: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a long score table as CSV, Parquet (.parquet) or a TREC run (.run, .trec).

    A column `direction` (higher or lower, which scores of a system are better) is kept if there is one, but in a
    run.

    In a run, results stand by descending score within a query, ranks counted from 1, ties in the order given.

    Raises
    ------
    RelstudyError
        when a score is not finite, or an id or name holds a blank, which a run cannot keep
    """
    file = os.fspath(path)
    frame = scores[[*COLUMNS, *(["direction"] if "direction" in scores else [])]]
    if not np.isfinite(frame["score"].to_numpy(dtype=float)).all():
        raise RelstudyError(f"{file}: not written, since a score is not a finite number")
    if not file.endswith(RUN_ENDINGS):
        write_table(frame, path)
        return
    for column in ("system", "query_id", "result_id"):
        blank = frame[column].astype("str").str.contains(r"\s", regex=True)
        if blank.any():
            raise RelstudyError(
                f"{file}: not written, since a TREC run cannot keep a blank in {column}: "
                f"{str(frame[column][blank].iloc[0])!r}; write CSV instead"
            )
    ordered = frame.assign(order=np.arange(len(frame))).sort_values(
        ["system", "query_id", "score", "order"], ascending=[True, True, False, True], kind="stable"
    )
    ordered["rank"] = ordered.groupby(["system", "query_id"]).cumcount() + 1
    ordered["Q0"] = "Q0"
    with replacing(path) as beside:
        fields = ordered[["query_id", "Q0", "result_id", "rank", "score", "system"]]
        fields.to_csv(beside, sep=" ", header=False, index=False, quoting=3)


def _read_long(table: Checked) -> pd.DataFrame:
    frame = pd.DataFrame({column: table.texts(column) for column in COLUMNS[:3]})
    frame["score"] = read_numbers(table, "score", empty=False)
    frame["row"] = table.rows
    table.raise_faults()
    return frame


def _merge_doubles(frame: pd.DataFrame, file: str, notes: list[str]) -> pd.DataFrame:
    """Leave out rows that repeat a pair with the same score, and say so; refuse those with another score."""
    key = np.zeros(len(frame), dtype=np.int64)
    for column in ("system", "query_id", "result_id"):
        values = frame[column]
        if isinstance(values.dtype, pd.CategoricalDtype):
            codes, count = values.cat.codes.to_numpy(dtype=np.int64), len(values.cat.categories)
        else:
            codes, uniques = pd.factorize(values)
            count = len(uniques)
        key = key * count + codes
    series = pd.Series(key)
    repeated = series.duplicated().to_numpy()
    doubled = np.flatnonzero(repeated)
    if len(doubled) == 0:
        return frame
    firsts = pd.DataFrame({"row": frame["row"].to_numpy(), "score": frame["score"].to_numpy()}).groupby(key).first()
    earlier = firsts.loc[key[doubled]]
    rows, scores = frame["row"].to_numpy(), frame["score"].to_numpy()
    faults = [
        Fault(
            file,
            int(rows[i]),
            None,
            None,
            f"the pair ({frame['query_id'].iloc[i]}, {frame['result_id'].iloc[i]}) of system "
            f"{str(frame['system'].iloc[i])!r} is already in row {row} with another score; a pair may appear once",
        )
        for i, row, score in zip(doubled, earlier["row"], earlier["score"], strict=True)
        if scores[i] != score
    ]
    if faults:
        raise TableError(faults)
    said = "1 row repeats" if len(doubled) == 1 else f"{len(doubled)} rows repeat"
    are = "it is" if len(doubled) == 1 else "they are"
    notes.append(f"{file}: {said} an earlier pair of the same system and score; {are} merged")
    return frame[~repeated]
