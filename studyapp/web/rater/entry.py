"""The way in: personal links, open enrolment, passphrase, crowd links, consent."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
import time
from dataclasses import asdict, replace

from flask import Blueprint, Response, abort, make_response, redirect, request
from flask import session as flask_session
from flask.typing import ResponseReturnValue

from relstudy.common.runtime.wording import listed
from relstudy.studyapp.assignment.eligibility import needs_screening
from relstudy.studyapp.assignment.enrolment import Rater, end_session, enrol, find_rater, record_consent, token_identity
from relstudy.studyapp.assignment.quotas import turns_away
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import PLATFORM_RULES
from relstudy.studyapp.config.texts import Texts
from relstudy.studyapp.web import session
from relstudy.studyapp.web.mount import asked_query, is_within
from relstudy.studyapp.web.rater.expected_duration import said_duration
from relstudy.studyapp.web.rater.steps import rater_of_page
from relstudy.studyapp.web.rendering import choices, end_page, paragraphs, rating_guide, show, unavailable
from relstudy.studyapp.web.site import LANGUAGE, current_site
from relstudy.studyapp.web.views import ConsentPage, InstructionsPage, SwitchPage

blueprint = Blueprint("entry", __name__)


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """Continue where this browser's rater was; else show the way in."""
    if session.current_rater() is not None or session.pending() is not None:
        return redirect("/rate")
    if not current_site().study.entry.open_rule:
        return _uninvited()
    return redirect(f"/consent{asked_query()}")


@blueprint.get("/language/<code>")
def choose_language(code: str) -> ResponseReturnValue:
    """Show the pages in a language from now on, beginning with the one that its link was on."""
    if code not in current_site().served.in_languages:
        abort(404)
    flask_session[LANGUAGE] = code
    back = request.args.get("back", "/")
    return redirect(back if is_within(back) else "/", 303)


def _uninvited() -> ResponseReturnValue:
    """The page without an invitation: the way back for those who declined, else a note that a link is needed."""
    if session.ended() is None:
        abort(403, description="invited")
    return redirect("/ended")


def _turned_away() -> str:
    """Reason why nobody new is admitted, as an outcome; empty while they are."""
    site = current_site()
    with site.store.read() as connection:
        return turns_away(connection, site.study, time.time())


def _group_asked_for() -> dict[str, str]:
    """The group that a link names, by its parameter; a name that is not a group's is not a link of the study's."""
    study = current_site().study
    name = request.args.get(study.entry.group_parameter, "") if study.entry.group_parameter else ""
    if name and name not in [group.name for group in study.groups]:
        abort(404, description="link")
    return {study.entry.group_parameter: name} if name else {}


def _invited(token: str) -> Rater:
    """The rater to whom a personal link belongs; guesses count against the client."""
    rater = None
    if "personal" in current_site().study.entry.rules and len(token) <= 128:
        with current_site().store.read() as connection:
            rater = find_rater(connection, "personal", token_identity(token))
    if rater is None:
        session.refuse_guess(404, "link")
    return rater


@blueprint.get("/enter/<token>")
def enter(token: str) -> ResponseReturnValue:
    """A personal link; where the browser is another rater's, whoever sits there is asked first."""
    rater = _invited(token)
    current = session.current_rater()
    if current is not None and current.id != rater.id:
        return show("switch.html", SwitchPage(f"/enter/{token}"), current)
    session.sign_in(rater)
    return redirect("/rate")


@blueprint.post("/enter/<token>")
def switch(token: str) -> ResponseReturnValue:
    """Go on as the holder of a personal link instead of as the rater of this browser."""
    rater = _invited(token)
    session.require_csrf(session.current_rater())
    session.sign_in(rater)
    return redirect("/rate", 303)


@blueprint.get("/join")
def join() -> ResponseReturnValue:
    """A crowd platform's link: the same person is the same rater again.

    An id is no secret. So it is answered in the same way whether it is known or not, and leads to consent; only the
    browser of that very rater goes on at once.
    """
    entry = current_site().study.entry
    if not entry.platform_rule:
        abort(404)
    identity = request.args.get(entry.id_parameter, "").strip()
    # A placeholder that the platform did not fill in would make one rater of all who come with it.
    if not identity or len(identity) > 200 or not identity.isprintable() or re.search(r"\{\{|\$\{|^\{.*\}$", identity):
        abort(400, description="parameter")
    parameters = {name: request.args.get(name, "")[:200] for name in entry.keep_parameters} | _group_asked_for()
    rater = session.current_rater()
    if rater is not None and (rater.entry, rater.identity) == (entry.platform_rule, identity):
        return redirect("/rate")
    session.set_pending(entry.platform_rule, identity, parameters)
    return redirect("/consent")


def _rater_at_the_door() -> Rater | None:
    """The rater of this browser; None where somebody is on the way in by it, who counts before them."""
    return None if session.pending() else session.current_rater()


@blueprint.get("/consent")
def consent() -> ResponseReturnValue:
    """The consent page."""
    if current_site().state != "open":
        return unavailable()
    rater = _rater_at_the_door()
    if rater is None and session.pending() is None:
        way = current_site().study.entry.open_rule
        if not way:
            return _uninvited()
        session.set_pending(way, secrets.token_hex(16), _group_asked_for())
    if rater is not None and rater.consented_at is not None:
        return redirect("/rate")
    arrival = session.pending()
    # Whether a platform's id is known is told by consent alone; who is known goes on, however full the study is.
    if (arrival is None or arrival["entry"] not in PLATFORM_RULES) and (outcome := _turned_away()):
        return show("message.html", end_page(outcome, rater)), 503
    return _consent_page(rater)


def _consent_page(rater: Rater | None, message: str = "", status: int = 200, *, typed: str = "") -> ResponseReturnValue:
    arrival = session.pending()
    asks = rater is None and arrival is not None and arrival["entry"] == "passphrase"
    more = rater.extra_pages if rater else 0
    page = consent_view(asks, message, extra_pages=more, way=_way(rater))
    return show("consent.html", replace(page, typed=typed), rater), status


def _way(rater: Rater | None) -> str:
    """The rule by which who is asking came."""
    arrival = session.pending()
    return rater.entry if rater is not None else arrival["entry"] if arrival is not None else ""


def consent_view(asks_passphrase: bool, message: str = "", *, extra_pages: int = 0, way: str = "") -> ConsentPage:
    """The consent page in the study's words; `message` says what is wrong, `way` is the way in that was taken."""
    site = current_site()
    said = consent_paragraphs(site.study, site.texts, way or site.study.entry.rules[0])
    return ConsentPage(said, consent_hash(said), said_duration(extra_pages), asks_passphrase, message)


@blueprint.post("/consent")
def agree() -> ResponseReturnValue:
    """Consent given: enrol, once per person however often this is sent."""
    arrival, rater = session.pending(), _rater_at_the_door()
    if rater is not None and rater.consented_at is not None:
        return redirect("/rate", 303)
    if rater is None and arrival is None:
        if "pending" in flask_session:  # the way they came by has been closed since
            abort(403, description="invited")
        abort(401, description="session")
    session.require_csrf(rater)
    if request.form.get("agree") != "yes":
        return redirect("/consent", 303)
    if current_site().state != "open":
        return unavailable()
    if rater is None and arrival is not None and arrival["entry"] == "passphrase":
        refused = _refused_passphrase(request.form.get("passphrase", "").strip())
        if refused is not None:
            return refused
    most = current_site().study.entry.joins_per_address
    if rater is None and most and not current_site().join_limit.attempt(session.client(), most):
        abort(429)
    now = time.time()
    with current_site().write() as connection:
        agreed = consent_hash(consent_paragraphs(current_site().study, current_site().texts, _way(rater)))
        if request.form.get("text", agreed) != agreed:
            return _consent_page(rater, current_site().texts("consent.changed"), 409)
        if rater is None:
            assert arrival is not None
            returning = find_rater(connection, arrival["entry"], arrival["identity"])
            outcome = "" if returning else turns_away(connection, current_site().study, now)
            if outcome:
                return show("message.html", end_page(outcome)), 503
            rater = returning or enrol(connection, current_site().study, **arrival, now=now)
        record_consent(connection, rater, now, current_site().version, agreed)
    session.sign_in(rater, by_id_alone=rater.entry in PLATFORM_RULES)
    return redirect("/instructions", 303)


PACE = 2.0  # seconds between two passphrases of an address from which many wrong ones came
MOST_WAIT = 4.0  # seconds that one waits for its turn
_WAITING = threading.Semaphore()  # a thread of each process may wait so, and the others go on with raters


def _refused_passphrase(given: str) -> ResponseReturnValue | None:
    """The page for a passphrase that is not the right one, or whose turn is not yet; None where it lets in.

    Many people may share an address, and none of them is to be shut out by others' mistakes. So wrong ones only cost
    time. One that nobody guesses is looked at whenever it comes, as links and tokens are.
    """
    site = current_site()
    holds = hmac.compare_digest(given.encode(), site.study.entry.passphrase.encode())
    if site.study.entry.has_strong_passphrase:
        return None if holds else _consent_page(None, site.texts("passphrase.wrong"), 403)
    guesses = site.passphrase_limit
    may_wait = _WAITING.acquire(blocking=False)
    try:
        seconds = guesses.take_turn(session.client(), PACE, MOST_WAIT if may_wait else 0.0)
        if seconds is None:
            page = make_response(_consent_page(None, site.texts("passphrase.often"), 429, typed=given[:200]))
            page.headers["Retry-After"] = f"{MOST_WAIT:.0f}"
            return page
        if seconds:
            time.sleep(seconds)
    finally:
        if may_wait:
            _WAITING.release()
    if holds:
        guesses.forgive(session.client())
        return None
    return _consent_page(None, site.texts("passphrase.wrong"), 403)


@blueprint.post("/decline")
def decline() -> ResponseReturnValue:
    """Consent withheld: nothing is kept but, in the browser, the page with the way back."""
    rater = _rater_at_the_door()
    session.require_csrf(rater)
    if rater is not None and rater.consented_at is not None:
        return redirect("/rate", 303)
    page = end_page("no_consent", rater)
    if not page.link:
        page = replace(page, link="/", link_text=current_site().texts("error.home"))
    session.end_visit(asdict(page))
    return redirect("/ended", 303)


@blueprint.get("/instructions")
def instructions() -> ResponseReturnValue:
    """The instructions; can be read again at any time."""
    rater = rater_of_page()
    if needs_screening(current_site().study, rater):
        return redirect("/screening")
    return show("instructions.html", instructions_view(), rater)


def instructions_view() -> InstructionsPage:
    """The instructions, in the study's words, and the scales."""
    study = current_site().study
    asked = {block.ask for block in study.blocks}
    way = f".{asked.pop()}" if len(asked) == 1 and "rating" not in asked else ""
    return InstructionsPage(
        paragraphs(study.instructions or current_site().texts(f"instructions.default{way}")),
        _practice_words(study),
        tuple(choices(scale) for scale in study.graded),
        rating_guide(study.graded),
    )


def _practice_words(study: Study) -> str:
    """Sentences on the practice, or empty."""
    texts, rules, total = current_site().texts, study.qualification, len(study.practice)
    if rules is None:
        return texts("instructions.practice") if total else ""
    needed, attempts = rules.needed(total), rules.attempts
    return texts("instructions.qualify", needed=needed, total=total, attempts=attempts)


@blueprint.post("/leave")
def leave() -> ResponseReturnValue:
    """Forget the rater in this browser (on a shared machine); not who is out of the study, and would begin again."""
    rater = session.current_rater()
    session.require_csrf(rater)
    if rater is not None and rater.outcome is not None:
        return redirect("/ended", 303)
    if rater is not None:
        end_session(current_site().store, rater.id)
    flask_session.clear()
    response: Response = redirect("/", 303)  # type: ignore[assignment]
    return response


def consent_paragraphs(study: Study, texts: Texts, way: str) -> tuple[str, ...]:
    """The consent text for those who come by this way (one of ENTRY_RULES)."""
    return (
        paragraphs(study.consent)
        if study.consent
        else (*paragraphs(texts("consent.default")), _stored(study, texts, way))
    )


def consent_hash(said: tuple[str, ...]) -> str:
    """SHA-256 of a consent text: its paragraphs, with an empty line between them, as UTF-8.

    Examples
    --------
    >>> consent_hash(("One.", "Another."))[:12]
    '1a8690c2563a'
    """
    return hashlib.sha256("\n\n".join(said).encode()).hexdigest()


def _stored(study: Study, texts: Texts, way: str) -> str:
    """Sentences on the data stored beside the ratings."""
    if way in PLATFORM_RULES:
        names = [study.entry.id_parameter, *study.entry.keep_parameters]
        said = [texts("consent.stored.platform", names=listed(names))]
    else:
        said = [texts("consent.stored.personal" if way == "personal" else "consent.stored.cookie")]
    said.append(texts("consent.stored.times"))
    if study.screening:
        said.append(texts("consent.stored.screening"))
    if study.questions:
        said.append(texts("consent.stored.questions"))
    if study.withdrawal:
        said.append(texts(f"consent.stored.withdrawal.{study.withdrawal}"))
    if study.keep_until is not None:
        said.append(texts("consent.stored.until", date=study.keep_until))
    return " ".join(said)
