"""Set up a study in the browser, in five steps: items, systems, question and size, raters, check and open.

Whoever holds the key that `relstudy start` prints may do so, and editors with an account of such a host. What the pages
do is done by commands, which they name; a study that nobody has opened yet is not served.
"""

from __future__ import annotations

import base64
import hmac
import io
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, Response, abort, current_app, redirect, request, session
from flask.sessions import SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import ServiceUnavailable
from werkzeug.http import parse_cookie

from relstudy.common.charts.pictures import pixels_of, read_picture
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.pairs_table import OTHER
from relstudy.common.tables.meaning.scales import scale_named
from relstudy.studyapp.config.accounts import read_accounts
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.texts import ENGLISH
from relstudy.studyapp.monitoring.checkup import check_study
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.admin.further_studies import EXTENSION, SetUp
from relstudy.studyapp.web.draft import (
    OFFERED,
    SCALES,
    SCORES,
    TEMPLATES,
    UPLOADS,
    Draft,
    Made,
    alone,
    differences_found,
    discard,
    make_draft,
    one_simulation,
    open_draft,
)
from relstudy.studyapp.web.draft_preview import forget, is_ready, preview_of
from relstudy.studyapp.web.guide import pairs_to_grade
from relstudy.studyapp.web.hosted import NAME
from relstudy.studyapp.web.mount import is_only_here
from relstudy.studyapp.web.security import HEADERS
from relstudy.studyapp.web.uploads import FILES, UPLOAD, taken_in

COOKIE = "relstudy-set-up"
WORDS = ("title", "question", "low", "high")
MOST_SEARCHES = 2_000
"""Searches that are taken from the form."""
MOST_PIXELS = 50_000_000
"""Of a picture that is made small on the check page; a rater would be sent it as it is."""
_PLACES = threading.BoundedSemaphore(2)
"""Requests of these pages at once in this process, whose other threads are left to raters."""
_NEXT = threading.Lock()
_ONE_PICTURE = threading.Lock()
"""A picture is made small alone: while it is read it takes hundreds of megabytes."""
PATIENCE = 2.0
"""Seconds that a form waits for a place."""
PLACE = "relstudy.set_up.place"
MOMENT = 0.2
"""Seconds in which a draft is exchanged for its new state."""
SHOWN, MOST_SHOWN, LONGEST_SIDE = 3, 600, 160
"""Queries whose first result is shown before a study is opened, characters of each, and pixels of a picture."""
WITH_PICTURES = {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace("img-src 'self'", "img-src 'self' data:")
}
"""Headers of a page that holds small pictures itself, so that one request brings them all."""
SECONDS = 60
"""Within which a link that was made for an account has to be opened."""
blueprint = Blueprint("set_up", __name__, url_prefix="/start")


def visitors_of(set_up: SetUp) -> Callable[[str], bool]:
    """Whether a request's cookies are those of somebody who came in by a link, before the request is read."""
    app = Flask(__name__)
    app.secret_key = _secret(set_up)
    signed = SecureCookieSessionInterface().get_signing_serializer(app)
    assert signed is not None, "the key is set"

    def has_come(cookies: str) -> bool:
        try:
            return any("csrf" in signed.loads(each) for each in parse_cookie(cookies).getlist(COOKIE))
        except (BadSignature, UnicodeError):
            return False

    return has_come


def _secret(set_up: SetUp) -> bytes:
    return hmac.digest(set_up.key.encode(), b"set up", "sha256")


def add_pages(app: Flask, set_up: SetUp, *, secure: bool) -> None:
    """Serve the pages, by a cookie of the host's own, for https only with `secure`."""
    app.config.update(
        SECRET_KEY=_secret(set_up), SESSION_COOKIE_NAME=COOKIE,
        SESSION_COOKIE_HTTPONLY=True, SESSION_COOKIE_SAMESITE="Strict", SESSION_COOKIE_SECURE=secure,
        MAX_CONTENT_LENGTH=UPLOAD, MAX_FORM_PARTS=FILES + 100,
    )  # fmt: skip
    app.extensions[EXTENSION] = set_up
    app.register_blueprint(blueprint)


def _here(*, sends: bool = True) -> SetUp:
    """Where studies are made, for whoever may; `sends`: a form that is sent must be one of these pages'."""
    found: SetUp = current_app.extensions[EXTENSION]
    account = read_accounts(found.folder).get(session["account"]) if "account" in session else None
    if not session.get("csrf") or ("account" in session and (account is None or not account.may("editor"))):
        abort(403)
    if (
        sends
        and request.method == "POST"
        and not hmac.compare_digest(str(session["csrf"]).encode(), request.form.get("csrf", "").encode())
    ):
        abort(400)
    return found


def _page(
    step: str, draft: Draft | None, message: str = "", status: int = 200, *, given: Draft | None = None,
    typed: Mapping[str, str] | None = None, **more: Any,
) -> tuple[str, int]:  # fmt: skip
    """A step with what was chosen; `given` and `typed` are what a form that is refused said instead."""
    template = current_app.jinja_env.get_template("set_up.html")
    if draft is not None and Draft.of(_here().folder / draft.name) is None:  # opened or thrown away in another tab
        if step != ITEMS:
            abort(404)
        draft = None
    shown = draft or Draft("")
    folder = _here().folder / shown.name
    made = Made.of(folder) if draft else None
    page = template.render(
        message=message, draft=shown, given=given or shown, typed=typed or {}, made=made,
        asks=Study.load(folder) if draft else None, csrf=session["csrf"], step=step, steps=STEPS, templates=TEMPLATES,
        scales=SCALES, consent=ENGLISH["consent.default"], only_here=is_only_here(request.root_url),
        offered={each: OFFERED[each][1] if shown.kind.of_items else each for each in (made.offered if made else ())},
        **more,
    )  # fmt: skip
    return page, status


@blueprint.before_request
def take_place() -> None:
    """Turn those away who come while others fill the places; what a ready preview shows is quick, as for a rater."""
    if request.endpoint == "set_up.enter" or not session.get("csrf"):
        return  # a link is compared, and whoever did not come by one is turned away
    draft = _draft(current_app.extensions[EXTENSION]) if request.endpoint == "set_up.as_a_rater" else None
    if draft is not None and is_ready(current_app.extensions[EXTENSION].folder / draft.name):
        return
    if not _PLACES.acquire(blocking=False) and not _comes_free():
        raise ServiceUnavailable
    request.environ[PLACE] = _PLACES


def _comes_free() -> bool:
    """True if the one form that may wait, with all that was filled in, got a place."""
    if request.method != "POST" or not _NEXT.acquire(blocking=False):
        return False
    try:
        return _PLACES.acquire(timeout=PATIENCE)
    finally:
        _NEXT.release()


@blueprint.before_request
def refuse_other_drafts() -> ResponseReturnValue | None:
    """Refuse a form of another draft than the present one, which was begun in another tab."""
    if request.method != "POST" or request.endpoint == "set_up.as_a_rater":
        return None
    draft = _draft(_here())
    meant = request.form.get("draft")
    if draft is None or meant in (None, draft.name):
        return None
    said = f"this form belongs to {meant or 'a new study'}"
    return _page(ITEMS, draft, f"{said}, but you are now setting up {draft.name}; nothing was saved", 409)


@blueprint.teardown_request
def leave_place(_error: BaseException | None) -> None:
    """Let the next one in."""
    place = request.environ.pop(PLACE, None)
    if place is not None:
        place.release()


@blueprint.errorhandler(RelstudyError)
def refused(error: RelstudyError) -> ResponseReturnValue:
    """The first step, with what is wrong, where no other page says it."""
    return _page(ITEMS, _draft(_here()), str(error), 400)


@blueprint.get("/<key>")
def enter(key: str) -> ResponseReturnValue:
    """The link that was printed, or one that was made for an account."""
    here: SetUp = current_app.extensions[EXTENSION]
    if hmac.compare_digest(key.encode(), here.key.encode()):
        session.pop("account", None)
    else:
        try:
            session["account"] = here.links.loads(key, max_age=SECONDS)
        except BadSignature:
            abort(403)
    for name in ("csrf", "visitor"):
        session.setdefault(name, secrets.token_urlsafe(24))
    return redirect("/start/")


@blueprint.get("/")
def form() -> ResponseReturnValue:
    """What people rate: a kind of study, and the files that it is made of."""
    return _page(ITEMS, _draft(_here()))


@blueprint.post("/")
def make() -> ResponseReturnValue:
    """Make a study of what was uploaded; it is not served yet."""
    here, before, form = _here(), _draft(_here()), request.form
    files = _uploaded()
    kind = form.get("template", "")
    named = form.get("name", "").strip()[:64]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", named or _name_of(files, before, kind)).strip("-")[:48] or named or kind
    searches = tuple(
        dict.fromkeys(each.strip()[:500] for each in form.get("searches", "").splitlines() if each.strip())
    )
    draft = replace(before or Draft(name), name=name, template=kind, searches=searches, owner=session["visitor"])
    if files:
        draft = replace(draft, models=(), systems=())  # which are those of the files before
    if before is None or before.template != kind:
        chosen = TEMPLATES.get(kind, TEMPLATES["search"])
        draft = replace(draft, scale=chosen.scale, side_by_side=chosen.side_by_side)
    try:
        if len(searches) > MOST_SEARCHES:
            raise RelstudyError(f"{len(searches):,} searches are too many; {MOST_SEARCHES:,} can be given")
        if not files and (before is None or before.name != name):
            raise RelstudyError("choose files, a folder or a zip")
        make_draft(draft, here.folder, (lambda place: taken_in(files, place)) if files else None)
    except RelstudyError as error:
        return _page(ITEMS, before, str(error), 400, given=replace(draft, name=named))
    session["made"] = name
    if before is not None and before.name != name:
        discard(before, here.folder)
        forget()
    return redirect("/start/systems")


@blueprint.get("/systems", defaults={"step": "systems"})
@blueprint.get("/question", defaults={"step": "question"})
@blueprint.get("/raters", defaults={"step": "raters"})
def step(step: str) -> ResponseReturnValue:
    """A step after the first, as it was filled in."""
    return _page(step, _drafted(_here()))


@blueprint.post("/systems", defaults={"step": "systems"})
@blueprint.post("/question", defaults={"step": "question"})
@blueprint.post("/raters", defaults={"step": "raters"})
def save(step: str) -> ResponseReturnValue:
    """Make the study anew with what a step says."""
    here, before, form = _here(), _drafted(_here()), request.form
    files, draft = _uploaded(), before
    simulates = form.get("then") == "simulate" and before.kind.of_items
    try:
        draft = FILLED[step](before, form)
        with one_simulation() if simulates else nullcontext():
            make_draft(
                draft,
                here.folder,
                (lambda place: _with_more(draft, here.folder, files, place)) if files else None,
            )
            if simulates:
                return _page(step, draft, found=differences_found(here.folder / draft.name))
        if form.get("then") == "stay":
            return redirect(f"/start/{step}")
    except RelstudyError as error:
        return _page(step, before, str(error), 400, given=draft, typed=form)
    return redirect(f"/start/{STEPS[STEPS.index(step) + 1]}")


def _name_of(files: list[FileStorage], before: Draft | None, kind: str) -> str:
    """What a study is called that nobody names: as the one file or the folder; by its kind if there are several files,
    since the first may be one system's; as before if there is none."""
    if not files:
        return before.name if before else ""
    first, *below = (files[0].filename or "").split("/")
    return first.split(".")[0] if below or len(files) == 1 else kind


def _uploaded() -> list[FileStorage]:
    """The files that a form sends, chosen one by one or as a folder."""
    return [each for name in ("files", "folder") for each in request.files.getlist(name) if each.filename]


def _with_more(draft: Draft, host: Path, files: list[FileStorage], place: Path) -> None:
    """What was uploaded before, and further tables: of results, or of scores for a study of items."""
    of_items = draft.kind.of_items
    taken_in(files, place / SCORES if of_items else place, arrays=of_items)
    before = host / draft.name / UPLOADS
    for path in (each for each in before.rglob("*") if each.is_file()):
        target = place / path.relative_to(before)
        if target.exists():
            raise RelstudyError(f"{path.name} comes twice")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _number(form: Mapping[str, str], name: str, what: str, most: int = 99_999) -> int | None:
    """A whole number from a form; None where the field is empty."""
    text = form.get(name, "").strip()
    if text and (not re.fullmatch(r"\d{1,6}", text) or not 1 <= int(text) <= most):
        raise RelstudyError(f"{what}: a whole number from 1 to {most:,} is needed, not {text[:20]!r}")
    return int(text) if text else None


def _systems(draft: Draft, form: MultiDict[str, str]) -> Draft:
    chosen = tuple(form.getlist("systems"))
    if draft.kind.of_items:
        return replace(draft, systems=chosen)
    if "columns" in form and len(chosen) < 2:
        raise RelstudyError("choose at least two columns that hold a model's answers")
    return replace(draft, models=chosen if "columns" in form else draft.models)


def _question(draft: Draft, form: MultiDict[str, str]) -> Draft:
    raters = _number(form, "raters", "Number of people")
    title, question, low, high = (" ".join(form.get(name, "").split())[:500] for name in WORDS)
    asked = replace(
        draft, title=title, question=question, low=low[:60], high=high[:60], scale=form.get("scale", ""), raters=raters
    )
    if not draft.kind.of_items:
        return replace(asked, side_by_side=form.get("ask") == "side-by-side")
    queries, results, base = (_number(form, name, name.capitalize(), 5_000) for name in ("queries", "results", "base"))
    return replace(asked, queries=queries or draft.queries, results=results or draft.results, base=base or draft.base)


def _raters(draft: Draft, form: MultiDict[str, str]) -> Draft:
    contact, consent, completion = (form.get(name, "").strip()[:5_000] for name in ("contact", "consent", "completion"))
    ways = tuple(form.getlist("ways"))
    return replace(draft, ways=ways, contact=contact, consent=consent, completion=completion)


ITEMS = "items"
STEPS = (ITEMS, "systems", "question", "raters", "check")
FILLED: dict[str, Callable[[Draft, MultiDict[str, str]], Draft]] = {
    "systems": _systems,
    "question": _question,
    "raters": _raters,
}
"""What each step says of a draft."""


@blueprint.get("/check")
def check(message: str = "", status: int = 200) -> ResponseReturnValue:
    """What was understood, the first results as people will see them, and what is wrong still."""
    draft = _drafted(_here())
    folder = _here().folder / draft.name
    items = read_table(folder / "collection.csv", "item_id").frame.set_index("item_id").to_dict("index")
    pairs = read_table(folder / "pairs.csv", "query_id", "result_id").frame.drop_duplicates("query_id")
    shown = [
        [_shown(folder, items, row[name]) for name in ("query_id", "result_id", OTHER) if row.get(name)]
        for row in pairs.head(SHOWN).to_dict("records")
    ]
    wrong = [finding for finding in check_study(folder) if finding.state == "wrong"]
    to_grade = pairs_to_grade(folder) if draft.kind.of_items else []
    named = [[_shown(folder, items, each) for each in pair] for pair in to_grade]
    given = {each[:2]: each[2] for each in draft.examples}
    guide = [(*pair, words, given.get(pair)) for pair, words in zip(to_grade, named, strict=True)]
    scale = scale_named(draft.scale)
    grades = scale.values if scale else ()
    page, code = _page("check", draft, message, status, shown=shown, wrong=wrong, guide=guide, grades=grades)
    return page, code, WITH_PICTURES


@blueprint.post("/guide")
def guide() -> ResponseReturnValue:
    """Make the rating guide: of each grade the first pair that was given it."""
    here, draft, form = _here(), _drafted(_here()), request.form
    if not draft.kind.of_items:
        abort(404)
    chosen: dict[float, tuple[str, str, float]] = {}
    for number, (query, result) in enumerate(pairs_to_grade(here.folder / draft.name)):
        text = form.get(f"grade-{number}", "")
        if re.fullmatch(r"\d{1,3}", text):
            chosen.setdefault(float(text), (query, result, float(text)))
    try:
        make_draft(replace(draft, examples=tuple(chosen.values())), here.folder)
    except RelstudyError as error:
        return check(str(error), 400)
    return redirect("/start/check#guide")


def _shown(folder: Path, items: Mapping[Any, Mapping[Any, Any]], name: str) -> tuple[str, str]:
    """An item in words, and its picture as an address that holds it ("" without one)."""
    item = items.get(name)
    if item is None:
        return "(a list: the first results of one system)", ""
    picture = _small(folder / str(item["path"])) if item["path"] and item["kind"] == "image" else ""
    text = ": ".join(str(item[part]) for part in ("title", "text") if item[part]) or str(item["path"])
    return (text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN].rsplit(' ', 1)[0]} ..."), picture


def _small(file: Path) -> str:
    """A small picture as an address that holds it; "" of one that is huge, only begins like a picture, or would wait
    for a slow one."""
    shown = io.BytesIO()
    try:
        if pixels_of(file) > MOST_PIXELS or not _ONE_PICTURE.acquire(timeout=PATIENCE):
            return ""
        try:
            read_picture(file, LONGEST_SIDE).save(shown, "JPEG", quality=80)
        finally:
            _ONE_PICTURE.release()
    except RelstudyError:  # a rater would see its name
        return ""
    return f"data:image/jpeg;base64,{base64.b64encode(shown.getvalue()).decode()}"


@blueprint.route("/rater/", defaults={"rest": ""})
@blueprint.route("/rater/<path:rest>", methods=["GET", "POST"])
def as_a_rater(rest: str) -> ResponseReturnValue:
    """Every page of the draft as a rater would meet it; nothing is stored."""
    here = _here(sends=False)
    below = {**request.environ, "SCRIPT_NAME": f"{request.script_root}/start/rater", "PATH_INFO": f"/{rest}"}
    below.pop("werkzeug.request", None)
    with ExitStack() as stack:
        try:
            app = stack.enter_context(preview_of(here.folder / _drafted(here).name))
        except RelstudyError:  # it was just exchanged for a new state
            time.sleep(MOMENT)
            app = stack.enter_context(preview_of(here.folder / _drafted(here).name))
        return Response.from_app(app, below, buffered=True)


@blueprint.post("/open")
def open_study() -> ResponseReturnValue:
    """Let the host serve the study, and go on to its researcher's pages."""
    folder = _here().folder / _drafted(_here()).name
    try:
        with alone(_here().folder):
            _drafted(_here())
            open_draft(folder)
            forget()
    except RelstudyError as error:
        return check(str(error), 400)
    link = make_setup_link(folder) or "/admin/"
    session.pop("made")
    return redirect(f"/{folder.name}{link}")


@blueprint.post("/again")
def again() -> ResponseReturnValue:
    """Take back a study that was not opened."""
    discard(_drafted(_here()), _here().folder)
    forget()
    session.pop("made")
    return redirect("/start/")


def _draft(here: SetUp) -> Draft | None:
    """The study that was made on this visit and is not open yet."""
    name = str(session.get("made", ""))
    draft = Draft.of(here.folder / name) if NAME.fullmatch(name) else None
    return draft if draft is not None and draft.owner == session.get("visitor") else None


def _drafted(here: SetUp) -> Draft:
    draft = _draft(here)
    if draft is None:
        abort(404)
    return draft
