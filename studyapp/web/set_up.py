"""Set up a study in the browser: upload results, see what they were taken for, and open the study.

Whoever holds the key that `relstudy start` prints may do so, and editors with an account of such a host. What the pages
do is `relstudy ask`, with the same words; a study that nobody has opened yet is not served.
"""

from __future__ import annotations

import hmac
import re
import secrets
import shlex
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from flask import Blueprint, Flask, abort, current_app, redirect, request, session
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature
from werkzeug.datastructures import FileStorage

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.pairs_table import OTHER
from relstudy.studyapp.collection.asked_study import make_study
from relstudy.studyapp.collection.kinds import can_be_shown
from relstudy.studyapp.collection.results_table import read_results
from relstudy.studyapp.config.accounts import read_accounts
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.admin.further import EXTENSION, SetUp
from relstudy.studyapp.web.hosted import NAME, RESERVED, STOPPED

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".xls", ".ods", ".run", ".trec", ".txt")
UPLOAD = 128 << 20
"""Bytes that are taken at once, packed."""
UNPACKED, FILES = 512 << 20, 5_000
"""Bytes and files that archives may hold together."""
SCALES = ("1-5", "yes-no", "binary", "1-9")
SHOWN, MOST_SHOWN = 3, 600
"""Queries whose first result is shown before a study is opened, and characters of each."""
SECONDS = 60
"""Within which a link that was made for an account has to be opened."""
blueprint = Blueprint("set_up", __name__, url_prefix="/start")


def add_pages(app: Flask, set_up: SetUp, *, secure: bool) -> None:
    """Serve the pages, by a cookie of the host's own, for https only with `secure`."""
    app.config.update(
        SECRET_KEY=hmac.digest(set_up.key.encode(), b"set up", "sha256"), SESSION_COOKIE_NAME="relstudy-set-up",
        SESSION_COOKIE_HTTPONLY=True, SESSION_COOKIE_SAMESITE="Strict", SESSION_COOKIE_SECURE=secure,
        MAX_CONTENT_LENGTH=UPLOAD,
    )  # fmt: skip
    app.extensions[EXTENSION] = set_up
    app.register_blueprint(blueprint)


@dataclass(frozen=True)
class Given:
    """What was filled in."""

    name: str = ""
    question: str = ""
    scale: str = SCALES[0]
    raters: str = ""
    side_by_side: bool = False

    @classmethod
    def of_form(cls) -> Given:
        """The fields of the form that was sent."""
        form = request.form
        return cls(
            form.get("name", "").strip()[:64], form.get("question", "").strip()[:500], form.get("scale", SCALES[0]),
            form.get("raters", "").strip(), form.get("ask") == "side-by-side",
        )  # fmt: skip


def _here() -> SetUp:
    found: SetUp = current_app.extensions[EXTENSION]
    account = read_accounts(found.folder).get(session["account"]) if "account" in session else None
    if not session.get("csrf") or ("account" in session and (account is None or not account.may("editor"))):
        abort(403)
    if request.method == "POST" and not hmac.compare_digest(str(session["csrf"]), request.form.get("csrf", "")):
        abort(400)
    return found


def _page(given: Given, message: str = "", status: int = 200) -> ResponseReturnValue:
    template = current_app.jinja_env.get_template("set_up.html")
    return template.render(given=given, message=message, csrf=session["csrf"], scales=SCALES), status


@blueprint.get("/<key>")
def enter(key: str) -> ResponseReturnValue:
    """The link that was printed, or one that was made for an account."""
    here: SetUp = current_app.extensions[EXTENSION]
    session.pop("account", None)
    if not hmac.compare_digest(key, here.key):
        try:
            session["account"] = here.links.loads(key, max_age=SECONDS)
        except BadSignature:
            abort(403)
    session.setdefault("csrf", secrets.token_urlsafe(24))
    return redirect("/start/")


@blueprint.get("/")
def form() -> ResponseReturnValue:
    """What people rate, what they are asked, and how many they are."""
    _here()
    return _page(Given())


@blueprint.post("/")
def make() -> ResponseReturnValue:
    """Make a study of what was uploaded; it is not served yet."""
    here, given = _here(), Given.of_form()
    files = [each for each in request.files.getlist("files") if each.filename]
    try:
        name, said = _made(here.folder, given, files)
    except RelstudyError as error:
        return _page(given, str(error), 400)
    session["made"], session["said"] = name, said
    return redirect("/start/check")


def _made(folder: Path, given: Given, files: list[FileStorage]) -> tuple[str, list[str]]:
    """The study's name, and what its tables were taken for."""
    if not files:
        raise RelstudyError("choose a table of results, or a zip of folders of pictures")
    name = _plain(given.name or Path(files[0].filename or "").name.split(".")[0])
    if not NAME.fullmatch(name) or name in RESERVED:
        raise RelstudyError(f"{given.name!r} cannot be the name of a study: letters, digits, - and _ are allowed")
    if (folder / name).exists():
        raise RelstudyError(f"there is a study {name} already; choose another name")
    if given.scale not in SCALES or not (given.raters == "" or re.fullmatch(r"[1-9]\d{0,4}", given.raters)):
        raise RelstudyError("a scale of the list and a number of people are needed")
    words = ["relstudy", "ask", *(PurePosixPath(each.filename or "").name for each in files), "-o", name]
    words += ["--question", given.question] if given.question else []
    words += ["--side-by-side"] if given.side_by_side else ["--scale", given.scale]
    words += ["--raters", given.raters] if given.raters else []
    with tempfile.TemporaryDirectory(prefix=".upload-", dir=folder) as place:
        upload = Path(place)
        try:
            table = read_results(_sources(upload, files))
            made = upload / "study" / name
            asked = make_study(
                table, made, questions=[given.question] if given.question else [], scale=given.scale,
                raters=int(given.raters) if given.raters else None, side_by_side=given.side_by_side, beside=upload,
            )  # fmt: skip
            Study.load(made)
        except RelstudyError as error:
            raise RelstudyError(str(error).replace(f"{upload}/", "")) from None
        (made / STOPPED).touch()
        try:
            made.rename(folder / name)
        except OSError:
            raise RelstudyError(f"there is a study {name} already; choose another name") from None
    return name, [*table.sentences(), asked.sentence(), shlex.join(words)]


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:48]


def _sources(upload: Path, files: list[FileStorage]) -> list[Path]:
    """The tables and folders of pictures among what was uploaded, in a folder of their own."""
    found: list[Path] = []
    left = [UNPACKED, FILES]
    for number, each in enumerate(files):
        name = PurePosixPath((each.filename or "").replace("\\", "/")).name
        if name.lower().endswith(".zip"):
            found += _unpacked(each, upload / f"zip{number}", name, left)
        elif name.lower().endswith(TABLES):
            target = upload / name
            if target.exists():
                raise RelstudyError(f"{name} comes twice")
            each.save(target)
            found.append(target)
        else:
            raise RelstudyError(f"{name}: a table ({', '.join(TABLES)}) or a zip is needed")
    if not found:
        raise RelstudyError("nothing was found in the zip: folders of pictures, or tables, are needed")
    return found


def _unpacked(file: FileStorage, target: Path, name: str, left: list[int]) -> list[Path]:
    """The tables and the folders of pictures of an archive; nothing lands outside, and no links."""
    found: dict[Path, None] = {}
    try:
        with zipfile.ZipFile(file.stream) as archive:
            for entry in archive.infolist():
                parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
                hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
                if entry.is_dir() or hidden or stat.S_ISLNK(entry.external_attr >> 16):
                    continue  # a way out (..) begins with a dot
                if not parts or parts[0].endswith(("/", ":")):
                    raise RelstudyError(f"{name}: {entry.filename[:80]!r} leads out of the archive")
                left[0], left[1] = left[0] - entry.file_size, left[1] - 1
                if min(left) < 0:
                    raise RelstudyError(f"{name} unpacks to more than {UNPACKED >> 20} MB or {FILES:,} files")
                path = target.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as packed, path.open("wb") as out:
                    shutil.copyfileobj(packed, out)
                if path.suffix.lower() in TABLES:
                    found[path] = None
                elif can_be_shown(path):
                    found[path.parent] = None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise RelstudyError(f"{name} cannot be unpacked ({error})") from None
    return list(found)


@blueprint.get("/check")
def check() -> ResponseReturnValue:
    """What was understood, with the first results as people will see them."""
    folder = _study(_here())
    items = read_table(folder / "collection.csv", "item_id").frame.set_index("item_id").to_dict("index")
    pairs = read_table(folder / "pairs.csv", "query_id", "result_id").frame.drop_duplicates("query_id")
    rows = pairs.head(SHOWN).to_dict("records")
    shown = [
        (_text(items, row["query_id"]), [_text(items, row[name]) for name in ("result_id", OTHER) if name in row])
        for row in rows
    ]
    *said, command = session["said"]
    template = current_app.jinja_env.get_template("set_up_check.html")
    return template.render(name=folder.name, said=said, command=command, shown=shown, csrf=session["csrf"])


def _text(items: Mapping[Any, Mapping[Any, Any]], name: str) -> str:
    """What is shown of an item, in words."""
    item = items.get(name)
    if item is None:
        return "(a list: the first results of one system)"
    return str(item["text"] or ("(a picture)" if item["path"] else item["title"]))[:MOST_SHOWN]


@blueprint.post("/open")
def open_study() -> ResponseReturnValue:
    """Let the host serve the study, and go on to its researcher's pages."""
    folder = _study(_here())
    link = make_setup_link(folder) or "/admin/"
    (folder / STOPPED).unlink()
    session.pop("made"), session.pop("said")
    return redirect(f"/{folder.name}{link}")


@blueprint.post("/again")
def again() -> ResponseReturnValue:
    """Take back a study that was not opened."""
    shutil.rmtree(_study(_here()))
    session.pop("made"), session.pop("said")
    return redirect("/start/")


def _study(here: SetUp) -> Path:
    """The study that was made on this visit and is not open yet."""
    name = str(session.get("made", ""))
    if not NAME.fullmatch(name) or not (here.folder / name / STOPPED).exists():
        abort(404)
    return here.folder / name
