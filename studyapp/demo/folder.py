"""The demo's folder: whose it is, what the demo may replace in it, and the study.toml with what it asks."""

from __future__ import annotations

import shutil
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, write_json, write_text
from relstudy.studyapp.demo.sizes import Size

MARK = "demo.json"
KIND = "relstudy demo"
# What the demo writes into its folder, and may therefore replace.
OWN_FILES = (
    *(MARK, "study.toml", "collection.csv", "pairs.csv", "design.json", "study.db", "study.db-wal", "study.db-shm"),
    *(
        "study.db.lock",
        "study.serving",
        "study.preparing",
        "secret.key",
        "admin.hash",
        "admin.logout",
        "admin.setup",
        "ratings.csv",
        "ratings.json",
        "judgments.csv",
        "judgments-careless.csv",
        "raters.csv",
    ),
    *("calibrated.csv", "scores.json", "comparison.json", "scored.json", "demo.log", "lists.csv", "looks.csv"),
)
OWN_FOLDERS = (
    *("pictures", "scores", "mappings", "report", "truth", "figures", "interfaces", "judges", "questions"),
    *("couples", "lists"),
)


def claim(folder: Path, size: Size, seed: int) -> None:
    """Take the folder for a demo: it must be absent, empty, or an earlier demo's, whose own files then go."""
    if folder.exists() and not folder.is_dir():
        raise RelstudyError(f"{folder}: this is a file; the demo needs a folder")
    if folder.is_dir() and any(folder.iterdir()):
        mark = folder / MARK
        if not mark.is_file() or _kind(mark) != KIND:
            raise RelstudyError(
                f"{folder}: this folder is not empty and no earlier demo made it; name another, such as {folder}-2"
            )
        for name in OWN_FOLDERS:
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in OWN_FILES:
            (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_json({"kind": KIND, "seed": seed, "images": size.images, "raters": size.raters}, folder / MARK)


def _kind(mark: Path) -> object:
    content = read_json(mark)
    return content.get("kind") if isinstance(content, dict) else None


STUDY = """\
# The study of `relstudy demo`. docs/reference/study-toml.md explains every setting.
[study]
id = "demo"
title = "Which pictures match?"
contact = "demo@example.org"
consent = '''
You will see a query, which is one picture, and up to four others as its results. Please say how well each of them
matches the query. There are no right or wrong answers: what counts is what you see.

You can stop at any time, and come back to where you were. What is kept are your ratings and how long each page took,
under a code that does not say who you are.
'''
instructions = '''
Rate each picture from 1 (poor match) to 5 (good match). Think of someone who looks for pictures like the query: would
they be glad to find this one? What is in a picture counts, where and when it is set, and the mood.

Choose undecided where you cannot say. It is better than a guess.
'''
thanks = "Thank you. Every rating you gave is saved."

# What decides between systems, stated before anybody rates.
[analysis]
primary = "same_query"
matters = 0.05

[handout]
seed = {seed}

[entry]
rules = ["personal", "open"]

[[blocks]]
name = "base"
pairs = "base"
paradigm = "image"
scale = "1-5"
question = "How well does each picture match the query?"

[[blocks]]
name = "unique"
pairs = "unique"
paradigm = "image"
scale = "1-5"
question = "How well does each picture match the query?"
ratings_per_pair = {ratings_per_pair}
pairs_per_rater = "all"
"""
TEXT_BLOCKS = """
[[blocks]]
name = "words-base"
pairs = "base"
paradigm = "text"
scale = "1-5"
question = "How well does the picture match these words?"

[[blocks]]
name = "words-unique"
pairs = "unique"
paradigm = "text"
scale = "1-5"
question = "How well does the picture match these words?"
ratings_per_pair = {ratings_per_pair}
pairs_per_rater = "all"
"""


CARDS = """
[display.print]
fields = ["picture", "title", "size", "price"]
labels = {{ size = "Size" }}
price = "price"

[[blocks]]
name = "base"
pairs = "base"
paradigm = "text"
results_per_page = 4
question = "How well does the print match these words?"
not_shown = true
{further}
[[blocks]]
name = "unique"
pairs = "unique"
paradigm = "text"
results_per_page = 4
question = "How well does the print match these words?"
not_shown = true
ratings_per_pair = {ratings_per_pair}
pairs_per_rater = "all"
{further}
[[blocks]]
name = "which"
ask = "which"
question = "Which print matches these words better?"
ratings_per_pair = {ratings_per_pair}
pairs_per_rater = "all"

[[blocks]]
name = "which-list"
ask = "which-list"
question = "Which prints would you rather be shown?"
ratings_per_pair = {ratings_per_pair}
pairs_per_rater = "all"
"""
FURTHER = """
[[blocks.questions]]
id = "look"
text = "Would you look at it more closely?"
scale = "yes-no"
"""


def write_study(folder: Path, size: Size, seed: int) -> None:
    """Write FOLDER/study.toml; blocks for queries by text only if there are any, and cards in place of pictures."""
    blocks = STUDY + (TEXT_BLOCKS if size.wishes else "")
    if size.cards:
        head = STUDY.partition("[[blocks]]")[0].replace("which is one picture, and", "which is a few words, and")
        blocks = head.replace("Which pictures match?", "Which prints match?") + CARDS
    values = {"seed": seed, "ratings_per_pair": size.ratings_per_pair, "further": FURTHER}
    write_text(blocks.format(**values), folder / "study.toml")
