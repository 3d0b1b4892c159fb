"""Html and markdown of items, made harmless: what is written of the text stays, and nothing of it runs or loads."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterable, Sequence

import nh3

TAGS = frozenset(
    [
        *("p", "br", "hr", "div", "span", "section", "article", "blockquote", "pre", "code", "kbd", "samp", "var"),
        *("b", "strong", "i", "em", "u", "s", "sub", "sup", "small", "mark", "q", "cite", "abbr", "dfn"),
        *("ul", "ol", "li", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
    ]
)
"""Elements that are kept. No link, picture, sound, film, frame, form, style, script, svg or mathml is among them."""
ATTRIBUTES = {"*": {"dir", "lang"}, "th": {"colspan", "rowspan", "scope"}, "td": {"colspan", "rowspan"}}
CONTENT_GOES = frozenset(
    [
        *("script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "math", "title", "canvas"),
        *("textarea", "select", "option", "button", "audio", "video", "frameset", "noembed", "noframes", "xmp"),
        "plaintext",
    ]
)
"""Elements that go with all that is in them; of any other that is not kept, the text stays."""
_HEADING = re.compile(r"<(/?)h([1-6])\b")
_TAG = re.compile(r"(<[^>]*>)")
_ENTITY_OR = r"&(?:#?\w+);|"
_BLOCKS = re.compile(r"</?(?:p|br|hr|div|li|ul|ol|dl|dt|dd|h[1-6]|tr|table|pre|blockquote|section|article)\b[^>]*>")


@functools.lru_cache(maxsize=4096)
def clean_html(text: str) -> str:
    """Html of which only harmless elements are left, every one of them closed; headings begin below those of the page.

    Examples
    --------
    >>> clean_html('<p onclick="x()">Go <a href="https://x.org">there</a><script>x()</script>')
    '<p>Go there</p>'
    >>> clean_html("<h1>Sailing</h1></div></li><b>at dawn")
    '<h3>Sailing</h3><b>at dawn</b>'
    """
    kept = nh3.clean(
        text,
        tags=set(TAGS),
        attributes={name: set(allowed) for name, allowed in ATTRIBUTES.items()},
        clean_content_tags=set(CONTENT_GOES),
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )
    return _HEADING.sub(lambda found: f"<{found[1]}h{min(6, int(found[2]) + 2)}", kept)


def html_of_markdown(text: str) -> str:
    """Html of a text in markdown (CommonMark with tables); html within it is shown as it is written.

    Examples
    --------
    >>> html_of_markdown("# Sailing\\n\\n*at* dawn <script>").strip().splitlines()
    ['<h1>Sailing</h1>', '<p><em>at</em> dawn &lt;script&gt;</p>']
    """
    return _markdown().render(text)


@functools.cache
def _markdown():  # type: ignore[no-untyped-def]
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def plain_text(markup: str) -> str:
    """The words of some html, without its elements and what these hide.

    Examples
    --------
    >>> plain_text("<h1>Sailing</h1><p>at&nbsp;dawn &amp; noon</p><style>p {}</style>")
    'Sailing at dawn & noon'
    """
    return " ".join(html.unescape(_TAG.sub("", _BLOCKS.sub(" ", clean_html(markup)))).split())


def words_to_mark(query: str) -> tuple[str, ...]:
    """The words of a query that are marked in its results: those of three letters at least, if any.

    Examples
    --------
    >>> words_to_mark("A boat, on a lake: boat"), words_to_mark("C4")
    (('boat', 'lake'), ('c4',))
    """
    words = tuple(dict.fromkeys(word.lower() for word in re.findall(r"\w+", query)))
    return tuple(word for word in words if len(word) > 2) or words


def mark_words(markup: str, words: Sequence[str]) -> str:
    """Html in which these words stand in <mark>, in any case; elements and entities are left as they are.

    Examples
    --------
    >>> mark_words("<p>Boats &amp; a <b>boat</b></p>", ["boat", "amp"])
    '<p>Boats &amp; a <b><mark>boat</mark></b></p>'
    """
    if not words:
        return markup
    either = "|".join(re.escape(html.escape(word, quote=False)) for word in sorted(words, key=len, reverse=True))
    pattern = re.compile(rf"{_ENTITY_OR}(?<!\w)({either})(?!\w)", re.IGNORECASE)

    def marked(found: re.Match[str]) -> str:
        return f"<mark>{found[1]}</mark>" if found[1] else found[0]

    return "".join(part if part.startswith("<") else pattern.sub(marked, part) for part in _TAG.split(markup))


def mark_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Text as html, escaped, with the signs from each begin up to each end in <mark>.

    Examples
    --------
    >>> mark_spans("a < lake", [(4, 8)])
    'a &lt; <mark>lake</mark>'
    """
    written, place = [], 0
    for begin, end in sorted(spans):
        begin, end = max(begin, place), min(end, len(text))
        if begin < end:
            written += [html.escape(text[place:begin]), "<mark>", html.escape(text[begin:end]), "</mark>"]
            place = end
    return "".join([*written, html.escape(text[place:])])
