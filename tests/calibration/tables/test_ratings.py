"""The ratings table: what is taken, what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.calibration.tables.judgments import read_judgments
from relstudy.calibration.tables.ratings import Ratings, read_ratings
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.pair_assignment import HandOut
from tests.places import Write

HEADER = "rater_id,query_id,result_id,rating"


def refused(path: Path, **options: object) -> str:
    with pytest.raises(RelstudyError) as caught:
        read_ratings(path, **options)  # type: ignore[arg-type]
    return str(caught.value).replace(str(path), "FILE")


def test_the_four_columns_are_enough(write: Write) -> None:
    ratings = read_ratings(write(f"{HEADER}\na,q,x,4\nb,q,x,\na,q,y,2"))
    assert ratings.frame["rating"].fillna(-1).tolist() == [4, -1, 2]
    assert (ratings.scale.how, ratings.scale.scale.low, ratings.scale.scale.high) == ("values", 1, 4)
    assert "scale 1-4 (taken from the ratings, which run from 2 to 4)" in ratings.scale.sentence()
    assert ratings.base_rule is None
    assert not ratings.frame["base"].any()


def test_a_base_block_that_nobody_declared_needs_a_size_unless_all_rated_everything(write: Write) -> None:
    def rows(shared: int, alone: int) -> str:
        both = [f"{rater},q,x{i},{1 + i % 5}" for rater in "ab" for i in range(shared)]
        return "\n".join([HEADER, *both, *(f"a,q,y{i},3" for i in range(alone))])

    few = read_ratings(write(rows(3, 20)))
    assert (few.base_rule, few.frame["base"].any()) == (None, False)
    assert "the 3 pairs that every rater rated are too few for a base block: it needs 10" in few.notes[-1]
    assert read_ratings(write(rows(10, 20))).base_rule == "the 10 pairs that every rater rated"
    assert read_ratings(write(rows(3, 0))).base_rule == "the 3 pairs that every rater rated"


def test_ids_stay_text_with_their_leading_zeros(write: Write) -> None:
    frame = read_ratings(write(f"{HEADER}\n007,01,1e3,4\n7,1,1000,3")).frame
    assert frame["rater_id"].tolist() == ["007", "7"]
    assert frame["result_id"].tolist() == ["1e3", "1000"]


def test_a_missing_column_is_named_with_those_that_are_there(write: Write) -> None:
    message = refused(write("rater_id,query_id,rating\na,q,1"))
    assert message == (
        "FILE, row 1, column result_id: this column is required (the file has: rater_id, query_id, rating); "
        "--columns result_id=NAME names it; relstudy inspect names what it may be"
    )
    assert "column rating: this column is required" in (several := refused(write("query_id,result_id\nq,x")))
    assert "--columns rating=NAME names it" in several


def test_every_fault_is_listed_with_row_column_value_and_what_is_allowed(write: Write) -> None:
    message = refused(write(f"{HEADER},scale,block\na,q,x,9,1-5,base\n,q,x,four,1-5,bse\nb,,x,3,1-5,"))
    assert message.splitlines() == [
        "FILE, row 2, column rating: '9' is not allowed; a number from 1 to 5 is allowed, or empty (--missing 9 "
        "takes it for no answer, --scale LOW-HIGH states another scale)",
        "FILE, row 3, column rater_id: '' is not allowed; a value is required",
        "FILE, row 3, column rating: 'four' is not allowed; a number from 1 to 5 is allowed, or empty (--missing four "
        'takes it for no answer, --values "four=NUMBER" gives it a number)',
        "FILE, row 3, column block: 'bse' is not allowed; base or unique is allowed (or check, repeat, practice)",
        "FILE, row 4, column query_id: '' is not allowed; a value is required",
    ]


def test_only_the_first_twenty_faults_are_shown_and_the_rest_counted(write: Write) -> None:
    rows = "\n".join(f"a,q,x{i},bad{i}" for i in range(1000))
    lines = refused(write(f"{HEADER}\n{rows}")).splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("FILE, row 2,")
    assert lines[-1] == "... and 980 more faults"


def test_contradictory_rows_of_one_rater_and_pair_are_refused(write: Write) -> None:
    message = refused(write(f"{HEADER}\na,q,x,4\nb,q,x,2\na,q,x,5\nb,q,x,"))
    assert message.splitlines() == [
        "FILE, row 4, column rating: '5' is not allowed; rater a already rated this pair 4 in row 2; "
        "keep one of the two",
        "FILE, row 5, column rating: 'undecided' is not allowed; rater b already rated this pair 2 in row 3; "
        "keep one of the two",
    ]


def test_identical_rows_are_merged_and_counted(write: Write) -> None:
    ratings = read_ratings(write(f"{HEADER}\na,q,x,4\na,q,x,4.0\nb,q,x,\nb,q,x,"))
    assert len(ratings.frame) == 2
    assert ratings.merged == 2
    assert ratings.notes == ("2 rows repeated an earlier row exactly and were merged",)


def test_mixed_scales_are_refused(write: Write) -> None:
    message = refused(write(f"{HEADER},scale\na,q,x,4,1-5\nb,q,x,3,1-5\na,q,y,1,binary"))
    assert message == (
        "FILE, row 4, column scale: 'binary' is not allowed; one calibration takes one scale, and this table mixes 1-5 "
        "(2 rows), binary (1 row); --by scale takes each by itself"
    )


def test_ratings_that_are_all_undecided_are_refused(write: Write) -> None:
    assert refused(write(f"{HEADER}\na,q,x,\nb,q,x,")) == (
        "FILE: every rating is empty (undecided); there is nothing to calibrate"
    )


def test_a_table_without_rows_is_refused(write: Write) -> None:
    assert refused(write(HEADER)) == "FILE: there are no ratings below the header"


def test_a_slot_column_or_a_column_an_answer_is_no_rater(write: Write) -> None:
    assert "column slot: a slot is not a rater" in refused(write("slot,query_id,result_id,rating\n1,q,x,3"))
    wide = write("query_id,result_id,rating_1,rating_2\nq,x,3,4")
    assert "columns rating_1, rating_2: a slot is not a rater" in refused(wide)


def sorted_rows(raters: int = 3) -> str:
    rng = np.random.default_rng(0)
    rows = []
    for pair in range(60):
        for slot, rating in enumerate(sorted(rng.integers(1, 6, raters))):
            rows.append(f"person{slot},q,x{pair},{rating}")
    return "\n".join([HEADER, *rows])


def test_answers_sorted_within_each_pair_are_refused_unless_trusted(write: Write) -> None:
    path = write(sorted_rows())
    message = refused(path)
    assert "stand in the same order, which people never do: these are sorted slots, not raters" in message
    assert read_ratings(path, trust_raters=True).frame["rater_id"].nunique() == 3


def test_a_strict_and_a_lenient_person_are_not_taken_for_sorted_slots(write: Write) -> None:
    rng = np.random.default_rng(1)
    worth = rng.normal(3, 1, 60)
    seen = {"strict": worth - 0.5, "lenient": worth + 0.5}
    rows = [
        f"{name},q,x{i},{int(np.clip(round(value + rng.normal(0, 0.7)), 1, 5))}"
        for name, values in seen.items()
        for i, value in enumerate(values)
    ]
    assert len(read_ratings(write("\n".join([HEADER, *rows]))).frame) == 120


def test_the_base_block_is_the_block_column_then_the_named_column_then_what_all_rated(
    write: Write,
) -> None:
    rows = f"{HEADER},block,common\na,q,x,4,base,no\nb,q,x,4,base,no\na,q,y,3,unique,yes\nb,q,y,3,unique,yes"
    both = read_ratings(write(rows), base_column="common")
    assert both.base_rule == "column block"
    assert both.notes == ("column block marks the base block, so common is not asked",)
    named = read_ratings(write(rows.replace("block", "part")), base_column="common")
    assert (named.base_rule, named.frame["base"].tolist()) == ("column common", [False, False, True, True])
    assert read_ratings(write(rows.replace("block", "part"))).base_rule == "the 2 pairs that every rater rated"


def test_a_base_column_must_exist_hold_yes_or_no_and_mark_something(write: Write) -> None:
    rows = f"{HEADER},common\na,q,x,4,{{}}\nb,q,x,4,0"
    assert "column nothing: this column is required" in refused(write(rows.format("1")), base_column="nothing")
    assert "'maybe' is not allowed; true or false" in refused(write(rows.format("maybe")), base_column="common")
    assert "no row is true" in refused(write(rows.format("0")), base_column="common")


def test_a_pair_is_in_the_base_block_for_everyone_or_no_one(write: Write) -> None:
    message = refused(write(f"{HEADER},block\na,q,x,4,base\nb,q,x,4,unique"))
    assert message == (
        "FILE, row 3: 'not base' is not allowed; query_id q, result_id x is marked the other way in an earlier row; a "
        "pair is in the base block for everyone or for no one"
    )


def test_a_pair_id_keeps_its_query_and_result(write: Write) -> None:
    message = refused(write(f"{HEADER},pair_id\na,q,x,4,p1\nb,q,y,4,p1"))
    assert "row 3, column result_id: 'y' is not allowed; a pair_id must keep its query_id and result_id" in message


def test_checks_repeats_and_practice_of_the_app_are_set_aside(write: Write) -> None:
    rows = f"{HEADER},block\na,q,x,4,base\nb,q,x,3,base\na,q,x,1,repeat\nb,q,z,5,check\na,q,y,2,unique"
    ratings = read_ratings(write(rows))
    assert (len(ratings.frame), ratings.aside) == (3, 2)
    assert ratings.notes == ("2 rows of block check, repeat left out: these are not ratings to calibrate",)


@pytest.mark.parametrize(
    ("unique", "recorded"),
    [
        ("random", HandOut.RANDOM),
        ("fixed", HandOut.FIXED),
        ("", None),
        ("at random over the pool", HandOut.RANDOM),  # as exports wrote it before
    ],
)
def test_the_record_of_how_unique_pairs_were_handed_out_is_read(
    write: Write, unique: str, recorded: HandOut | None
) -> None:
    for base in ("", "to everyone"):
        rows = f"{HEADER},block,handed_out\na,q,x,4,base,{base}\nb,q,x,3,base,{base}\na,q,y,2,unique,{unique}"
        assert read_ratings(write(rows)).handed_out is recorded


@pytest.mark.parametrize("value", ["random blocks by topic", "by file order", "not at random", "Random"])
def test_other_words_for_hand_out_are_refused_and_not_interpreted(write: Write, value: str) -> None:
    rows = f"{HEADER},handed_out\na,q,x,4,\nb,q,x,3,\na,q,y,2,{value}"
    assert (
        refused(write(rows))
        == f"FILE, row 4, column handed_out: {value!r} is not allowed; random or fixed is allowed, or empty"
    )


def test_a_record_for_the_base_block_says_nothing_of_unique_pairs_and_one_fixed_pair_makes_it_fixed() -> None:
    frame = pd.DataFrame({"rater_id": list("aba"), "query_id": "q", "result_id": list("xxy"), "rating": [4, 3, 2]})
    records: tuple[tuple[list[str | None], HandOut | None], ...] = (
        (["to everyone", "to everyone", "at random over the pool"], HandOut.RANDOM),
        (["random", "fixed", "random"], HandOut.FIXED),
        ([None, None, "random"], HandOut.RANDOM),
        ([None, None, None], None),
    )
    for values, recorded in records:
        table = Checked(frame.assign(handed_out=pd.Series(values, dtype=object)), "ratings")
        assert read_ratings(table).handed_out is recorded


def test_parquet_gives_the_same_ratings_as_csv(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"rater_id": [1, 2, 1], "query_id": ["q"] * 3, "result_id": [10, 10, 11], "rating": [4.0, np.nan, 2.0]}
    )
    frame.to_csv(tmp_path / "r.csv", index=False)
    frame.to_parquet(tmp_path / "r.parquet")
    one: Ratings = read_ratings(tmp_path / "r.csv")
    other: Ratings = read_ratings(tmp_path / "r.parquet")
    assert one.frame["rater_id"].tolist() == other.frame["rater_id"].tolist() == ["1", "2", "1"]
    assert one.frame["rating"].equals(other.frame["rating"])


def test_raters_whose_ids_are_written_almost_alike_are_named(tmp_path: Path) -> None:
    """7 and 007 from two exports are one person, and nothing said that they were taken for two."""
    path = tmp_path / "r.csv"
    path.write_text("rater_id,query_id,result_id,rating\n7,q,x,1\n007,q,y,2\nAnn,q,x,3\nann,q,y,4\n70,q,z,5\n")
    said = "raters with nearly the same id are taken as different people: 7 and 007, Ann and ann"
    assert said in read_ratings(path).notes
    assert said in read_judgments(path).notes
    path.write_text("rater_id,query_id,result_id,rating\n7,q,x,1\n77,q,y,2\n10,q,x,3\n100,q,y,4\n")
    assert not any("nearly the same id" in note for note in read_ratings(path).notes)
