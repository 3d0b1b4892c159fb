"""The study before anybody rates: every page as a rater would meet it. Nothing is handed out, and nothing is stored."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flask import Blueprint, Flask, abort, g, redirect, request
from flask.typing import ResponseReturnValue

from relstudy.common.tables.meaning.scales import show_value
from relstudy.studyapp.assignment.catalogue import PageRow, read_first_page
from relstudy.studyapp.assignment.eligibility import COMPLETED, PracticeResult
from relstudy.studyapp.assignment.enrolment import Rater
from relstudy.studyapp.assignment.sequence import Assignment, RaterPage
from relstudy.studyapp.config.outcomes import OUTCOMES
from relstudy.studyapp.web.admin.researchers import is_admin, may_preview
from relstudy.studyapp.web.rater.ending import questions_view, thanks_page
from relstudy.studyapp.web.rater.entry import consent_view, instructions_view
from relstudy.studyapp.web.rater.practice import again_page, feedback_page
from relstudy.studyapp.web.rater.rating_page import build_rating_page
from relstudy.studyapp.web.rater.screening import screening_view
from relstudy.studyapp.web.rater.withdrawal import withdraw_view
from relstudy.studyapp.web.rendering import Preview, end_page, show
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("preview", __name__, url_prefix="/preview")

NOBODY = "PREVIEW"


@dataclass(frozen=True)
class Shown:
    """One page of the preview: its address, its name in words, and how it is drawn."""

    name: str
    label: str
    draw: Callable[[], str]


@dataclass(frozen=True)
class Pages:
    """The list of all pages; `researcher` has pages of their own to go back to."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    researcher: bool


def serve_only_preview(app: Flask) -> None:
    """Make an app that answers with the preview, pictures and nothing else."""
    app.config["PREVIEW"] = True

    @app.before_request
    def _lead_to_preview() -> ResponseReturnValue | None:
        kept = request.blueprint in ("preview", "pictures") or request.endpoint in (
            "static",
            "health",
            "health_ready",
            "health_live",
        )
        return None if kept or request.url_rule is None else redirect("/preview/", 303)


@blueprint.get("/")
def overview() -> ResponseReturnValue:
    """All pages, in the order in which a rater meets them."""
    if not may_preview():
        return redirect("/admin/login")
    pages = _pages()
    names, labels = tuple(page.name for page in pages), tuple(page.label for page in pages)
    g.preview = Preview(names, "", labels)
    return show("preview.html", Pages(names, labels, is_admin()))


@blueprint.route("/<name>", methods=["GET", "POST"])
def page(name: str) -> ResponseReturnValue:
    """One page; a form of it is not read, and leads on."""
    if not may_preview():
        return redirect("/admin/login", 303)
    pages = {page.name: page for page in _pages()}
    if name not in pages:
        abort(404)
    g.preview = Preview(tuple(pages), name, tuple(page.label for page in pages.values()))
    return redirect(g.preview.onward, 303) if request.method == "POST" else pages[name].draw()


def _pages() -> list[Shown]:
    """Every page that this study has, as it is served."""
    site = current_site()
    study, texts, catalogue = site.study, site.texts, site.catalogue
    rater = _somebody()
    asks = "passphrase" in study.entry.rules
    shown = [
        Shown("consent", texts("consent.heading"), lambda: show("consent.html", consent_view(asks))),
        *(_screening(rater) if study.screening else []),
        Shown(
            "instructions", texts("instructions.heading"), lambda: show("instructions.html", instructions_view(), rater)
        ),
    ]
    for block in study.blocks:
        for number, page in enumerate(catalogue.of(block.name, "practice"), start=1):
            shown += _practice(rater, block.name, page, number)
    shown += _again(rater)
    for number, block in enumerate(study.blocks, start=1):
        for kind, label in (("pair", "preview.block"), ("check", "preview.check")):
            for page in _first_page(block.name, kind):
                address = f"block-{number}" if kind == "pair" else f"block-{number}-check"
                words = texts(label, block=block.name)
                shown.append(Shown(address, words, _rating(rater, block.name, kind, page, address)))
    shown.append(Shown("wait", texts("preview.wait"), lambda: show("wait.html", None, rater)))
    if study.questions:
        heading = texts("questions.heading")
        shown.append(Shown("questions", heading, lambda: show("questions.html", questions_view({}, {}), rater)))
    return shown + _endings(rater)


def _first_page(block: str, kind: str) -> list[PageRow]:
    """The first page of a kind that a block has, if any."""
    if kind != "pair":
        return current_site().catalogue.of(block, kind)[:1]
    with current_site().store.read_one() as connection:
        page = read_first_page(connection, block)
    return [] if page is None else [page]


def _endings(rater: Rater) -> list[Shown]:
    """Possible ends of a visit: completed first, then every other."""
    site = current_site()

    def thanks(outcome: str) -> Shown:
        page = thanks_page(outcome, rater, more=outcome == COMPLETED)
        return Shown(outcome, site.texts(f"preview.{outcome}"), lambda: show("thanks.html", page, rater))

    def ended(outcome: str) -> Shown:
        page = end_page(outcome, rater)
        return Shown(outcome, page.heading, lambda: show("message.html", page))

    heading = site.texts("withdraw.heading")
    leaving = [Shown("withdraw", heading, lambda: show("withdraw.html", withdraw_view(rater), rater))]
    limits = site.study.limits
    is_limited = bool(site.study.groups) or limits.raters is not None or limits.ratings is not None
    ways = site.study.possible_outcomes
    with_thanks = [way for way in ways if OUTCOMES[way].with_thanks and not (way == "full" and is_limited)]
    return [
        thanks(COMPLETED),
        *map(thanks, with_thanks),
        *(leaving if site.study.withdrawal else []),
        *(ended(way) for way in ways if way not in with_thanks),
    ]


def _screening(rater: Rater) -> list[Shown]:
    heading = current_site().texts("screening.heading")
    return [Shown("screening", heading, lambda: show("questions.html", screening_view({}, {}), rater))]


def _again(rater: Rater) -> list[Shown]:
    """The page of those who have not passed the practice, if there is another attempt."""
    study = current_site().study
    if study.qualification is None or study.qualification.attempts < 2:
        return []
    total = len(study.practice)
    result = PracticeResult(0, total, study.qualification.needed(total), study.qualification.attempts - 1)
    return [
        Shown("again", current_site().texts("preview.again"), lambda: show("again.html", again_page(result), rater))
    ]


def _practice(rater: Rater, block: str, page: PageRow, number: int) -> list[Shown]:
    """A practice page, and what is said of an answer that is not the one expected, if there is such an answer."""
    texts, address = current_site().texts, f"practice-{number}"
    values = current_site().study.block(block).scale.values
    chosen = {(pair.pair_id, ""): show_value(values[0]) for pair in page.pairs}

    def feedback() -> str:
        onward = g.preview.onward
        return show("practice.html", feedback_page(page.pairs, chosen, onward), rater)

    return [
        Shown(address, texts("preview.practice", number=number), _rating(rater, block, "practice", page, address)),
        Shown(f"{address}-told", texts("preview.told", number=number), feedback),
    ]


def _rating(rater: Rater, block: str, kind: str, page: PageRow, name: str) -> Callable[[], str]:
    """A page of results, none of them rated, whose form leads on."""

    def draw() -> str:
        pair_ids = [pair.pair_id for pair in page.pairs]
        in_nobodys = Assignment(0, 0, 1, block, kind, page.id, pair_ids, None, time.time(), None, False)
        built = build_rating_page(RaterPage(rater, in_nobodys, too_early=False, shown=page.pairs), in_nobodys, {})
        return show("rate.html", replace(built, action=f"/preview/{name}", back=""), rater)

    return draw


def _somebody() -> Rater:
    """A rater who does not exist, come by the study's first way in."""
    entry = current_site().study.entry
    fields: dict[str, Any] = {
        **dict.fromkeys(Rater._fields),  # what has not happened to anybody yet
        **dict.fromkeys(("id", "seed", "created_at", "consented_at", "started_at", "locked_to", "extra_pages"), 0),
        "rater_id": NOBODY,
        "session_key": "",
        "entry": entry.rules[0] if entry.rules else "personal",
        "identity": NOBODY,
        "parameters": dict.fromkeys(entry.keep_parameters, NOBODY),
        "completion_code": entry.completion_code or NOBODY,
    }
    return Rater(**fields)
