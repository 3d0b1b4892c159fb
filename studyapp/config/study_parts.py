"""Parts of a study, one for each table of study.toml: blocks, pairs with known answers, questions, the ways in."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from relstudy.common.tables.meaning.scales import Scale

ENTRY_RULES = ("personal", "open", "passphrase", "prolific", "crowd")
OPEN_RULES = ("open", "passphrase")
PLATFORM_RULES = ("prolific", "crowd")
EVENTS = ("rated", "changed", "set_aside", "taken_back", "withdrawn", "finished", "forgotten", "answer")
"""Events of a study's ratings, as programs follow them."""
WITHDRAWALS = ("no", "delete", "keep")
QUESTION_KINDS = ("text", "long", "number", "choice", "several", "likert")
OF_CHOICES = ("choice", "several", "likert")
"""Kinds that are answered by one of some choices, by any number of them, or by one of the steps of agreement."""
BETWEEN = "; "
"""Between the choices of an answer that holds several."""


NOT_SHOWN = "not_shown"
"""In place of a rating: the result could not be shown to the rater."""


def was_shown(further: Mapping[str, Any] | None) -> bool:
    """False where a rater said that a result could not be shown; `further` is stored beside the rating.

    Examples
    --------
    >>> was_shown(None), was_shown({"trust": 4}), was_shown({"not_shown": True})
    (True, True, False)
    """
    return not (further and further.get(NOT_SHOWN))


@dataclass(frozen=True)
class ResultQuestion:
    """A question that is asked of each result beside the block's own.

    Parameters
    ----------
    id : unique in the block; names its table
    text : the question
    scale : the scale of its answers; None: it is answered in words
    required : whether a page is taken without its answer
    """

    id: str
    text: str
    scale: Scale | None = None
    required: bool = True

    LONGEST = 4000

    def parse(self, text: str) -> float | str | None:
        """The answer that a form field stands for: a number, None for undecided, or words. ValueError for any other.

        Examples
        --------
        >>> ResultQuestion("why", "Why?").parse("  too blue ")
        'too blue'
        """
        if self.scale is not None:
            return self.scale.parse(text)
        words = text.replace("\r\n", "\n").strip()
        if len(words) > self.LONGEST:
            raise ValueError(f"at most {self.LONGEST} signs are allowed")
        return words


WHICH, WHICH_LIST = Scale("which", (-1, 0, 1)), Scale("which-list", (-1, 0, 1))
"""The scales of which of two results, or of two lists, is better: the left one, neither, or the right one."""
ASKS: dict[str, Scale | None] = {"rating": None, "which": WHICH, "which-list": WHICH_LIST}
"""Values of a block's `ask`, with its scale where it has no choice of one."""


@dataclass(frozen=True)
class Display:
    """The look of cards: what is not listed here is not shown.

    Parameters
    ----------
    name : as collection.csv names it in its column display
    fields : columns of collection.csv in the order in which they are shown; PICTURE stands for the file in `path`
    labels : words before a field, by column
    price : the field that is set apart as a price; empty: none
    """

    name: str
    fields: tuple[str, ...]
    labels: dict[str, str] = field(default_factory=dict)
    price: str = ""


PICTURE = "picture"


@dataclass(frozen=True)
class Block:
    """One stretch of pages.

    Parameters
    ----------
    name : unique in the study
    pairs : "base" (everyone rates them all) or "unique" (handed out, each pair to `ratings_per_pair` raters)
    paradigm : which rows of pairs.csv: "image", "text", or None for all
    scale : the scale they are rated on
    results_per_page : how many results of one query share a page
    question : the question above the results
    ratings_per_pair : k, for unique pairs
    pairs_per_rater : how many unique pairs a rater is asked for before the end; None: as many as there are
    more : how many unique pairs "rate some more" adds
    repeats : how many of the block's pages are shown a second time
    questions : further questions about each result
    not_shown : whether raters may say that a result could not be shown
    highlight : "query": the query's words are marked in results; "no": nothing is
    played : "once": a sound or a film has to be played to its end before the page is sent; "any": as raters like
    ask : "rating" of each result, "which" of two results is better, or "which-list" of two lists of results
    """

    name: str
    pairs: str
    scale: Scale
    question: str
    paradigm: str | None = None
    results_per_page: int = 4
    ratings_per_pair: int = 1
    pairs_per_rater: int | None = 100
    more: int = 20
    repeats: int = 0
    questions: tuple[ResultQuestion, ...] = ()
    not_shown: bool = False
    highlight: str = "no"
    played: str = "any"
    ask: str = "rating"

    @property
    def is_comparison(self) -> bool:
        """True if raters say which of two results, or of two lists, is better."""
        return self.ask != "rating"

    def question_called(self, name: str) -> ResultQuestion | None:
        """The further question of that id; None where the block does not ask it."""
        return next((question for question in self.questions if question.id == name), None)

    @property
    def unique(self) -> bool:
        return self.pairs == "unique"

    @property
    def pages_per_rater(self) -> int | None:
        """Number of pages of unique pairs that a rater is asked for."""
        return None if self.pairs_per_rater is None else -(-self.pairs_per_rater // self.results_per_page)

    @property
    def more_pages(self) -> int:
        return -(-self.more // self.results_per_page)


class Between(tuple[float, ...]):
    """Right answers on a slider: every number from the first to the last.

    Examples
    --------
    >>> 70.5 in Between((60, 100)), 59 in Between((60, 100)), None in Between((60, 100))
    (True, False, False)
    """

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self[0] <= value <= self[-1]


@dataclass(frozen=True)
class KnownPair:
    """A pair whose right answers are known: for practice, or to check attention.

    Parameters
    ----------
    block : the block whose scale, question and look it has
    query_id, result_id : items of the collection
    expected : the answers taken as right
    feedback : text that the rater is shown afterwards (practice only)
    also : the answers to further questions that are taken as right, by their ids
    other_id : of a couple the second, which stands on the right for everybody; empty: it is a pair
    """

    block: str
    query_id: str
    result_id: str
    expected: tuple[float, ...]
    feedback: str = ""
    also: dict[str, tuple[float, ...]] = field(default_factory=dict)
    other_id: str = ""

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Everything that it shows."""
        return (self.query_id, self.result_id, *([self.other_id] if self.other_id else []))

    def is_met(self, rating: float | None, further: Mapping[str, Any] | None = None) -> bool:
        """True if everything that is expected was answered so.

        Examples
        --------
        >>> pair = KnownPair("base", "q", "r", (4, 5), also={"trust": (1,)})
        >>> pair.is_met(4, {"trust": 1}), pair.is_met(4, {"trust": 3}), pair.is_met(4)
        (True, False, False)
        """
        given = further or {}
        return rating in self.expected and all(given.get(name) in values for name, values in self.also.items())


@dataclass(frozen=True)
class Example:
    """A pair of the rating guide, which shows raters what a grade means.

    Parameters
    ----------
    scale : name of the scale that it is an example on
    query_id, result_id : items of the collection
    rating : the grade
    text : why; may be empty
    """

    scale: str
    query_id: str
    result_id: str
    rating: float
    text: str = ""


@dataclass(frozen=True)
class Qualification:
    """Practice score that a rater has to reach to go on.

    Parameters
    ----------
    pass_mark : the share of the practice's results, 0 to 1, that must be answered as expected
    attempts : how often the practice may be done
    """

    pass_mark: float
    attempts: int = 1

    def needed(self, total: int) -> int:
        """Number of results, of so many, that must be answered as expected.

        Examples
        --------
        >>> Qualification(0.8).needed(5), Qualification(0.7).needed(10), Qualification(0.5).needed(3)
        (4, 7, 2)
        """
        return math.ceil(self.pass_mark * total - 1e-9)  # 0.7 * 10 is a little more than 7 in binary


@dataclass(frozen=True)
class Question:
    """A question at the end, or before the start to see who can take part.

    `accepted` (answers, of any case; of several choices one is enough), `least` and `most` (numbers, these included)
    say which answers are let in.
    """

    id: str
    text: str
    kind: str = "text"
    choices: tuple[str, ...] = ()
    required: bool = False
    accepted: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    def accepts(self, answer: str) -> bool:
        """True if somebody with this answer can take part.

        Examples
        --------
        >>> Question("age", "Your age?", "number", least=18).accepts("17.5")
        False
        >>> Question("eyes", "Colour vision?", "choice", ("full", "partial"), accepted=("full",)).accepts("full")
        True
        """
        given = answer.split(BETWEEN) if self.kind == "several" else [answer]
        accepted = {value.casefold() for value in self.accepted}
        if accepted and not accepted & {each.strip().casefold() for each in given}:
            return False
        if self.least is None and self.most is None:
            return True
        number = as_number(answer)
        low, high = -1e12 if self.least is None else self.least, 1e12 if self.most is None else self.most
        return number is not None and low <= number <= high


def as_number(text: str) -> float | None:
    """A number as people type it, with a point or a comma; None for anything else."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < 1e12 else None


STRONG_BITS = 33.0
"""Three words: at a hundred guesses a second some three years until they have all been tried."""


def passphrase_bits(passphrase: str) -> float:
    """Strength of a passphrase against those who know how people choose one: log2 of the number of guesses.

    Each word counts as one of 2,048 common ones however long it is, a word that comes again not at all, a digit as one
    of ten, and any other sign but a blank, a hyphen and the like as one of sixteen.

    Examples
    --------
    >>> phrases = ("green hills", "quiet river lamp", "Passw0rd1", "x7Kq9zPw", "la la la")
    >>> [round(passphrase_bits(phrase)) for phrase in phrases]
    [22, 33, 29, 40, 11]
    """
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+", passphrase)}
    digits = re.findall(r"\d", passphrase)
    others = re.findall(r"[^\w\s.,;:'-]", passphrase)
    return 11 * len(words) + math.log2(10) * len(digits) + 4 * len(others)


@dataclass(frozen=True)
class Entry:
    """Ways into the study, and addresses at its end.

    Parameters
    ----------
    rules : any of personal, open, passphrase, prolific, crowd
    passphrase : what to type, for rule "passphrase"
    id_parameter : the URL parameter that names the person, for rule "crowd"
    group_parameter : the URL parameter that names the rater's group; empty: links name none
    keep_parameters : further URL parameters to keep with the person
    completion_url : where the last page leads; `{code}` is replaced by the completion code
    completion_code : one code for everyone (as Prolific wants it); empty: each rater gets one of their own
    code_needs_decided : the share of a rater's ratings, 0 to 1, that must not be undecided for a code
    failed_checks_allowed : how many attention checks a rater may fail and get a code all the same; None: any number
    outcomes : for those who do not complete, by one of OUTCOMES: a code to put into completion_url, or an address
    joins_per_address : how many new raters one network address may bring in ten minutes; 0: any number
    """

    rules: tuple[str, ...] = ("personal",)
    passphrase: str = ""
    id_parameter: str = ""
    group_parameter: str = ""
    keep_parameters: tuple[str, ...] = ()
    completion_url: str = ""
    completion_code: str = ""
    code_needs_decided: float = 0.5
    failed_checks_allowed: int | None = None
    joins_per_address: int = 60
    outcomes: dict[str, str] = field(default_factory=dict)

    @property
    def has_strong_passphrase(self) -> bool:
        """True if nobody guesses the passphrase who may try as often as a server answers."""
        return passphrase_bits(self.passphrase) >= STRONG_BITS

    @property
    def open_rule(self) -> str:
        """The rule by which anybody comes in who has the study's address: open or passphrase; empty: nobody does."""
        return next((rule for rule in self.rules if rule in OPEN_RULES), "")

    @property
    def platform_rule(self) -> str:
        """The rule by which raters come from a platform, and have to go back there; empty: they do not."""
        return next((rule for rule in self.rules if rule in PLATFORM_RULES), "")

    def address(self, code: str, identity: str, parameters: Mapping[str, str]) -> str:
        """Address to return to with a code, or with an outcome's own address, or empty.

        `{code}`, `{id}` and each kept parameter in braces are filled in.

        Examples
        --------
        >>> entry = Entry(completion_url="https://x.org/done?cc={code}&who={id}&s={S}", keep_parameters=("S",))
        >>> print(entry.address("C 1", "p&q", {"S": "7"}))
        https://x.org/done?cc=C%201&who=p%26q&s=7
        >>> entry.address("https://x.org/no", "p", {})
        'https://x.org/no'
        """
        is_address = code.startswith(("https://", "http://"))
        address = code if is_address else self.completion_url
        given = {"code": "" if is_address else code, "id": identity, **parameters}
        for name in ("code", "id", *self.keep_parameters):
            address = address.replace("{" + name + "}", quote(given.get(name, ""), safe=""))
        return address


@dataclass(frozen=True)
class AnalysisSettings:
    """The analysis as stated before ratings come in.

    Parameters
    ----------
    primary : name of the index that decides between systems; empty: by the design
    matters : the smallest difference in it that matters, in its own points
    """

    primary: str = ""
    matters: float = 0.05


@dataclass(frozen=True)
class CollectionSettings:
    """Where the items are that pairs are drawn from, seen from the study's folder.

    Parameters
    ----------
    path : a file or a folder of them; empty: collection.csv in the study
    root : folder, zip or tar file that pictures' paths start from; empty: where the collection is
    pictures : name of an item's picture, such as {id}.jpg, where the collection names none
    """

    path: str = ""
    root: str = ""
    pictures: str = ""


@dataclass(frozen=True)
class JudgeSettings:
    """Settings of the study's automatic judges.

    Parameters
    ----------
    key_variable : name of the environment variable that holds the server's key; empty: no key is sent
    input_price, output_price : of a million tokens, in any currency; 0 where unknown
    person_price : of one judgment by a person, in the same currency; 0 where unknown
    """

    key_variable: str = ""
    input_price: float = 0.0
    output_price: float = 0.0
    person_price: float = 0.0

    def cost(self, tokens_in: float, tokens_out: float) -> float | None:
        """Cost of so many tokens; None where a price is unknown."""
        if not (self.input_price and self.output_price):
            return None
        return (tokens_in * self.input_price + tokens_out * self.output_price) / 1e6


@dataclass(frozen=True)
class Limits:
    """When a study takes nobody new.

    Parameters
    ----------
    raters : how many may have finished or be at work; None: any number
    ratings : how many may be stored; None: any number
    deadline : seconds since 1970; None: none
    place_hours : how long after their last page a rater still counts as at work
    """

    raters: int | None = None
    ratings: int | None = None
    deadline: float | None = None
    place_hours: float = 24.0


@dataclass(frozen=True)
class SignOnSettings:
    """Sign-on of researchers by their institution.

    Parameters
    ----------
    issuer : address of an OpenID Connect provider; empty where a proxy says who it is
    client_id : what the provider knows the study as
    secret_variable : name of the environment variable that holds the client's secret; empty: it has none
    header : name of the header in which the trusted proxy says who it is; empty where a provider is asked
    allow : e-mail addresses and domains (@example.org) in small letters
    role : of those whose account has no other
    label : what the provider is called on the login page
    """

    issuer: str = ""
    client_id: str = ""
    secret_variable: str = ""
    header: str = ""
    allow: tuple[str, ...] = ()
    role: str = "viewer"
    label: str = ""

    def __bool__(self) -> bool:
        return bool(self.issuer or self.header)

    def admits(self, email: str) -> bool:
        """True if an address, or its domain, is allowed.

        Examples
        --------
        >>> settings = SignOnSettings("https://login.example.org", "relstudy", allow=("anna@a.org", "@b.org"))
        >>> [settings.admits(email) for email in ("anna@a.org", "ben@a.org", "ben@b.org", "ben@x.b.org", "b.org")]
        [True, False, True, False, False]
        """
        name, _, domain = email.rpartition("@")
        return bool(name) and "@" not in name and (email in self.allow or f"@{domain}" in self.allow)


@dataclass(frozen=True)
class WebhookSettings:
    """Program that is sent the changes of the ratings.

    Parameters
    ----------
    url : where to, by https or on this machine; empty: nobody is notified
    secret_variable : name of the environment variable that holds the secret to sign with
    events : which of EVENTS it is sent; empty: all
    """

    url: str = ""
    secret_variable: str = ""
    events: tuple[str, ...] = ()

    @property
    def receiver(self) -> str:
        """A short hash of the address and the events: another receiver is sent everything from the start."""
        return hashlib.sha256("\n".join([self.url, *sorted(self.events)]).encode()).hexdigest()[:16]
