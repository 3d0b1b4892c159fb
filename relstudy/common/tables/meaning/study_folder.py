"""Where the tables of a study's folder are: commands that take tables take the folder, too."""

from __future__ import annotations

from pathlib import Path

from relstudy.common.runtime.compression import ENDINGS
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import LEFT_OUT, quoted

COLLECTION, ITEMS = "collection.csv", "items.parquet"
"""A study's items as a person wrote them, and those that `relstudy sample` copied from a collection elsewhere."""
SCORE_ENDINGS = (".csv", ".tsv", ".parquet", ".run", ".trec", ".txt")
"""Endings of the names of score tables and runs, also before .gz and its like."""


def items_file(folder: Path) -> Path:
    """The table of the items that a study shows; where it has none, the path of collection.csv."""
    copied = folder / ITEMS
    return copied if copied.is_file() else folder / COLLECTION


def is_score_file(path: Path) -> bool:
    """True where a file in scores/ is a score table or a run by its name."""
    if path.name.startswith(".") or _is_of_vectors(path):
        return False
    return path.name.lower().endswith((*SCORE_ENDINGS, *ENDINGS)) and path.is_file()


def _is_of_vectors(path: Path) -> bool:
    """True where a text holds the ids of the vectors beside it: NAME.txt or NAME.ids.txt of NAME.npy."""
    name = path.name.removesuffix(".txt").removesuffix(".ids")
    return path.name.endswith(".txt") and path.with_name(f"{name}.npy").is_file()


def score_files(folder: Path) -> list[Path]:
    """The score tables and runs in FOLDER/scores, by name; none if there is no such folder."""
    return sorted(path for path in (folder / "scores").glob("*") if is_score_file(path))


def answers_file(folder: Path) -> Path | None:
    """The table of which model gave which answer, in a study of answers; None in a study of systems with scores."""
    file = folder / ANSWERS
    return file if file.is_file() and not score_files(folder) else None


def is_side_by_side(folder: Path) -> bool:
    """True of a study made of a table of results whose pairs are all couples to be compared."""
    file = folder / "pairs.csv"
    if not (folder / ANSWERS).is_file() or not file.is_file():
        return False
    from relstudy.common.tables.checked_table import stripped
    from relstudy.common.tables.formats.table_files import read_table

    frame = read_table(file).frame
    return "other_id" in frame and len(frame) > 0 and bool((stripped(frame["other_id"]) != "").all())


def notes_on_scores(folder: Path) -> list[str]:
    """A sentence that names the files in FOLDER/scores which are no score tables by their names; none without any."""
    others = [path.name for path in (folder / "scores").glob("[!.]*") if path.is_file() and not is_score_file(path)]
    named = ", ".join(sorted(others))
    endings = ", ".join((*SCORE_ENDINGS, *ENDINGS))
    return [f"{LEFT_OUT} of scores/, since score tables end in {endings}: {named}"] if others else []


def table_in(folder: Path, name: str, made_by: str) -> Path:
    """A table of a study's folder.

    Parameters
    ----------
    made_by : the command that writes it, for the message

    Raises
    ------
    RelstudyError
        where it is not there
    """
    path = folder / name
    if not path.is_file():
        raise RelstudyError(f"{folder}: there is no {name} in this folder; `{made_by}` writes it")
    return path


def ratings_in(folder: Path) -> tuple[Path, Path | None]:
    """The ratings of a study's folder, and the pairs that were drawn where they lie there.

    Raises
    ------
    RelstudyError
        if there are no ratings
    """
    pairs = folder / "pairs.csv"
    ratings = table_in(folder, "ratings.csv", f"relstudy export {quoted(folder)}")
    return ratings, pairs if pairs.is_file() else None


def judgments_in(folder: Path) -> Path:
    """The judgments of a study's folder.

    Raises
    ------
    RelstudyError
        if there are none
    """
    return table_in(folder, "judgments.csv", f"relstudy calibrate {quoted(folder)}")


def mappings_in(folder: Path) -> Path | None:
    """The folder of the fitted mappings in a study's, or None."""
    mappings = folder / "mappings"
    return mappings if mappings.is_dir() else None


def scores_in(folder: Path) -> list[str]:
    """The score files of a study's folder.

    Raises
    ------
    RelstudyError
        if there are none
    """
    files = score_files(folder)
    if answers_file(folder) is not None:
        raise RelstudyError(
            f"{folder}: models' answers have no scores; `relstudy score {quoted(folder)}` compares the models by "
            "people's ratings"
        )
    if not files:
        if folder.name == "scores":
            raise RelstudyError(f"{folder}: name the study's folder, {folder.parent}, and not its scores/")
        raise RelstudyError(f"{folder}: there is no score table in its scores/; `relstudy sample` keeps them there")
    return [str(file) for file in files]


def only_folder(arguments: tuple[str, ...]) -> Path | None:
    """The study's folder, where a command was given one folder in place of its tables."""
    if len(arguments) == 1 and Path(arguments[0]).is_dir():
        return Path(arguments[0])
    return None


ANSWERS = "answers.csv"
"""Which system gave which result for which query, in a study made of a table of results; raters never see it."""
QUESTIONS = "questions"
"""The folder of the tables of further questions, within a study's."""


def question_folder(folder: Path, name: str | None) -> Path:
    """The folder of a question's tables: its own within the study's, which is that of the blocks' own question.

    Examples
    --------
    >>> question_folder(Path("shop"), "trust").as_posix(), question_folder(Path("shop"), None).as_posix()
    ('shop/questions/trust', 'shop')
    """
    return folder if name is None else folder / QUESTIONS / name
