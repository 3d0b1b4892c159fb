"""A study that is changed while it is served: one version for all servers, and never two mixed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.exclusion import set_aside, take_back
from relstudy.studyapp.assignment.synchronisation import change_study, prepare
from relstudy.studyapp.assignment.versions import read_head
from relstudy.studyapp.cli import main
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments, raters, ratings
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.site import Site
from relstudy.studyapp.web.starting import take_over
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made

pytestmark = pytest.mark.slow
ALL = TOML.replace("pairs_per_rater = 8", 'pairs_per_rater = "all"')
NINE = ALL.replace('name = "unique"', 'name = "unique"\nscale = "1-9"')


def edit_pairs(made: Made, change: Callable[[list[str]], list[str]]) -> None:
    path = made.folder / "pairs.csv"
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")


def edit_toml(made: Made, toml: str) -> None:
    (made.folder / "study.toml").write_text(toml, encoding="utf-8")


def without(*pair_ids: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [line for line in lines if line.split(",")[0] not in pair_ids]


def at_work(made: Made, pages: int = 2) -> Browser:
    """A rater who has answered so many pages, of which the first two are the base block."""
    browser = joined(made.app)
    for _ in range(pages):
        browser.rate()
    return browser


def pairs_in_hand(made: Made) -> list[str]:
    """The pairs of the page that is next for the one rater there is."""
    waiting = sa.select(assignments.c.pair_ids).where(assignments.c.answered_at.is_(None))
    with made.store.read() as connection:
        return list(connection.execute(waiting.order_by(assignments.c.position)).scalars().first() or [])


def test_a_worker_that_starts_later_asks_what_its_neighbours_ask(make_study: Callable[..., Made]) -> None:
    made = make_study(ALL)
    browser = at_work(made)
    edit_toml(made, NINE)
    (made.folder / "pairs.csv").write_text("half a file")
    later = create_app(made.folder, store=made.store)
    for app in (made.app, later, made.app, later):
        browser.client.application = app
        assert browser.get("/rate").form(browser.address).choices["rating-1"][-2:] == ["5", "undecided"]


def test_a_change_is_taken_over_by_running_servers_at_once(make_study: Callable[..., Made]) -> None:
    made = make_study(ALL)
    first, second = at_work(made), at_work(made, 1)
    edit_toml(made, NINE)
    changes = change_study(made.folder, made.store)[1]
    assert changes.version == 2 and changes.settings == ("block 'unique': scale",)
    assert first.get("/rate").form(first.address).choices["rating-1"][-2:] == ["9", "undecided"]
    second.get("/rate")
    second.rate_all(lambda name, number: "9" if int(second.address.rpartition("/")[2]) > 2 else "2")
    table = ratings_table(made.store, Study.load(made.folder))
    assert table.groupby("scale_high")["rating"].max().to_dict() == {5: 3, 9: 9}
    assert set(table.loc[table["scale_high"] == 9, "version"]) == {2}


def test_a_thread_that_has_read_the_version_before_changes_no_transaction_of_the_newer_one(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local(ALL, base_queries=0, unique_queries=1)
    here: Site = made.app.extensions["relstudy"]
    with made.app.app_context():
        old = here.served
    edit_toml(made, NINE)
    change_study(made.folder, made.store)

    def kept(site: Site, name: str, value: object) -> None:
        object.__setattr__(site, name, old if name == "_served" else value)

    # as if somebody else put the version before where both keep it, as soon as the newer one is there
    monkeypatch.setattr(Site, "__setattr__", kept)
    with made.app.app_context(), here.write() as connection:
        assert here.version == read_head(connection).version == 2
    with made.app.app_context():
        assert here.version == 2


def test_a_form_of_the_page_as_it_was_is_not_saved_and_the_page_is_shown_as_it_is(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(ALL)
    browser = at_work(made)
    form, held = browser.filled("5"), pairs_in_hand(made)
    edit_pairs(made, without(held[0]))
    changes = change_study(made.folder, made.store)[1]
    assert (changes.trimmed, changes.withdrawn, changes.removed, changes.takes) == (1, 0, (held[0],), True)
    rows = made.rows()
    browser.post(browser.address, form)
    assert browser.status == 409 and "changed while you were on this page" in browser.page.text
    assert made.rows() == rows and len(browser.page.form(browser.address).choices) == 3
    browser.rate(lambda name, number: str(number))
    table = ratings_table(made.store, Study.load(made.folder)).tail(3)
    assert dict(zip(table["pair_id"], table["rating"], strict=True)) == dict(zip(held[1:], (1, 2, 3), strict=True))
    assert set(table["version"]) == {2}


def test_a_form_holds_where_the_change_does_not_touch_its_page(make_study: Callable[..., Made]) -> None:
    made = make_study(ALL)
    browser = at_work(made)
    form = browser.filled("5")
    edit_toml(made, ALL.replace("A test study", "Another title"))
    change_study(made.folder, made.store)
    browser.post(browser.address, form)
    assert browser.status == 200 and "Another title" in browser.page.text
    table = ratings_table(made.store, Study.load(made.folder))
    assert set(table.tail(4)["version"]) == {1}, "the version that it was asked under"


def test_a_pair_that_leaves_takes_none_of_its_neighbours_along(make_study: Callable[..., Made]) -> None:
    made = make_study(ALL)
    edit_pairs(made, without("p5-0", "p6-1"))
    items = made.folder / "collection.csv"
    change_study(made.folder, made.store)
    browser = at_work(made, 0)
    browser.rate_all()
    table = ratings_table(made.store, Study.load(made.folder))
    assert set(table["pair_id"]) == {f"p{q}-{r}" for q in range(8) for r in range(4)} - {"p5-0", "p6-1"}
    block = study_status(made.store, Study.load(made.folder)).blocks[1]
    assert (block.pages_done, block.pages_wanted, block.total_pairs) == (6, 6, 22)
    # an item may leave the collection with its pairs, for who has rated it and for who comes
    edit_pairs(made, lambda lines: [line for line in lines if ",q3," not in line])
    items.write_text("".join(line for line in items.read_text().splitlines(True) if not line.startswith("q3,")))
    assert change_study(made.folder, made.store)[1].removed_ratings == 4
    other = at_work(made, 1)
    assert other.get("/rate/1") and other.status == 200


def test_base_pairs_that_are_added_reach_raters_at_work_and_it_is_said_who_gets_them(
    make_study: Callable[..., Made],
) -> None:
    made = make_study()
    finished, browser = at_work(made, 0), at_work(made)
    finished.rate_all()
    edit_pairs(
        made, lambda lines: [*lines, "new-1,q2,q3,image,more,1,0.25,base", "new-2,q4,r0,image,m,1,0.25,unique"][:-1]
    )
    changes = change_study(made.folder, made.store)[1]
    assert changes.sentences() == ["1 new base pair: 1 rater at work gets them last; 1 who finished does not"]
    browser.get("/rate")
    browser.rate_all()
    table = ratings_table(made.store, Study.load(made.folder))
    assert list(table.loc[table["pair_id"] == "new-1", "block"]) == ["base"]


def test_who_is_set_aside_is_not_counted_and_has_the_new_base_pages_when_taken_back(
    make_study: Callable[..., Made],
) -> None:
    made = make_study()
    aside, gone = at_work(made, 1), at_work(made, 0)
    gone.rate_all()
    with made.store.read() as connection:
        codes = list(connection.execute(sa.select(raters.c.rater_id).order_by(raters.c.id)).scalars())
    for code in codes:
        set_aside(made.store, code)
    edit_pairs(made, lambda lines: [*without("p0-0", "p1-0")(lines), "new-1,q2,q3,image,more,1,0.25,base"])
    changes = change_study(made.folder, made.store)[1]
    assert (changes.base_raters, changes.finished, changes.trimmed) == (0, 0, 0)
    take_back(made.store, made.folder, codes[0])
    aside.get("/rate")
    aside.rate_all()
    table = ratings_table(made.store, Study.load(made.folder))
    assert list(table.loc[table["pair_id"] == "new-1", "rater_id"]) == [codes[0]]


def test_a_block_whose_pool_is_another_shows_no_page_of_the_one_before(make_study: Callable[..., Made]) -> None:
    made = make_study(ALL)
    browser = at_work(made, 0)
    swapped = ALL.replace('name = "base"\npairs = "base"', 'name = "base"\npairs = "unique"')
    edit_toml(made, swapped.replace('name = "unique"\npairs = "unique"', 'name = "other"\npairs = "unique"'))
    changes = change_study(made.folder, made.store)[1]
    assert changes.withdrawn == 2
    browser.get("/rate")
    browser.rate_all()
    assert browser.address == "/thanks"
    table = ratings_table(made.store, Study.load(made.folder))
    assert set(table["block"]) == {"unique"} and len(table) == 48


def test_change_shows_first_and_changes_nothing_without_a_yes(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local(ALL)
    at_work(made)
    held = pairs_in_hand(made)
    edit_pairs(made, without(held[0], "p0-0"))
    run = CliRunner().invoke
    named = ", ".join(sorted([held[0], "p0-0"]))
    shown = [
        f"2 pairs leave the study ({named}); their ratings, which stay and are exported: 1",
        "pages in raters' hands that lose a pair: 1",
    ]
    refused = run(main, ["change", str(made.folder)], input="n\n")
    assert refused.exit_code == 1 and refused.stdout.splitlines() == shown
    dry = json.loads(run(main, ["change", str(made.folder), "--dry-run", "--json"]).stdout)
    assert (dry["version"], dry["applied"], dry["trimmed"]) == (2, False, 1)
    with pytest.raises(RelstudyError, match=r"takes something away: .*that lose a pair: 1.* put the files back"):
        take_over(made.folder)
    assert pairs_in_hand(made) == held
    done = run(main, ["change", str(made.folder), "--yes"])
    assert done.exit_code == 0 and "every server goes on with version 2" in done.stderr
    assert pairs_in_hand(made) == held[1:]
    assert "nothing to change" in run(main, ["change", str(made.folder)]).stderr


def test_serve_says_what_it_takes_over(make_local: Callable[..., Made], capsys: pytest.CaptureFixture[str]) -> None:
    made = make_local(ALL)
    take_over(made.folder)
    assert capsys.readouterr().out == "", "nothing has changed"
    edit_pairs(made, lambda lines: [*lines, "new-1,q2,q3,image,more,1,0.25,unique"])
    take_over(made.folder)
    assert capsys.readouterr().out.splitlines() == [
        "changed: 1 new unique pair: they join the pool",
        "every server goes on with version 2 of the study",
    ]


def test_practice_on_a_pair_that_is_rated_later_is_refused(make_local: Callable[..., Made]) -> None:
    made = make_local()
    edit_toml(made, TOML + '[[practice]]\nquery_id = "q7"\nresult_id = "r3"\nexpected = [4]\n')
    with pytest.raises(RelstudyError, match=r"the pair 'p7-3' of pairs\.csv, .* rated after its answer was shown"):
        prepare(made.folder, made.store)


def test_ratings_of_a_database_without_versions_are_exported(tmp_path: Path, make_local: Callable[..., Made]) -> None:
    made = make_local()
    at_work(made)
    with made.store.write() as connection:
        connection.execute(sa.update(ratings).values(version=None))
    table = ratings_table(made.store, Study.load(made.folder))
    assert table["version"].isna().all() and isinstance(table["version"].dtype, pd.Int64Dtype)
