"""A small study of texts that say how good they are, rated in the browser as far as a test wants."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser

QUERIES = 45
TOML = """[study]
id = "live"
title = "Live"
[entry]
rules = ["open"]
[[blocks]]
name = "base"
pairs = "base"
paradigm = "text"
results_per_page = 6
[[blocks]]
name = "unique"
pairs = "unique"
paradigm = "text"
results_per_page = 6
pairs_per_rater = {each}
[analysis]
primary = "same_query"
matters = 0.05
[looks]
planned = 4
"""


def made(folder: Path, *, each: int = 84, looks: str = "", alike: bool = False) -> Path:
    """A study of two systems, of which `good` ranks as people will and `bad` by chance, or as well as it.

    Each rater is given so many pairs beside the base block.
    """
    folder.mkdir()
    draw = np.random.default_rng(7)
    items = [(f"q{q}", "text", f"query {q}", "query") for q in range(QUERIES)]
    pairs, scores = [], []
    for query in range(QUERIES):
        grades = draw.permutation([1, 2, 2, 3, 4, 5])
        for result, grade in enumerate(grades):
            id = f"r{query}-{result}"
            items.append((id, "text", f"This is of grade {grade}.", "result"))
            block = "base" if query < 3 else "unique"
            pairs.append((f"p{query}-{result}", f"q{query}", id, "text", 1.0, block))
            noise = draw.normal(0, 1, 2)
            scores += [("good", f"q{query}", id, grade + noise[0])]
            scores += [("bad", f"q{query}", id, alike * grade + noise[1])]
    pd.DataFrame(items, columns=["item_id", "kind", "text", "role"]).to_csv(folder / "collection.csv", index=False)
    columns = ["pair_id", "query_id", "result_id", "paradigm", "inclusion_probability", "block"]
    pd.DataFrame(pairs, columns=columns).to_csv(folder / "pairs.csv", index=False)
    (folder / "scores").mkdir()
    table = pd.DataFrame(scores, columns=["system", "query_id", "result_id", "score"])
    for name, part in table.groupby("system"):
        part.to_csv(folder / "scores" / f"{name}.csv", index=False)
    # which pages are handed out is chance, by which equal systems reach a bound of .05 now and then
    rare = "error = 0.001\n" if alike else ""
    (folder / "study.toml").write_text(TOML.format(each=each) + rare + looks)
    prepare(folder, Store.of_study(folder))
    return folder


def rated(folder: Path, raters: int) -> None:
    """So many more raters give every result the grade that it says, or the next one."""
    app = create_app(folder)
    for number in range(raters):
        draw, browser = np.random.default_rng(number), Browser(app)
        browser.join()
        while browser.address.startswith("/rate"):
            grades = re.findall(r"of grade (\d)", re.sub(r"<[^>]*>", " ", browser.html))
            noisy = [int(np.clip(int(grade) + draw.integers(0, 2), 1, 5)) for grade in grades]
            browser.rate(lambda name, place, noisy=noisy: str(noisy[place - 1]))  # type: ignore[misc]
        assert browser.address == "/thanks"
