"""From the study's values to what a template is given."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from flask import current_app, g
from jinja2 import BytecodeCache, Environment, pass_context
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup
from werkzeug.local import LocalProxy

from relstudy.common.scales import Scale, show_value
from relstudy.studyapp.assignment.raters import Rater
from relstudy.studyapp.collection.displayed import DisplayedItem
from relstudy.studyapp.web import session
from relstudy.studyapp.web.mount import at
from relstudy.studyapp.web.site import Site, current_site
from relstudy.studyapp.web.views import Choice, ItemView, MessagePage


def show(template: str, page: object, rater: Rater | None = None) -> str:
    """Render a template; each gets `page` and `csrf`, beside what `prepare_templates` gives to all."""
    return current_app.jinja_env.get_template(template).render(
        page=page, csrf=session.csrf(rater), withdraws=_may_withdraw(rater)
    )


def _may_withdraw(rater: Rater | None) -> bool:
    """Whether the page's foot leads a rater out of the study."""
    is_in = rater is not None and rater.consented_at is not None and rater.outcome is None
    return is_in and bool(current_site().study.withdrawal)


class CompiledTemplates(BytecodeCache):
    """Templates of all studies of a process, each compiled once: a host's twentieth study has them at hand."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], types.CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """The code, where the template of that name has the same text."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = CompiledTemplates()


def prepare_templates(environment: Environment, here: Site) -> None:
    """Give all templates `text` (the texts), `study` and `cached_scale`, of the version that answers a request, and the
    filter `at`, through which goes every address of the study."""
    environment.bytecode_cache = _COMPILED
    environment.filters["at"] = _address_of_page
    environment.globals.update(
        text=lambda key, **values: here.texts(key, **values),
        study=LocalProxy(lambda: here.study),
        preview=current_preview,
        cached_scale=cached_scale(environment),
    )


@pass_context  # without it Jinja works out a fixed address once, for whoever is the first to see the template
def _address_of_page(_: Context, address: str) -> str:
    return at(preview_address(address))


@dataclass(frozen=True)
class Preview:
    """Where one is in the preview of a study: each form and link of the page leads on in the preview.

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


def current_preview() -> Preview | None:
    """The preview that this page belongs to; None for a rater's own pages."""
    return cast("Preview | None", g.get("preview"))


def preview_address(address: str) -> str:
    """Where an address of the study leads from the page at hand: from a page of the preview, on in the preview."""
    preview = current_preview()
    kept = ("/item/", "/preview/", "/admin/", "/static/")
    if preview is None or not address.startswith("/") or address == "/" or address.startswith(kept):
        return address
    same = {"/instructions": "instructions", "/decline": "no_consent"}.get(address)
    return f"/preview/{same}" if same else preview.onward


def cached_scale(environment: Environment) -> Callable[..., Markup]:
    """The scale's markup (macro `scale` of parts.html), made once for each field and choice.

    A page repeats it for every result, and nothing in it belongs to one rater: drawing it anew was a quarter of the
    time it took to answer a request.
    """

    @functools.lru_cache(maxsize=4096)
    def draw(version: int, choices: tuple[Choice, ...], undecided: bool, name: str, chosen: str, legend: str) -> Markup:
        parts = environment.get_template("parts.html").module
        drawn: Markup = parts.scale(choices, undecided, name, chosen, legend)  # type: ignore[attr-defined]
        return drawn

    def scale(choices: tuple[Choice, ...], undecided: bool, name: str, chosen: str, legend: str) -> Markup:
        # What was typed may be anything; only what the scale knows is worth keeping.
        is_choice = chosen == "undecided" or any(chosen == choice.value for choice in choices)
        version = current_site().version  # its texts are in the markup
        return draw(version, choices, undecided, name, chosen if is_choice else "", legend)

    return scale


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

    Key 0 means undecided, unless 0 is a value of the scale: then undecided has U alone.
    """
    whole = all(value == int(value) and 0 <= value <= 9 for value in scale.values)
    return tuple(
        Choice(
            show_value(value),
            scale.labels.get(value, ""),
            show_value(value) if whole else (str(number) if len(scale.values) <= 9 else ""),
        )
        for number, value in enumerate(scale.values, start=1)
    )


def item_view(item: DisplayedItem) -> ItemView:
    """An item as the rater sees it: no id, no file name."""
    url = f"/item/{item.key}" if item.kind == "image" else ""
    return ItemView(item.kind, item.key, url, item.title if item.kind == "text" else "", item.text)


def unavailable() -> tuple[str, int]:
    """The study is paused or closed."""
    return show("message.html", end_page(current_site().state, session.current_rater())), 503


def end_page(outcome: str, rater: Rater | None = None) -> MessagePage:
    """What is said to who ends with this outcome, and the way back; in words where study.toml names no address."""
    texts = current_site().texts
    back = session.way_back(outcome, rater)
    further = "" if back or not session.is_from_platform(rater) else texts("ended.platform")
    link_text = texts("thanks.return") if back else ""
    return MessagePage(texts(f"{outcome}.heading"), texts(f"{outcome}.text"), back, link_text, further)
