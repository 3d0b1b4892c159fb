"""Many studies on one port: /NAME/ is the study in the folder NAME, everything else the host itself."""

from __future__ import annotations

import contextlib
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from flask import Flask, jsonify, request
from flask.typing import ResponseReturnValue
from jinja2 import StrictUndefined
from werkzeug.exceptions import HTTPException

from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.texts import Texts
from relstudy.studyapp.web.admin.further_studies import SetUp
from relstudy.studyapp.web.assets import serve_assets
from relstudy.studyapp.web.connections import announce, listen, make_worker, shown_address
from relstudy.studyapp.web.draft import remove_leftovers
from relstudy.studyapp.web.hosted import NAME, RESERVED, TRY_AGAIN, HostedStudies
from relstudy.studyapp.web.log import StudyFlask, log_requests
from relstudy.studyapp.web.mount import WsgiApp, at, mounted, path_of
from relstudy.studyapp.web.options import ServerOptions
from relstudy.studyapp.web.processes import run_workers
from relstudy.studyapp.web.security import add_headers
from relstudy.studyapp.web.set_up import add_pages, visitors_of
from relstudy.studyapp.web.starting import end_deleting
from relstudy.studyapp.web.uploads import UPLOAD
from relstudy.studyapp.web.views import MessagePage

TITLE = "Studies"
HOME = "Several studies are held at this address. Please use the whole link that you were given."
NO_KEY = "Please open the whole link that `relstudy start` printed."
TOO_LARGE = f"Up to {UPLOAD >> 20} MB can be uploaded at once; `relstudy ask` takes files of any size."
BUSY = "Studies are being set up here, and there is no place for another at the moment. Please try again in a minute."
AWAY = "This study cannot be reached at the moment. Please try again in a few minutes."


def run_host(
    places: Sequence[Path], server: ServerOptions, url: str = "", *, set_up: SetUp | None = None, browser: bool = False
) -> None:
    """Open every study that is there, listen, and serve until stopped.

    Parameters
    ----------
    places : folders, each a study or a folder of studies
    url : the host's public address; "": where it listens
    set_up : lets whoever has its key make studies in the browser
    browser : open this machine's browser there

    Raises
    ------
    RelstudyError
        where a folder is missing or the port is taken; a study that cannot be served is reported and left out
    """
    for place in places:
        if not place.is_dir():
            raise RelstudyError(f"{place}: there is no such folder")
    listener = listen(server.host, server.port)
    local = f"http://{shown_address(listener, server)}"
    address = url or local
    studies = HostedStudies(
        places,
        address,
        secure=address.startswith("https://"),
        url_is_given=bool(url),
        trusted_proxy=server.trusted_proxy,
        set_up=set_up,
    )
    for name, folder in studies.listed().items():
        if not NAME.fullmatch(name) or name in RESERVED:
            say(
                f"{folder} is not served: its name is not an address; letters, digits, - and _ are allowed, and not "
                f"{' or '.join(RESERVED)}"
            )
            continue
        with contextlib.suppress(RelstudyError):  # it has been reported
            studies.get(name)
    say(f"{studies.served} studies below {address}/ (health: {address}/health)")
    announce(listener, server)
    app = mounted(host_app(studies), path_of(address))
    if set_up is not None:
        remove_leftovers(set_up.folder)
        link = f"{address}/start/{set_up.key}"
        say(f"Set up a study: {link}")
        if browser:
            webbrowser.open(link)

    def work() -> None:
        studies.begin_work()
        if set_up is None:
            make_worker(app, listener, server).run()
        else:
            make_worker(app, listener, server, UPLOAD, visitors_of(set_up)).run()

    try:
        run_workers(work, server.workers)
    finally:
        if set_up is not None:
            remove_leftovers(set_up.folder)
    for folder in studies.listed().values():
        end_deleting(folder)


def host_app(studies: HostedStudies) -> WsgiApp:
    """Each study below its name, and the host's own pages."""
    front = _front_app(studies)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        root, asked = environ.get("SCRIPT_NAME", ""), environ.get("PATH_INFO", "")
        name, _, rest = asked.lstrip("/").partition("/")
        try:
            hosted = studies.get(name)
        except RelstudyError:
            return front({**environ, "PATH_INFO": "/away"}, start_response)
        if hosted is None:
            return front(environ, start_response)
        below = {**environ, "SCRIPT_NAME": f"{root}/{name}", "PATH_INFO": f"/{rest}"}
        return hosted.app(below, start_response)

    return app


def _front_app(studies: HostedStudies) -> Flask:
    """The host's own pages: if there is no study of that name, or where it cannot be served now."""
    texts = Texts()
    app = StudyFlask("host", root_path=str(Path(__file__).parent))
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.filters.update(at=at, text=texts)
    app.jinja_env.globals.update(
        preview=lambda: None,
        text=texts,
        study=SimpleNamespace(language="en", title=TITLE, contact=""),
        direction="ltr",
    )

    def message(text: str, status: int, **headers: str) -> ResponseReturnValue:
        page = MessagePage(texts("error.heading"), text)
        return app.jinja_env.get_template("message.html").render(page=page), status, headers

    @app.get("/health")
    def health() -> ResponseReturnValue:
        return jsonify(status="ok", studies=studies.served)

    @app.get("/")
    def home() -> ResponseReturnValue:
        page = MessagePage(TITLE, HOME)
        return app.jinja_env.get_template("message.html").render(page=page)

    @app.route("/away", methods=["GET", "POST"])
    def away() -> ResponseReturnValue:
        return message(AWAY, 503, **{"Retry-After": str(int(TRY_AGAIN)), **_asks_again()})

    @app.errorhandler(403)
    def no_key(_error: Exception) -> ResponseReturnValue:
        return message(NO_KEY, 403)

    @app.errorhandler(400)
    @app.errorhandler(413)
    def not_taken(error: HTTPException) -> ResponseReturnValue:
        return message(TOO_LARGE if error.code == 413 else texts("error.other"), error.code or 400)

    @app.errorhandler(503)
    def busy(_error: Exception) -> ResponseReturnValue:
        return message(BUSY, 503, **{"Retry-After": str(int(TRY_AGAIN)), **_asks_again()})

    if studies.set_up is not None:
        add_pages(app, studies.set_up, secure=studies.secure)

    @app.errorhandler(404)
    @app.errorhandler(405)
    def missing(_error: Exception) -> ResponseReturnValue:
        return message(texts("error.missing"), 404)

    add_headers(app)
    serve_assets(app)
    log_requests(app)
    return app


def _asks_again() -> dict[str, str]:
    """A page that was only looked at is loaded again by the browser itself."""
    return {"Refresh": str(int(TRY_AGAIN))} if request.method == "GET" else {}
