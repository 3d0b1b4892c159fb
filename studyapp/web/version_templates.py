"""The app's templates as one version of a study fills them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from markupsafe import Markup

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.texts import Texts
from relstudy.studyapp.web.views import Choice


def templates_of(study: Study, texts: Texts, app_templates: Environment, direction: str = "ltr") -> Environment:
    """The templates with a version's own `study`, texts and direction, which a page asks for about 50 times.

    A text without values, as in `{{ 'rate.query' | text }}`, is worked out when the template is compiled, and
    `text('rate.progress', page=3, pages=9)` for each page.
    """
    templates: Environment = app_templates.overlay(bytecode_cache=_compiled_with(tuple(sorted(texts.texts.items()))))
    templates.filters = {**app_templates.filters, "text": texts}
    templates.globals = {**app_templates.globals, "text": texts, "study": study, "direction": direction}
    templates.globals["cached_scale"] = _cached_scale(templates)
    templates.globals["shared_parts"] = functools.cache(lambda: templates.get_template("parts.html").module)
    return templates


class CompiledTemplates(BytecodeCache):
    """Templates with the same texts, each compiled once: a host's twentieth study has them at hand."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], types.CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """The code, where the template of that name has the same text."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


@functools.lru_cache(maxsize=32)
def _compiled_with(_texts: tuple[tuple[str, str], ...]) -> CompiledTemplates:
    """Templates compiled with these texts, which are in the code."""
    return CompiledTemplates()


def _cached_scale(templates: Environment) -> Callable[..., Markup]:
    """The scale's markup (macro `scale` of parts.html), made once for each field and choice.

    A page repeats it for every result, and nothing in it belongs to one rater: drawing it again was a quarter of the
    time it took to answer a request.
    """

    @functools.lru_cache(maxsize=4096)
    def draw(
        choices: tuple[Choice, ...],
        undecided: bool,
        name: str,
        chosen: str,
        legend: str,
        not_shown: bool,
        heading: str,
        required: bool,
    ) -> Markup:
        parts = templates.get_template("parts.html").module
        drawn: Markup = parts.scale(  # type: ignore[attr-defined]
            choices, undecided, name, chosen, legend, not_shown=not_shown, heading=heading, required=required
        )
        return drawn

    def scale(
        choices: tuple[Choice, ...],
        undecided: bool,
        name: str,
        chosen: str,
        legend: str,
        not_shown: bool = False,
        heading: str = "",
        required: bool = True,
    ) -> Markup:
        # What was typed may be anything; only what the scale knows is worth keeping.
        is_choice = chosen in ("undecided", "not_shown") or any(chosen == choice.value for choice in choices)
        if choices[0].along is not None and not is_choice:  # a slider's numbers are too many to keep
            return draw.__wrapped__(choices, undecided, name, chosen, legend, not_shown, heading, required)
        cached = chosen if is_choice else ""
        return draw(choices, undecided, name, cached, legend, not_shown, heading, required)

    return scale
