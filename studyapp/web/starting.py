"""A study before it is served: its files taken over, its address noted; and what each worker goes on with behind."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import click

from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import quoted
from relstudy.studyapp.assignment.erasure import complete_withdrawals, retention_notes
from relstudy.studyapp.assignment.redrawn_study import complete_new_draw
from relstudy.studyapp.assignment.synchronisation import change_study
from relstudy.studyapp.assignment.unused_pairs import stored_unused_pairs, unused_pairs_sentences
from relstudy.studyapp.assignment.versions import write_address
from relstudy.studyapp.config.accounts import read_accounts
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.secure_delete import finish_deletions
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.traces import go_on_deleting

DELETE_AGAIN = 10.0  # seconds between two attempts to finish what deletions left, in the database and beside it


def take_over(folder: Path) -> Study:
    """Make the study's files what is served, and say what that changes.

    Raises
    ------
    RelstudyError
        where it would take something from raters at work or from what was rated; nobody asked for that by serving
    """
    store = Store.of_study(folder)
    try:
        store.migrate()
        complete_new_draw(folder)
        study, changes = change_study(folder, store, lambda changes: not changes.takes)
        if changes.takes:
            raise RelstudyError(
                f"{folder}: the study's files are not what is served, and to change to them takes something away: "
                f"{'; '.join(changes.sentences())}. `relstudy admin change {quoted(folder)}` does it, or put the "
                "files back"
            )
    finally:
        store.dispose()
    if not changes.first and changes.version is not None:
        for sentence in changes.sentences() or ["nothing that raters see"]:
            click.echo(f"changed: {sentence}")
        click.echo(f"every server goes on with version {changes.version} of the study")
    return study


def note_address(folder: Path, study: Study, address: str) -> None:
    """Keep the address for invitations, and warn of pairs that no page will show."""
    store = Store.of_study(folder)
    try:
        with contextlib.suppress(RelstudyError):  # a damaged file of the forgotten: doctor names it
            complete_withdrawals(store, folder)
        unfinished = finish_deletions(store)
        if unfinished:
            click.echo(f"Warning: {unfinished}.")
        try:
            read_accounts(folder)
        except RelstudyError as error:  # raters need none
            click.echo(f"Warning: nobody can open the researcher's pages: {error}")
        with store.write() as connection:
            write_address(connection, address)
            for sentence in unused_pairs_sentences(stored_unused_pairs(connection, study)):
                say(f"Warning: {sentence}.")
            for sentence in retention_notes(connection, study, folder):
                click.echo(f"Warning: {sentence}.")
    finally:
        store.dispose()


def keep_deleting(folder: Path, gone: list[frozenset[str]]) -> threading.Event:
    """Finish, in a thread of this process, what deletions leave in the database's files, and look for copies.

    Parameters
    ----------
    gone : ids of people whom this process deletes, as it goes on

    Returns
    -------
    What ends it once it is set
    """
    ended = threading.Event()
    threading.Thread(target=_keep_deleting, args=(folder, gone, ended), daemon=True).start()
    return ended


def end_deleting(folder: Path) -> None:
    """Try once more when the last server of a study has ended: a reader may have ended since the last attempt."""
    with contextlib.suppress(*DATABASE_ERRORS, OSError, RelstudyError), Store.of_study(folder) as store:
        unfinished = "" if store.is_missing else finish_deletions(store)
        if unfinished:
            say(f"Warning: {unfinished}; the next `relstudy serve {quoted(folder)}` finishes it.")


def _keep_deleting(folder: Path, gone: list[frozenset[str]], ended: threading.Event) -> None:
    store = Store.of_study(folder, kept=1)
    while not ended.is_set():
        with contextlib.suppress(*DATABASE_ERRORS, OSError, RelstudyError):  # the next attempt is soon
            go_on_deleting(folder, store, gone)
        ended.wait(DELETE_AGAIN)
    store.dispose()
