"""From the study's values to what a template is given, and the page of a form that is refused."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote

from flask import g, request
from flask.typing import ResponseReturnValue
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from werkzeug.exceptions import HTTPException

from relstudy.common.runtime.wording import moment, thousands
from relstudy.common.tables.meaning.scales import Scale, show_value
from relstudy.studyapp.assignment.enrolment import Rater
from relstudy.studyapp.collection.displayed_items import CardField, DisplayedItem
from relstudy.studyapp.collection.markup import mark_spans, mark_words
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.web import session
from relstudy.studyapp.web.mount import asked_query
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import Choice, ExampleView, ItemView, MessagePage, RefusedPage


def show(template: str, page: object, rater: Rater | session.Claim | None = None) -> str:
    """Render a template; each gets `page` and `csrf`, beside what `prepare_templates` gives to all."""
    site = current_site()
    language = site.language
    given = {"page": page, "csrf": session.csrf(rater), "withdraws": _may_withdraw(rater, language.study)}
    if len(offered := site.offered) > 1:
        given["languages"] = [each.language for each in offered.values()]
        asked = request.path + (asked_query() if request.method == "GET" else "")
        given["back"] = quote(asked, safe="/")
    _PLACE.set((request.script_root, current_preview()))
    return language.templates.get_template(template).render(given)


def _may_withdraw(rater: Rater | session.Claim | None, study: Study) -> bool:
    """True if the page's foot leads a rater out of the study."""
    is_in = isinstance(rater, Rater) and rater.consented_at is not None and rater.outcome is None
    return is_in and bool(study.withdrawal)


def prepare_templates(environment: Environment) -> None:
    """Give all templates `preview`, and filters: `moment` and `thousands` write times and numbers as commands do, and
    through `at` goes every address of the study."""
    environment.filters.update(at=_address_of_page, moment=moment, thousands=thousands)
    environment.globals["preview"] = current_preview


@pass_context  # without it Jinja works out a fixed address when it compiles the template
def _address_of_page(_: Context, address: str) -> str:
    root, preview = _PLACE.get()
    within = address if preview is None else preview_address(address)
    return root + within if within.startswith("/") else within


_PLACE: ContextVar[tuple[str, Preview | None]] = ContextVar("place")
"""The mount of the page at hand, and the preview it belongs to: asked for by every address on it."""


@dataclass(frozen=True)
class Preview:
    """Position in the preview of a study: each form and link of the page leads on in the preview.

    Parameters
    ----------
    names : the pages, in the order in which they are met; each is an address below /preview/
    name : the page at hand; empty for the list of all
    labels : the pages' names in words
    """

    names: tuple[str, ...]
    name: str
    labels: tuple[str, ...]

    @property
    def number(self) -> int:
        """The page's place, from 1."""
        return self.names.index(self.name) + 1

    @property
    def before(self) -> str:
        return f"/preview/{self.names[self.number - 2]}" if self.number > 1 else ""

    @property
    def onward(self) -> str:
        return f"/preview/{self.names[self.number]}" if self.number < len(self.names) else "/preview/"


_SAME_IN_PREVIEW = ("/item/", "/language/", "/preview/", "/admin/", "/static/")


def current_preview() -> Preview | None:
    """The preview that this page belongs to; None for a rater's own pages."""
    return cast("Preview | None", g.get("preview"))


def preview_address(address: str) -> str:
    """Target of an address of the study from the page at hand: from a page of the preview, on in the preview."""
    if not address.startswith("/") or address == "/" or address.startswith(_SAME_IN_PREVIEW):
        return address
    preview = current_preview()
    if preview is None:
        return address
    same = {"/instructions": "instructions", "/decline": "no_consent"}.get(address)
    return f"/preview/{same}" if same else preview.onward


def paragraphs(text: str) -> tuple[str, ...]:
    """Plain text, split at empty lines.

    Examples
    --------
    >>> paragraphs("One\\nline.\\n\\nAnother.")
    ('One line.', 'Another.')
    """
    return tuple(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()) if part.strip())


def choices(scale: Scale) -> tuple[Choice, ...]:
    """A scale's buttons. A value of one digit has that key; others are numbered from 1, if there are at most nine.

    Key 0 means undecided, unless 0 is a value of the scale: then undecided has U alone. Of a slider the ticks: its ends
    and what has a label.
    """
    if scale.continuous:
        ticks = sorted({scale.low, scale.high, *scale.labels})
        return tuple(
            Choice(
                show_value(value),
                scale.labels.get(value, ""),
                "",
                round(100 * (value - scale.low) / (scale.high - scale.low), 3),
            )
            for value in ticks
        )
    whole = all(value == int(value) and 0 <= value <= 9 for value in scale.values)
    return tuple(
        Choice(
            show_value(value),
            scale.labels.get(value, ""),
            show_value(value) if whole else (str(number) if len(scale.values) <= 9 else ""),
        )
        for number, value in enumerate(scale.values, start=1)
    )


LONG = 1200
"""Letters from which on a text scrolls in a column of its own."""


@functools.lru_cache(maxsize=4096)  # nothing in it belongs to one rater, and a page shows ten of them
def item_view(item: DisplayedItem, words: tuple[str, ...] = ()) -> ItemView:
    """An item as the rater sees it: no id, no file name. `words` are marked in its text."""
    kind = "text" if item.kind in ("html", "markdown") else item.kind
    title, text = _view_of_text(item, words) if kind == "text" else (item.title, item.text)
    return ItemView(
        kind=kind,
        key=item.key,
        url=f"/item/{item.key}" if item.path is not None else "",
        title="" if kind == "image" else title,
        text=text,
        is_html=bool(item.html),
        fields=tuple(_marked_field(line, words) for line in item.fields),
        alt=item.more.get("alt", "") or (item.title if kind == "card" else ""),
        size=item.size,
        captions=f"/item/{item.key}/captions" if item.captions is not None else "",
        intent=tuple(part for name in ("description", "narrative") if (part := item.more.get(name))),
        long=len(item.text) > LONG or sum(len(line.value) for line in item.fields) > LONG,
    )


def _view_of_text(item: DisplayedItem, marked: tuple[str, ...]) -> tuple[str, str]:
    """Title and text, as html where the item is html or something in them is marked."""
    spans = [(int(begin), int(end)) for begin, end in item.more.get("highlights", ())]
    if item.html:
        return _marked(escape(item.title), marked), Markup(mark_words(item.html, marked))
    if not marked and not spans:
        return item.title, item.text
    text = Markup(mark_spans(item.text, spans)) if spans else escape(item.text)
    return _marked(escape(item.title), marked), _marked(text, marked)


def _marked(text: Markup, words: tuple[str, ...]) -> Markup:
    return Markup(mark_words(str(text), words)) if words and "<mark>" not in text else text


def _marked_field(line: CardField, marked: tuple[str, ...]) -> CardField:
    if not marked or line.look == "price":
        return line
    return CardField(line.label, _marked(escape(line.value), marked), line.look)


def unavailable() -> tuple[str, int]:
    """The study is paused or closed."""
    return show("message.html", end_page(current_site().state, session.current_rater())), 503


def end_page(outcome: str, rater: Rater | None = None) -> MessagePage:
    """The last page for an outcome, and the way back; in words where study.toml names no address."""
    texts = current_site().texts
    back = session.way_back(outcome, rater)
    further = "" if back or not session.is_from_platform(rater) else texts("ended.platform")
    link_text = texts("thanks.return") if back else ""
    return MessagePage(texts(f"{outcome}.heading"), texts(f"{outcome}.text"), back, link_text, further)


KEPT = 200  # fields


def refusal_page(reason: str, status: int, *, again: bool = True) -> ResponseReturnValue:
    """Say why nothing was saved (`reason` names the text) and keep the form's fields, to be sent again."""
    fields = [(name, value) for name, value in request.form.items(multi=True)][:KEPT]
    page = RefusedPage(current_site().texts(f"refused.{reason}"), request.path, tuple(fields) if again else (), again)
    headers = {"Retry-After": "5"} if status in (503, 507) else {}
    return show("refused.html", page), status, headers


def headers_of(error: HTTPException) -> dict[str, str]:
    """The headers of a refusal that a page or JSON in its place keeps: when to ask again, and what may be asked."""
    return {name: value for name, value in error.get_headers() if name in ("Retry-After", "Allow")}


def rating_guide(scales: Iterable[Scale]) -> tuple[ExampleView, ...]:
    """The examples of what grades on these scales mean, best first."""
    site = current_site()
    items, by_name = site.served.version.items, {scale.name: scale for scale in scales}
    return tuple(
        ExampleView(
            show_value(each.rating),
            by_name[each.scale].labels.get(each.rating, ""),
            item_view(items[each.query_id]),
            item_view(items[each.result_id]),
            each.text,
        )
        for each in site.study.examples
        if each.scale in by_name
    )
