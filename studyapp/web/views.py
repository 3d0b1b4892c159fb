"""Content of each template: plain values, nothing to look up."""

from __future__ import annotations

from dataclasses import dataclass, field

from relstudy.studyapp.collection.displayed_items import CardField
from relstudy.studyapp.config.study_parts import BETWEEN


@dataclass(frozen=True)
class ItemView:
    """A query or a result as the rater sees it; `key` is opaque.

    `kind` is "image" (show `url`), "text" (`title` and `text`), "card" (`fields`, and the picture at `url`), "audio" or
    "video" (play `url`; `text` is the transcript, `captions` an address or ""). `is_html` says that `text` is html.
    `alt` is said in place of a picture, `size` its width and height, `intent` what a query is after, `long` whether
    the text scrolls in a column of its own, `members` the results in a list, best first.
    """

    kind: str
    key: str
    url: str
    title: str
    text: str
    is_html: bool = False
    fields: tuple[CardField, ...] = ()
    alt: str = ""
    size: tuple[int, int] | None = None
    captions: str = ""
    intent: tuple[str, ...] = ()
    long: bool = False
    members: tuple[ItemView, ...] = ()


@dataclass(frozen=True)
class Choice:
    """One button of the scale. `value` is what the form sends, `label` may be empty, `digit` is its key.

    Of a slider it is a tick: `along` is its place, in percent of the slider's length; None for a button.
    """

    value: str
    label: str
    digit: str
    along: float | None = None


@dataclass(frozen=True)
class FurtherView:
    """A further question about a result: `name` is the form field, `given` what it holds ("" for nothing).

    Without `choices` it is answered in words.
    """

    name: str
    text: str
    choices: tuple[Choice, ...]
    undecided: bool
    required: bool
    given: str
    error: str = ""


@dataclass(frozen=True)
class ResultView:
    """One result with its field: `name` is the form field, `chosen` the value to show as chosen ("" for none).

    With `other` it is a couple, of which `item` stands on the left.
    """

    number: int
    name: str
    item: ItemView
    chosen: str
    error: str = ""
    further: tuple[FurtherView, ...] = ()
    other: ItemView | None = None


@dataclass(frozen=True)
class ExampleView:
    """A pair of the rating guide: the grade, its label, and why."""

    value: str
    label: str
    query: ItemView
    item: ItemView
    text: str


@dataclass(frozen=True)
class RatingPage:
    """One query with its results, to be rated.

    `number` of `total` pages (`answered` of them have answers); attention checks and repeats look like any other page;
    `earlier` says that this page was answered before and is being changed;
    `back` and `onward` are addresses or ""; `preload` are the next page's pictures, `preload_media` its sounds and
    films; `message` says what is wrong; `not_shown` offers to say that a result could not be shown.
    """

    number: int
    total: int
    answered: int
    pace: float | None
    practice: bool
    question: str
    choices: tuple[Choice, ...]
    undecided: bool
    query: ItemView
    results: tuple[ResultView, ...]
    form: str
    action: str
    earlier: bool
    back: str
    onward: str
    preload: tuple[str, ...]
    message: str = ""
    not_shown: bool = False
    played: str = "any"
    preload_media: tuple[str, ...] = ()
    examples: tuple[ExampleView, ...] = ()


@dataclass(frozen=True)
class Feedback:
    """One result of a practice page, or a couple with `other` on the right: what was answered and what is expected."""

    item: ItemView
    given: str
    expected: tuple[str, ...]
    right: bool
    text: str
    other: ItemView | None = None


@dataclass(frozen=True)
class PracticePage:
    query: ItemView
    feedback: tuple[Feedback, ...]
    onward: str


@dataclass(frozen=True)
class AgainPage:
    """The practice was not passed, and may be done again."""

    text: str
    left: str


@dataclass(frozen=True)
class WithdrawPage:
    """Asks before a rater leaves for good."""

    text: str


@dataclass(frozen=True)
class ConsentPage:
    """`typed` is a passphrase that was not looked at, to be sent again."""

    paragraphs: tuple[str, ...]
    sha256: str
    duration: str
    passphrase: bool
    message: str = ""
    typed: str = ""


@dataclass(frozen=True)
class InstructionsPage:
    paragraphs: tuple[str, ...]
    practice: str
    scales: tuple[tuple[Choice, ...], ...]
    examples: tuple[ExampleView, ...] = ()


@dataclass(frozen=True)
class QuestionView:
    """A question; `name` is the form field, `kind` is one of `QUESTION_KINDS`."""

    name: str
    text: str
    kind: str
    choices: tuple[str, ...]
    required: bool
    value: str
    error: str = ""

    @property
    def chosen(self) -> list[str]:
        """The choices in the answer, of which there may be several."""
        return self.value.split(BETWEEN) if self.kind == "several" else [self.value]


@dataclass(frozen=True)
class QuestionsPage:
    questions: tuple[QuestionView, ...]
    heading: str
    send: str
    lead: str = ""


@dataclass(frozen=True)
class ThanksPage:
    paragraphs: tuple[str, ...]
    code: str
    completion_url: str
    more: bool
    message: str = ""


@dataclass(frozen=True)
class SwitchPage:
    """Somebody else's personal link was opened; `action` goes on as that person."""

    action: str


@dataclass(frozen=True)
class MessagePage:
    """A page that only says something: closed, paused, not found, and the like; `further` is a second paragraph."""

    heading: str
    text: str
    link: str = ""
    link_text: str = ""
    further: str = ""


@dataclass(frozen=True)
class RefusedPage:
    """A form that could not be saved: what was typed is in `fields`, to be sent again to `action`."""

    text: str
    action: str
    fields: tuple[tuple[str, str], ...] = field(default=())
    again: bool = True


@dataclass(frozen=True)
class PasswordPage:
    """Ask for a researcher's password (`new`: choose it), in the field `password`.

    `asks_name` asks for the account as well (field `account`; empty: the first); `name` is what it holds.
    `sign_on` is the name of an institution that people can sign on with instead; empty: none.
    """

    new: bool
    action: str
    message: str = ""
    shortest: int = 0
    name: str = ""
    asks_name: bool = False
    sign_on: str = ""
