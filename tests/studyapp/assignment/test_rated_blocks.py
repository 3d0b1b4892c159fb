"""An edited study.toml never puts ratings on another scale, or into another pool, than they were given on."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import prepare
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import joined
from tests.studyapp.studies import TOML, Made

pytestmark = pytest.mark.slow
NINE = TOML.replace('pairs = "base"\n', 'pairs = "base"\nscale = "1-9"\n')


@pytest.fixture
def rated(make_study: Callable[..., Made]) -> Made:
    """A study whose base block has eight ratings of 5, on 1-5."""
    made = make_study()
    browser = joined(made.app)
    for _ in range(2):
        browser.rate(lambda name, number: "5")
    return made


def edit(made: Made, toml: str) -> None:
    (made.folder / "study.toml").write_text(toml, encoding="utf-8")


def test_eight_fives_on_1_5_are_never_exported_as_1_9(rated: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", rated.store.url.render_as_string(hide_password=False))
    edit(rated, NINE)
    with pytest.raises(
        RelstudyError, match=r"'base' asks on the scale 1-9 \(1 to 9\) and has 8 ratings on the scale 1-5"
    ):
        prepare(rated.folder, rated.store)
    succeeds("backup", rated.folder)
    for command in ("export", "status"):
        refused = relstudy(command, rated.folder)
        assert refused.exit_code == 1 and "put that scale back" in refused.output, (command, refused.output)
    assert not (rated.folder / "ratings.csv").exists()
    edit(rated, TOML)
    succeeds("export", rated.folder)
    table = pd.read_csv(rated.folder / "ratings.csv")
    assert set(table["rating"]) == {5} and set(table["scale_high"]) == {5}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "base"', 'name = "first"', "block 'base' is gone and has 8 ratings; put it back"),
        ('pairs = "base"', 'pairs = "unique"', "block 'base' has 8 ratings of other pairs than it names now"),
    ],
)
def test_a_block_with_ratings_keeps_its_name_and_its_pool(rated: Made, old: str, new: str, words: str) -> None:
    edit(rated, TOML.replace(old, new, 1))
    with pytest.raises(RelstudyError, match=words):
        prepare(rated.folder, rated.store)
    edit(rated, TOML)
    prepare(rated.folder, rated.store)


def test_what_nobody_has_rated_may_change(rated: Made, make_study: Callable[..., Made]) -> None:
    untouched = make_study()
    edit(untouched, NINE)
    prepare(untouched.folder, untouched.store)
    edit(untouched, NINE.replace('name = "base"', 'name = "first"'))
    prepare(untouched.folder, untouched.store)
    # a block nobody has reached, a question's words, how many pairs a rater gets
    edit(rated, TOML.replace("pairs_per_rater = 8", 'pairs_per_rater = 4\nscale = "binary"\nquestion = "Is it?"'))
    prepare(rated.folder, rated.store)


def test_the_scale_first_asked_is_what_counts_even_after_several_edits(rated: Made) -> None:
    edit(rated, NINE)
    for _ in range(2):
        with pytest.raises(RelstudyError, match="on the scale 1-5"):
            prepare(rated.folder, rated.store)
