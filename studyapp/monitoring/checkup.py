"""Check of a study before it is served: folder, files, database, disk, clock, permissions."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed, quoted
from relstudy.studyapp.assignment.erasure import complete_withdrawals, retention_notes
from relstudy.studyapp.assignment.synchronisation import change_study, require_own
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.collection.kinds import PLAYED
from relstudy.studyapp.config.accounts import read_accounts
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.backup import count_ratings
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.side_files import require_own_wal
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.monitoring.traces import traces_of

LEAST_FREE = 500 * 2**20  # bytes; a study of 100,000 ratings takes some 50 MB, and a backup as much again
MOST_APART = 2.0  # seconds between the clocks of this machine and of the database's
PRIVATE = ("study.db", "secret.key", "admin.hash", "admin.setup", "accounts.json", "people.csv")


@dataclass(frozen=True)
class Finding:
    """A check, its result ("ok", "mind" or "wrong"), and the remedy (may be empty)."""

    what: str
    state: str
    words: str
    mend: str = ""


def check_study(folder: Path) -> list[Finding]:
    """Look at everything that serving a study rests on; what another fault hides is left out."""
    try:
        study = Study.load(folder)
    except RelstudyError as error:
        return [Finding("study.toml", "wrong", str(error), "fix these lines")]
    findings = [Finding("study.toml", "ok", f"study {study.id!r}, {count_of(len(study.blocks), 'block')}")]
    findings += [*_folder(folder), *_private(folder), *_address(study), *_passphrase(study), *_ways_back(study)]
    findings += _words_beside(folder, study)
    try:
        store = Store.of_study(folder)
    except RelstudyError as error:
        return [*findings, Finding("database", "wrong", str(error), "set DATABASE_URL, or unset it")]
    try:
        return [*findings, *_database(folder, study, store)]
    finally:
        store.dispose()


def _folder(folder: Path) -> Iterator[Finding]:
    if os.access(folder, os.W_OK):
        yield Finding("folder", "ok", f"{folder} can be written to")
    else:
        yield Finding("folder", "wrong", f"{folder} cannot be written to", f"chmod u+w {folder}")
    free = shutil.disk_usage(folder).free
    words = f"{free / 2**30:.1f} GB free"
    yield Finding("disk", *(("ok", words) if free > LEAST_FREE else ("wrong", words, "make room before anybody rates")))


def _is_open_to_others(file: Path) -> bool:
    try:
        return bool(stat.S_IMODE(file.stat().st_mode) & 0o077)
    except FileNotFoundError:
        return False


def _private(folder: Path) -> Iterator[Finding]:
    open_to_others = [name for name in PRIVATE if _is_open_to_others(folder / name)]
    for name in open_to_others:
        yield Finding("permissions", "wrong", f"{name} can be read by others", f"chmod 600 {folder / name}")
    if not open_to_others:
        yield Finding("permissions", "ok", "nobody else can read secrets, ratings or people")
    try:
        read_accounts(folder)
    except RelstudyError as error:
        yield Finding("accounts", "wrong", str(error), "until then nobody can open the researcher's pages")
    if not (folder / "admin.hash").exists():
        yield Finding(
            "password", "mind", "the researcher's pages have no password yet", f"relstudy serve {quoted(folder)}"
        )


def _address(study: Study) -> Iterator[Finding]:
    if not study.url:
        words = "study.toml names no url: links lead to where the study was last served"
        yield Finding("address", "mind", words, "[study] url")
    elif study.url.startswith("http://"):
        words = f"{study.url} is not encrypted: passwords and cookies can be read on the way"
        yield Finding("address", "mind", words, "serve behind a proxy with TLS, and name https in [study] url")
    else:
        yield Finding("address", "ok", study.url)


def _passphrase(study: Study) -> Iterator[Finding]:
    if not study.entry.passphrase:
        return
    if study.entry.has_strong_passphrase:
        yield Finding("passphrase", "ok", "safe from guessing: it is checked however many wrong ones were tried")
    else:
        words = "it could be guessed: where many wrong ones were tried from an address, newcomers there have to wait"
        yield Finding("passphrase", "mind", words, "choose three words or more in [entry] passphrase")


def _ways_back(study: Study) -> Iterator[Finding]:
    lacking = study.outcomes_without_way_back
    if lacking:
        words = f"who comes from the platform is not led back when the outcome is {listed(lacking, 'or')}"
        yield Finding("ways back", "mind", words, "a code or an address for each in [entry.outcomes]")
    elif study.entry.platform_rule:
        yield Finding("ways back", "ok", "every outcome leads back to the platform")


def _words_beside(folder: Path, study: Study) -> Iterator[Finding]:
    """Words in place of pictures, sounds and films for those who do not see or hear them."""
    try:
        items = DisplayedItems.load(folder, bytes(32), study.displays).by_id.values()
    except RelstudyError as error:
        yield Finding("items", "wrong", str(error), "fix collection.csv or study.toml")
        return
    pictures = [item for item in items if item.path is not None and item.kind not in PLAYED]
    played = [item for item in items if item.kind in PLAYED]
    unnamed = sum(not (item.more.get("alt") or (item.title and item.kind == "card")) for item in pictures)
    unread = sum(item.captions is None and not item.text for item in played)
    if unnamed:
        words = f"{unnamed} of {len(pictures)} pictures have no alt text: who does not see them cannot rate them"
        yield Finding("alt texts", "mind", words, "a column alt in collection.csv, with what each picture shows")
    if unread:
        words = f"{unread} of {len(played)} sounds and films have neither captions nor a transcript"
        yield Finding("captions", "mind", words, "a column captions (WebVTT files) or text in collection.csv")
    if (pictures or played) and not (unnamed or unread):
        yield Finding("items", "ok", "every picture has an alt text, every sound and film captions or a transcript")


def _database(folder: Path, study: Study, store: Store) -> Iterator[Finding]:
    if store.is_missing:
        yield _not_served(folder)
        return
    try:
        if store.is_sqlite:
            require_own_wal(store.file)
        if not store.has_tables:
            yield _not_served(folder)
            return
        if store.is_sqlite:
            count_ratings(store.file)
        store.require_study(folder)
        store.migrate()
        with store.read() as connection:
            require_own(connection, study, store)
        with store.write():
            pass
    except RelstudyError as error:
        yield Finding("database", "wrong", str(error), f"relstudy admin restore {quoted(folder)} BACKUP")
        return
    except (*DATABASE_ERRORS, sqlite3.DatabaseError) as error:
        words = f"{store.shown}: {getattr(error, 'orig', error)}"
        yield Finding(
            "database", "wrong", words, f"start the database, or relstudy admin restore {quoted(folder)} BACKUP"
        )
        return
    yield Finding("database", "ok", f"{store.shown} is whole and can be written to")
    yield from _over(folder, study, store)
    yield from _retention(folder, study, store)
    yield from _forgotten(folder, store)
    yield from _clock(store)
    yield from _files(folder, store)


def _not_served(folder: Path) -> Finding:
    if (folder / "ratings.csv").is_file():
        return Finding("study", "ok", "it is over: ratings.csv holds its ratings, and there is no database")
    return Finding("database", "mind", "nobody has served the study yet", f"relstudy serve {quoted(folder)}")


def _over(folder: Path, study: Study, store: Store) -> Iterator[Finding]:
    """That a study is over, where nobody can rate any more or nothing is left to rate."""
    status = study_status(store, study)
    done, wanted = status.pages_of_unique_pairs
    then = f"relstudy export {quoted(folder)}"
    if status.state == "closed":
        yield Finding("study", "ok", "it is over: it was closed", then)
    elif wanted and done == wanted:
        yield Finding("study", "ok", f"it is over: all {count_of(wanted, 'page')} of unique pairs are rated", then)


def _retention(folder: Path, study: Study, store: Store) -> Iterator[Finding]:
    if study.keep_until is None:
        return
    with store.read() as connection:
        overdue = list(retention_notes(connection, study, folder))
    for sentence in overdue:
        name = quoted(folder)
        mend = f"relstudy admin status {name} --close, then relstudy admin erase {name} --all-people"
        yield Finding("people", "wrong", sentence, mend)
    if not overdue:
        yield Finding("people", "ok", f"who raters are may be kept until {study.keep_until}, or is forgotten")


def _forgotten(folder: Path, store: Store) -> Iterator[Finding]:
    """Check that nothing is left of who was forgotten."""
    try:
        complete_withdrawals(store, folder)
        traces = traces_of(folder, store)
    except RelstudyError as error:
        yield Finding("forgotten", "wrong", str(error), "fix this line; restore needs it")
        return
    for trace in traces:
        if trace.is_in_database:
            mend = "end what reads the database; a server, or its next start, deletes the rest"
        else:
            mend = "delete the file, or make it again"
        yield Finding("forgotten", "wrong", trace.words, mend)
    if not traces:
        words = "erased raters: no traces left, in the database or in copies beside it"
        words += "" if store.is_sqlite else " (PostgreSQL's own write-ahead log is its administrator's)"
        yield Finding("forgotten", "ok", words)


def _clock(store: Store) -> Iterator[Finding]:
    if store.is_sqlite:
        return
    with store.read_one() as connection:
        apart = float(connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
    apart = abs(apart - time.time())
    words = f"this machine and the database are {apart:.1f} s apart"
    yield Finding("clock", *(("ok", words) if apart < MOST_APART else ("wrong", words, "set both by NTP")))


def _files(folder: Path, store: Store) -> Iterator[Finding]:
    """Check that the files are those that are served."""
    try:
        _, changes = change_study(folder, store, lambda changes: False)
    except RelstudyError as error:
        yield Finding("files", "wrong", str(error), "fix this; until then the study goes on as it is served")
        return
    if changes.version is None:
        yield Finding("files", "ok", "they say what is served")
    else:
        words = "; ".join(changes.sentences()) or "nothing that raters see"
        yield Finding(
            "files", "mind", f"they are not what is served: {words}", f"relstudy admin change {quoted(folder)}"
        )
