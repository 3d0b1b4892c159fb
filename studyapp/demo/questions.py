"""What the demo asks of its panel: study.toml."""

from __future__ import annotations

from pathlib import Path

from relstudy.common.files import write_text
from relstudy.studyapp.demo.sizes import Size

STUDY = """\
# The study of `relstudy demo`. docs/app.md explains every setting.
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


def write_study(folder: Path, size: Size, seed: int) -> None:
    """Write FOLDER/study.toml; blocks for queries by text only where there are any."""
    blocks = STUDY + (TEXT_BLOCKS if size.wishes else "")
    write_text(blocks.format(seed=seed, ratings_per_pair=size.ratings_per_pair), folder / "study.toml")
