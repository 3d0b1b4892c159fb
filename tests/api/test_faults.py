"""What a notebook may hand over by mistake: each public function answers in one sentence, and with no figure."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from tests.commands import relstudy
from tests.places import EXAMPLE

KEYWORDS = EXAMPLE / "scores" / "keywords.csv"
Table = Callable[[pd.DataFrame], Any]


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype={"query_id": str, "result_id": str, "rater_id": str})


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    """Each kind of table, small."""
    judgments = read(EXAMPLE / "judgments.csv").head(60)
    ratings = read(EXAMPLE / "ratings.csv")
    pairs = judgments[["query_id", "result_id"]]
    return {
        "ratings": ratings.merge(pairs, on=["query_id", "result_id"]),
        "judgments": judgments,
        "scores": read(KEYWORDS).merge(pairs, on=["query_id", "result_id"]),
        "collection": pd.DataFrame({"item_id": [f"i{n}" for n in range(6)], "text": "words", "keywords": "a b"}),
    }


USES: dict[str, tuple[str, Callable[[pd.DataFrame, dict[str, pd.DataFrame]], Any]]] = {
    "read_ratings": ("ratings", lambda table, _: rs.read_ratings(table)),
    "calibrate": ("ratings", lambda table, _: rs.calibrate(table)),
    "plan ratings": ("ratings", lambda table, _: rs.plan(table, studies=20)),
    "fit judgments": ("judgments", lambda table, given: rs.fit(given["scores"], table, method="isotonic")),
    "fit scores": ("scores", lambda table, given: rs.fit(table, given["judgments"], method="isotonic")),
    "score judgments": ("judgments", lambda table, given: rs.score(given["scores"], table, replicates=5)),
    "score scores": ("scores", lambda table, given: rs.score(table, given["judgments"], replicates=5)),
    "score by name": ("scores", lambda table, given: rs.score({"new": table}, given["judgments"], replicates=5)),
    "sample": ("collection", lambda table, _: rs.sample(table, "keywords", queries=2, results=2, base=2)),
}
NEEDED = {
    "ratings": ("rater_id", "query_id", "result_id", "rating"),
    "judgments": ("query_id", "result_id", "judgment"),
    "scores": ("query_id", "result_id"),
    "collection": ("item_id",),
}
NUMBER = {"ratings": "rating", "judgments": "judgment", "scores": "score", "collection": "item_id"}


def refusal(use: str, table: Any, tables: dict[str, pd.DataFrame]) -> str:
    with pytest.raises(rs.RelstudyError) as caught:
        USES[use][1](table, tables)
    return str(caught.value)


@pytest.mark.parametrize("use", USES)
def test_a_dataframe_that_lacks_a_column_is_told_which(use: str, tables: dict[str, pd.DataFrame]) -> None:
    kind = USES[use][0]
    for column in NEEDED[kind]:
        assert column in refusal(use, tables[kind].drop(columns=column), tables)


@pytest.mark.parametrize("use", USES)
def test_a_dataframe_without_rows_or_without_columns_is_refused(use: str, tables: dict[str, pd.DataFrame]) -> None:
    kind = USES[use][0]
    assert refusal(use, tables[kind].head(0), tables)
    assert refusal(use, pd.DataFrame(), tables)


@pytest.mark.parametrize("use", [use for use in USES if use != "sample"])
@pytest.mark.parametrize("value", ["good", np.inf, "", [1], {"a": 1}, complex(1, 2), "1,5"])
def test_a_value_that_is_no_number_is_named_with_its_row(
    use: str, value: object, tables: dict[str, pd.DataFrame]
) -> None:
    kind = USES[use][0]
    table = tables[kind].astype({NUMBER[kind]: object}).reset_index(drop=True)
    table.at[3, NUMBER[kind]] = value
    if value == "" and kind == "ratings":
        if use != "plan ratings":  # which would simulate
            USES[use][1](table, tables)  # undecided
        return
    assert f"row 3, column {NUMBER[kind]}" in refusal(use, table, tables)


@pytest.mark.parametrize("use", USES)
def test_a_column_that_stands_there_twice_is_refused(use: str, tables: dict[str, pd.DataFrame]) -> None:
    kind = USES[use][0]
    table = tables[kind]
    twice = pd.concat([table, table[[NEEDED[kind][0]]]], axis=1)
    assert "more than once" in refusal(use, twice, tables)


@pytest.mark.parametrize("use", [use for use in USES if use != "sample"])
def test_an_id_that_is_missing_is_refused(use: str, tables: dict[str, pd.DataFrame]) -> None:
    kind = USES[use][0]
    table = tables[kind].astype({"query_id": object}).reset_index(drop=True)
    table.at[2, "query_id"] = None
    assert "row 2, column query_id" in refusal(use, table, tables)


@pytest.mark.parametrize("wrong", [None, 3, [1, 2], np.zeros((2, 2)), {"a": [1]}, object(), pd.Series([1])])
@pytest.mark.parametrize("use", USES)
def test_what_is_neither_a_path_nor_a_table_is_refused(
    use: str, wrong: object, tables: dict[str, pd.DataFrame]
) -> None:
    if not (use == "plan ratings" and wrong is None):
        assert "a path or a pandas DataFrame" in refusal(use, wrong, tables)


@pytest.mark.parametrize("path", ["nowhere.csv", "", ".", Path("nowhere")])
@pytest.mark.parametrize("use", USES)
def test_a_path_that_leads_nowhere_is_refused(use: str, path: Any, tables: dict[str, pd.DataFrame]) -> None:
    assert refusal(use, path, tables)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda t: rs.calibrate(t["ratings"], method="magic"),
            "method: choose 'pooled', 'crossed', 'shrunk', 'zscore', 'mean', 'none', 'p910', 'p913', "
            "'ordinal', 'rasch', 'dawid-skene', 'glad' or 'mace', not",
        ),
        (lambda t: rs.fit(t["scores"], t["judgments"], method="magic"), "'best', not 'magic'"),
        (lambda t: rs.fit(t["scores"], t["judgments"], folds=1), "folds"),
        (lambda t: rs.score(t["scores"], t["judgments"], measures=("RBQ",), replicates=5), "'RBQ'"),
        (lambda t: rs.score(t["scores"], t["judgments"], measures=("P@0",), replicates=5), "'P@0'"),
        (
            lambda t: rs.score(t["scores"], t["judgments"], replicates=0),
            "replicates: a whole number from 1 to 1,000,000 is needed",
        ),
        (lambda t: rs.score(t["scores"], t["judgments"], level=1.5), "level"),
        (lambda t: rs.score(t["scores"], t["judgments"], weights="heavy"), "weights"),
        (lambda t: rs.score(t["scores"], t["judgments"], threshold=float("nan")), "threshold"),
        (lambda t: rs.score({}, t["judgments"]), "there is no system"),
        (lambda t: rs.sample(t["collection"], "magic"), "there is no system 'magic'"),
        (
            lambda t: rs.sample(t["collection"], "keywords", queries=-1),
            "queries: a whole number from 0 is needed, not -1",
        ),
        (lambda t: rs.plan(correlations=(2, 0.1), studies=20), "correlation"),
        (lambda t: rs.plan(correlations=(0.5,), studies=20), "two"),
        (lambda t: rs.inspect("nowhere.csv"), "file not found"),
        (lambda t: rs.read_mappings("nowhere"), "nowhere"),
    ],
)
def test_an_option_that_cannot_be_is_named(call: Callable[[Any], Any], said: str, tables: dict[str, Any]) -> None:
    with pytest.raises(rs.RelstudyError) as caught:
        call(tables)
    assert said in str(caught.value)


CALLS: dict[str, Callable[..., Any]] = {
    "calibrate": lambda t, **given: rs.calibrate(t["ratings"], **given),
    "fit": lambda t, **given: rs.fit(t["scores"], t["judgments"], method="isotonic", **given),
    "score": lambda t, **given: rs.score(t["scores"], t["judgments"], **given),
    "judge": lambda t, **given: rs.judge(t["ratings"], t["judgments"], **given),
    "join": lambda t, **given: rs.join(**{"judgments": {"a": t["judgments"]}, **given}),
    "sample": lambda t, **given: rs.sample(t["collection"], **{"systems": "keywords", **given}),
    "plan": lambda _, **given: rs.plan(**given),
    "couples": lambda _, **given: rs.couples("nowhere", **given),
}


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        *((name, {"seed": 2.5}, "seed: a whole number .*is needed, not 2.5") for name in CALLS if name != "calibrate"),
        *((name, {"seed": -1}, "seed: a whole number from 0 is needed") for name in CALLS if name != "calibrate"),
        ("calibrate", {"clip": "no"}, "clip: True or False is needed, not 'no'"),
        ("calibrate", {"scale": 5}, "scale: a text is needed, not 5"),
        ("calibrate", {"columns": ["rater_id"]}, "columns: a dict of texts or tuples is needed, not a list"),
        ("calibrate", {"columns": {"worker": 3}}, "not a dict in which 'worker' is 3"),
        ("calibrate", {"missing": ["NA", None]}, "not a list with None in it"),
        ("calibrate", {"pairs": 3}, "the pairs: a path or a pandas DataFrame is needed, not 3"),
        ("fit", {"only": "keywords"}, "only: a list of texts or None is needed, not 'keywords'"),
        ("fit", {"folds": "5"}, "folds: a whole number from 2 is needed, not '5'"),
        ("fit", {"folds": True}, "folds: a whole number from 2 is needed, not True"),
        ("score", {"ratings": 3}, "the ratings: a path or a pandas DataFrame is needed"),
        ("score", {"judge": [1]}, "the judge: a path or a pandas DataFrame is needed"),
        ("score", {"mappings": {"keywords": 3}}, "mappings: .*a dict of FittedMappings .* in which 'keywords' is 3"),
        ("score", {"threshold": "3"}, "threshold: a number is needed, not '3'"),
        ("score", {"measures": [np.zeros(2)]}, "not a measure that ir-measures knows"),
        ("join", {"judgments": ["judgments.csv"]}, "judgments: a dict is needed, not a list"),
        ("sample", {"systems": 3}, "the systems: a path or a pandas DataFrame is needed"),
        ("sample", {"text_queries": -1}, "text_queries: a whole number from 0 is needed, not -1"),
        ("plan", {"correlations": 0.5}, "correlations: a list of numbers is needed, not 0.5"),
        ("plan", {"weight_spread": -2.0}, "weight_spread: a number from 0 is needed, not -2.0"),
        ("plan", {"cost_per_rating": float("nan")}, "cost_per_rating: a number from 0 is needed, not nan"),
    ],
)
def test_an_argument_of_another_type_is_named_with_what_it_takes(
    name: str, given: dict[str, Any], said: str, tables: dict[str, pd.DataFrame]
) -> None:
    with pytest.raises(rs.RelstudyError, match=said):
        CALLS[name](tables, **given)


def test_whole_numbers_of_numpy_arrays_and_ids_that_are_numbers_are_taken(tables: dict[str, pd.DataFrame]) -> None:
    fitted = rs.fit(
        tables["scores"], tables["judgments"], method="isotonic", folds=np.int64(2), leave_out=np.array([], str)
    )
    assert list(fitted) == ["keywords"]
    numbered = tables["collection"].assign(item_id=range(6))
    assert set(rs.sample(numbered, "keywords", given=[1, 2], results=2, base=2).pairs["query_id"]) == {"1", "2"}


def test_a_name_that_is_not_in_a_result_is_not_in_it(tables: dict[str, pd.DataFrame]) -> None:
    fitted = rs.fit(tables["scores"], tables["judgments"], method="isotonic")
    assert "keywords" in fitted
    assert "magic" not in fitted
    assert fitted.get("magic") is None
    with pytest.raises(rs.RelstudyError, match="there is no mapping of a system 'magic'; there are: keywords"):
        fitted["magic"]
    parts = rs.calibrate_by(tables["ratings"].assign(part="one"), "part", method="mean")
    assert parts.get("two") is None
    with pytest.raises(rs.RelstudyError, match="there is no part 'two'; there are: one"):
        parts["two"]


def test_the_way_out_of_a_dataframe_is_an_argument_and_not_an_option(tables: dict[str, pd.DataFrame]) -> None:
    said = refusal("score judgments", tables["judgments"].assign(judgment=True), tables)
    assert "(missing=['True'] takes it for no answer, values={'True': NUMBER} gives it a number)" in said
    graded = tables["judgments"][["query_id", "result_id"]].assign(judgment=[99.0, *[1.0, 2.0, 3.0] * 19, 1.0, 2.0])
    said = refusal("score judgments", graded, tables)
    assert "missing=['99'] says so, and scale='1-99' that it counts" in said
    assert "--" not in said


@pytest.mark.parametrize("name", ["a\u202eb", "a\x1b[31mb", "a\nb"])
def test_a_name_that_would_be_shown_as_another_is_refused_with_its_signs_written_out(
    name: str, tables: dict[str, pd.DataFrame]
) -> None:
    scores = tables["scores"].rename(columns={"keywords": name})
    if "system" in scores:
        scores = scores.assign(system=name)
    for given in (scores, {name: tables["scores"]}):
        assert f"the name of a system may hold no control character, and {name!r} does" in refusal(
            "score scores", given, tables
        )
    assert "the name of a rater may hold" in refusal("calibrate", tables["ratings"].assign(rater_id=name), tables)


def test_messages_name_arguments_in_python_and_options_in_a_command(tmp_path: Path) -> None:
    pairs = pd.DataFrame({"query_id": list("aabb"), "result_id": list("wxyz")})
    scores, judgments = pairs.assign(new=[1.0, 2, 3, 4]), pairs.assign(judgment=[1, 2, 3, 5])
    with pytest.raises(rs.RelstudyError, match=r"say so to go on \(allow_low_coverage=True\)"):
        rs.score(scores.head(1), judgments)
    with pytest.raises(rs.RelstudyError, match=r"\(correlation='judged' counts the judged pairs equally\)"):
        rs.score(scores, judgments, correlation="collection")
    with pytest.raises(rs.RelstudyError, match=r"^direction: there is no system named 'old' in the scores"):
        rs.fit(scores, judgments, direction={"old": "lower"})
    pairs.assign(worker="a", rating=1).to_csv(tmp_path / "ratings.csv")
    with pytest.raises(rs.RelstudyError, match=r"columns=\{'NAME': 'rater_id'\} names it"):
        rs.read_ratings(tmp_path / "ratings.csv")
    with pytest.raises(rs.RelstudyError, match=r"^the ratings, column rater_id: .*the DataFrame has: .*columns="):
        rs.read_ratings(pairs.assign(worker="a", rating=1))
    printed = relstudy("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out")
    assert "--columns rater_id=NAME names it" in printed.stderr


def test_public_functions_are_pickled_by_their_public_names() -> None:
    assert pickle.loads(pickle.dumps(rs.score)) is rs.score


def test_a_checked_judge_says_how_tables_were_read() -> None:
    pairs = pd.DataFrame({"query_id": list("aabb"), "result_id": list("wxyz")})
    judgments = pairs.assign(judgment=[5, 1, 4, 2], inclusion_probability=0.5)
    scores = pairs.assign(new=[1.0, 2, 3, 4], remark="words")
    checked = rs.judge(pairs.assign(rating=[1, 0, 1, 0]), judgments, scores=scores, replicates=20)
    assert any("do not hold numbers: remark" in note for note in checked.notes)
    assert set(checked.notes) <= set(checked.remarks())


def test_a_list_that_is_none_of_paths_is_refused_with_what_is_taken(tables: dict[str, pd.DataFrame]) -> None:
    for given in ([], [1, 2]):
        with pytest.raises(rs.RelstudyError, match=r"one for each system's name, as \{'new': 'new.run'\}, not a list"):
            rs.score(given, tables["judgments"])  # type: ignore[arg-type]
