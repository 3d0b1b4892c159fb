"""The Flask application of one study."""

from __future__ import annotations

import hashlib
import hmac
import shutil
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from flask import Flask, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException, ServiceUnavailable

from relstudy.common.runtime.by_name import load
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.attempts import Limit
from relstudy.studyapp.database.errors import DATABASE_ERRORS, classify_error
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web import api, pictures, preview, slow_answers
from relstudy.studyapp.web.admin import (
    access,
    answer,
    audit,
    export,
    further_studies,
    invite,
    open_pages,
    overview,
    raters_page,
    researchers,
    sign_on_pages,
    study_page,
)
from relstudy.studyapp.web.assets import serve_assets
from relstudy.studyapp.web.log import StudyFlask, log, log_event, log_requests
from relstudy.studyapp.web.rater import ending, entry, practice, rating, screening, withdrawal
from relstudy.studyapp.web.rendering import headers_of, prepare_templates, refusal_page, show
from relstudy.studyapp.web.security import Sessions, Signer, add_headers
from relstudy.studyapp.web.single_sign_on import sign_on_of
from relstudy.studyapp.web.site import Site, current_site
from relstudy.studyapp.web.views import MessagePage

BODY_LIMIT = 64 * 1024
PASSPHRASES = 30  # wrong ones from one address that are looked at at once; a laboratory may share it
GUESSING_SECONDS = 600.0  # the stretch in which attempts are counted
# Texts that say what went wrong: by what a page gave as the reason, else by the status of its refusal.
REASONS = {
    "link": "error.link",
    "invited": "error.invited",
    "role": "error.role",
    "parameter": "error.parameter",
    "form": "refused.form",
    "session": "refused.session",
    slow_answers.BUSY: "error.making",
    slow_answers.SENDING: "error.sending",
    slow_answers.SENDING_ALL: "error.sending.all",
}
REASONS_BY_STATUS = {
    400: "refused.form",
    403: "error.invited",
    404: "error.missing",
    405: "error.missing",
    413: "error.large",
    429: "error.often",
}


@dataclass(frozen=True)
class HostAccess:
    """Access shared by the studies of a host: the folder of its accounts, the counts of guesses at passwords, and where
    further studies are set up."""

    folder: Path
    store: Store
    set_up: further_studies.SetUp | None = None


def create_app(
    folder: str | Path,
    *,
    store: Store | None = None,
    secure: bool | None = None,
    only_preview: bool = False,
    host: HostAccess | None = None,
    address: str = "",
    name: str = "",
) -> Flask:
    """The app that serves a study folder; the database must be up to date (`assignment.synchronisation.prepare`).

    Parameters
    ----------
    folder : the study
    store : the database; default: the study's own
    secure : whether cookies are for https only; default: whether the study's url begins with https
    only_preview : show the study's pages, and let nobody rate
    host : where the study is one of several on a host
    address : the study's public address, where its host was given one
    name : the study's on its host: sessions and forms are signed for it alone, also where all studies have one secret
    """
    study = Study.load(folder)
    secret = read_secret(folder)
    signing = hmac.digest(secret, f"study|{name}".encode(), "sha256") if name else secret
    database = store or Store.of_study(folder)
    app = StudyFlask("studyapp", root_path=str(Path(__file__).parent))
    app.config.update(
        SECRET_KEY=signing,
        MAX_CONTENT_LENGTH=BODY_LIMIT,
        MAX_FORM_MEMORY_SIZE=BODY_LIMIT,
        MAX_FORM_PARTS=1000,
        # Two studies of one id on one host would throw each other's raters out.
        SESSION_COOKIE_NAME=f"relstudy-{study.id}-{hashlib.sha256(signing).hexdigest()[:8]}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=study.url.startswith("https://") if secure is None else secure,
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=timedelta(days=90),
        SEND_FILE_MAX_AGE_DEFAULT=3600,
    )
    app.extensions["relstudy"] = Site(
        folder=Path(folder),
        secret=secret,
        store=database,
        signer=Signer(signing),
        at_start=study,
        templates=app.jinja_env,
        address=address,
        sign_on=None if only_preview else sign_on_of(study, app, address),
        account_folders=(Path(folder), host.folder) if host else (Path(folder),),
        link_limit=Limit(database, "link", 30, GUESSING_SECONDS, secret),
        password_limit=_password_limit(host) if host else Limit(database, "password", 10, GUESSING_SECONDS, secret),
        passphrase_limit=Limit(database, "passphrase", PASSPHRASES, GUESSING_SECONDS, secret),
        join_limit=Limit(database, "join", study.entry.joins_per_address, GUESSING_SECONDS, secret),
    )
    for module in (
        *(entry, screening, rating, practice, ending, withdrawal, pictures, preview, load(PROLIFIC)),
        *(access, sign_on_pages, study_page, overview, answer, raters_page, open_pages, invite, export, audit, api),
    ):
        app.register_blueprint(module.blueprint)
    if host is not None and host.set_up is not None:
        host.set_up.add_to_study(app)
    app.session_interface = Sessions()
    prepare_templates(app.jinja_env)
    app.jinja_env.globals.update(
        may=researchers.may, researcher=researchers.current_account, may_set_up=further_studies.may_set_up
    )
    for address in ("/health", "/health/ready"):
        app.add_url_rule(address, address[1:].replace("/", "_"), _health)
    app.add_url_rule("/health/live", "health_live", lambda: jsonify(status="ok"))
    add_headers(app)
    serve_assets(app)
    log_requests(app)
    if only_preview:
        preview.serve_only_preview(app)
    app.register_error_handler(HTTPException, _http_error)
    for kind in DATABASE_ERRORS:
        app.register_error_handler(kind, _database_error)
    app.register_error_handler(RelstudyError, _damage)
    return app


def _password_limit(host: HostAccess) -> Limit:
    """Counted in the host's database, since an account of the host's opens every study."""
    return Limit(host.store, "password", 10, GUESSING_SECONDS, read_secret(host.folder))


PROLIFIC = "relstudy.studyapp.prolific.events"
"""Routes of a platform, which are loaded by name."""
LEAST_FREE = 16 << 20
"""Bytes of disk below which ratings may fail to be saved, though a small write still fits."""


def _health() -> ResponseReturnValue:
    if not current_site().store.answers():
        return jsonify(status="the database does not answer"), 503
    if shutil.disk_usage(current_site().folder).free < LEAST_FREE:
        return jsonify(status="the disk is full"), 503
    return jsonify(status="ok")


def _http_error(error: HTTPException) -> ResponseReturnValue:
    if error.code is not None and error.code < 400:
        return error
    if request.blueprint == "api":
        return api.refusal(error)
    site = current_site()
    reason = REASONS.get(error.description or "") or REASONS_BY_STATUS.get(error.code or 500, "error.other")
    text = site.texts(reason, name=site.study.entry.id_parameter)  # of which error.parameter speaks
    page = MessagePage(site.texts("error.heading"), text, "/", site.texts("error.home"))
    return show("message.html", page), error.code or 500, headers_of(error)


def _database_error(error: Exception) -> ResponseReturnValue:
    current_site().answer_without_database()
    reason = classify_error(error)
    log_event("database", trouble=reason, error=type(error).__name__)
    if reason == "broken":
        log.exception("database")
    return _not_saved(reason, {"full": 507, "busy": 503, "broken": 500}[reason])


def _damage(error: RelstudyError) -> ResponseReturnValue:
    """One of the study's files is not what it should be: which one is in the log, for the researcher alone."""
    log_event("damage", trouble=str(error))
    if request.blueprint == "api":
        return api.refusal(ServiceUnavailable("a file of the study is damaged; the server's log names it"))
    current_site().answer_without_database()
    return _not_saved("damaged", 503)


def _not_saved(reason: str, status: int) -> ResponseReturnValue:
    if request.method == "POST":
        return refusal_page(reason, status)
    texts = current_site().texts
    page = MessagePage(texts("error.heading"), texts(f"refused.{reason}"), request.path, texts("refused.again"))
    again = {"Refresh": "5"} if status == 503 else {}  # it passes, and browsers ask again by themselves
    return show("message.html", page), status, {"Retry-After": "5", **again}
