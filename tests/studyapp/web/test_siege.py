"""The siege of evidence/siege.py, in small: what is acknowledged is exported, whatever happens to server and disk."""

from __future__ import annotations

import threading
from pathlib import Path

import pandas as pd
import pytest

from evidence.siege import FAULTS, STAGES, Patient, Size, besiege, compared, databases, someone_is_served


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(
    ("name", "asked"),
    [("sqlite", STAGES), pytest.param("postgresql", ("kills", "disk"), marks=pytest.mark.postgresql)],
)
def test_honest_raters_lose_nothing_while_the_study_is_besieged(
    name: str, asked: tuple[str, ...], tmp_path: Path
) -> None:
    with databases([name], tmp_path) as found:
        (database,) = found.values()
        outcome = besiege(tmp_path / name, database, Size(raters=3, seconds=0.3, queries=60, stages=asked))
    assert outcome.troubles == []
    assert outcome.exported == outcome.acknowledged and outcome.is_whole, outcome.row()
    assert [stage.name for stage in outcome.stages] == list(asked)
    stages = {stage.name: stage for stage in outcome.stages}
    assert stages["kills"].done["workers killed"] >= 1
    assert "half-open" not in stages or stages["half-open"].done["sockets"] > 1024
    assert all(stages["disk"].done[what] >= 1 for what in FAULTS), stages["disk"].done
    assert all(stage.acknowledged > 0 for stage in outcome.stages), "somebody is served in every stage"


def test_a_database_that_gives_up_after_it_was_looked_at_is_started_again_while_nobody_is_served() -> None:
    person, looks = Patient(0, 1, threading.Event()), iter([False, True])

    def revive() -> bool:
        person.acknowledged += 4 * (started := next(looks))
        return started

    assert someone_is_served([person], revive, patience=10.0) == 1


def test_what_is_lost_changed_or_was_never_acknowledged_is_counted() -> None:
    people = [Patient(0, number, threading.Event()) for number in range(7)]
    for person, count in zip(people, (8, 8, 8, 8, 8, 4, 12), strict=True):
        person.acknowledged = count
    given = [(f"r{person.name}", person.choice) for person in people for _ in range(person.acknowledged)]
    table = pd.DataFrame(given, columns=["rater_id", "rating"])
    assert compared(table, people) == (0, 0, 0)
    assert compared(table.iloc[1:], people) == (1, 0, 0)
    assert compared(pd.concat([table, table.iloc[-2:]]), people) == (0, 2, 0)
    table.loc[3, "rating"] = 5
    assert compared(table, people) == (0, 0, 1)
    assert compared(table[table["rater_id"] != f"r{people[3].name}"], people) == (8, 0, 1)
