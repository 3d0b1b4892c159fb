"""A rater can be asked for more unique pairs than others are (Shirahatti and Barnard 2005, section 5.6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.next_page import next_step
from relstudy.studyapp.assignment.sequence import start
from relstudy.studyapp.cli import main
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made


def invited(desk: Desk, extra_pairs: int) -> int:
    """A person who came by a personal link with so many extra pairs."""
    invite(desk.store, desk.study, 1, extra_pairs)
    with desk.store.write() as connection:
        rater = read_raters(connection)[-1].id
        start(desk.visit(connection, rater))
    return rater


def made_of(make_study: Callable[..., Made], per_rater: str, queries: int = 6) -> Made:
    text = toml(per_rater=per_rater, page=4).replace('rules = ["open"]', 'rules = ["open", "personal"]')
    return make_study(text, base_queries=0, unique_queries=queries)


@pytest.mark.slow
def test_whoever_was_invited_with_extra_pairs_rates_so_many_more(make_study: Callable[..., Made]) -> None:
    desk = Desk(made_of(make_study, "4"))
    plain, author = desk.newcomer("plain"), invited(desk, 10)
    # pages of four: one for everyone, and ten pairs more are three further pages
    assert desk.work_through(plain) == 1
    assert desk.work_through(author) == 1 + 3


def test_extra_pages_that_others_hold_are_waited_for(make_study: Callable[..., Made]) -> None:
    desk = Desk(made_of(make_study, "4", queries=3))
    others = [desk.newcomer("one"), desk.newcomer("other")]
    positions = [desk.next(rater) for rater in others]
    author = invited(desk, 4)
    desk.answer(author, desk.next(author))

    def step() -> str:
        with desk.store.write() as connection:
            return next_step(desk.visit(connection, author)).name

    # the author has had a page as everyone, and the two that are left may come back from those who opened them
    assert step() == "wait"
    for rater, position in zip(others, positions, strict=True):
        desk.answer(rater, position)
    assert step() == "thanks"


def test_extra_pairs_need_a_number_to_go_beyond(make_study: Callable[..., Made]) -> None:
    desk = Desk(made_of(make_study, '"all"'))
    with pytest.raises(RelstudyError, match="no block of unique pairs with a number"):
        invite(desk.store, desk.study, 1, 10)


def test_the_command_says_what_the_links_ask_for(make_study: Callable[..., Made]) -> None:
    folder: Path = made_of(make_study, "4").folder
    run = CliRunner().invoke
    done = run(main, ["invite", str(folder), "-n", "1", "--extra-pairs", "10"])
    assert done.exit_code == 0 and "asked for 10 unique pairs more than others" in done.stdout
    assert len(json.loads(run(main, ["invite", str(folder), "-n", "1", "--json"]).stdout)["personal"]) == 1
    assert run(main, ["invite", str(folder), "--extra-pairs", "10"]).exit_code == 2
