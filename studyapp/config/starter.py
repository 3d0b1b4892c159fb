"""The study.toml that `relstudy new` writes: every setting, explained, most of them commented out."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Sequence

_TOML = '''# The study's settings. docs/reference/study-toml.md explains every setting;
# `relstudy serve` checks them all.

[study]
id = "{id}"                  # letters, digits, - and _
title = "{title}"
language = "en"
# languages = ["de", "ar"]         # others that raters may choose: docs/languages.md
contact = ""                       # shown at the foot of every page: "Questions? ..."
# minutes = 20                     # said on the consent page until ratings show how long it takes
# url = "https://study.example.org"  # public address: for links, and for cookies that travel by https only

# withdrawal = "delete"             # raters may withdraw: "delete" everything of them, or "keep" and mark their ratings
# keep_until = 2030-12-31           # last day on which the study stores who its raters are

# Plain text; an empty line starts a new paragraph. Without these, a short standard text is shown.
# consent = """
# You are asked to judge search results. Taking part is voluntary.
# """
# instructions = """
# Rate each result by how well it matches the query.
# """
# thanks = """
# Thank you!
# """

[entry]
# Who gets in: any of
#   personal    links made with `relstudy admin invite`
#   open        anyone who has the address
#   passphrase  anyone who knows the passphrase
#   prolific    links with PROLIFIC_PID, STUDY_ID and SESSION_ID
#   crowd       links with a URL parameter that names the person
rules = ["personal", "open"]
# passphrase = "three words or more"
# id_parameter = "workerId"
# keep_parameters = ["batch"]
# completion_url = "https://app.prolific.com/submissions/complete?cc={{code}}"
# completion_code = "C1ABCDEF"     # one for all; without it each rater gets a code of their own
# failed_checks_allowed = 1         # raters who fail more attention checks get no code
# [entry.outcomes]                  # for people who do not complete: a code for {{code}} above, or an address
# no_consent = "NOCONS01"

[handout]
lease_minutes = 30                 # how long a page of unique pairs is kept for a rater
seed = 0                           # the order in which pairs are handed out

# Blocks: the base block, which everyone rates, then the unique pairs, each handed to `ratings_per_pair` raters.
# Scales: "1-5", "binary", "yes-no", "1-9", or one of your own (below).

{blocks}
# Further questions about each result of the block above, on a scale or (without one) in words; not_shown = true in a
# block lets raters say that a result could not be shown:
# [[blocks.questions]]
# id = "trust"
# text = "Would you trust it?"
# scale = "yes-no"

# What cards (kind = card in collection.csv) show of their columns, in this order, and nothing else; picture is the file
# in path:
# [display.product]
# fields = ["picture", "title", "price"]
# labels = {{ price = "Price" }}
# price = "price"

# A scale of your own:
# [scales.stars]
# values = [1, 2, 3]
# labels = {{ 1 = "no match", 3 = "match" }}
# undecided = true

# Practice with feedback, before the start (ids of items in collection.csv):
# [[practice]]
# block = "base"
# query_id = "..."
# result_id = "..."
# expected = [4, 5]
# feedback = "Same place, other light: most people call this a good match."

# A rating guide beside the scale, an example for each grade; take pairs that are not in pairs.csv:
# [[examples]]
# query_id = "..."
# result_id = "..."
# rating = 5
# text = "The same place."

# Raters must answer this share of the practice as expected to go on:
# [qualification]
# pass_mark = 0.8
# attempts = 2

# Attention checks, each on a page that looks like the block's others, filled up with other results. Take a pair that is
# not in pairs.csv, of a query that has several pages in the block, or none:
# [[attention]]
# block = "unique"
# query_id = "..."
# result_id = "..."
# expected = [5]

# Questions after consent that decide who takes part (accepted: for choices and texts; least, most: for numbers):
# [[screening]]
# id = "age"
# text = "How old are you?"
# kind = "number"
# least = 18

# Groups of raters with blocks and quotas of their own:
# [[groups]]
# name = "adults"
# quota = 20
# when = {{ age = ["18", "19"] }}   # by screening answers; without it, by link or in turn

# When nobody new is admitted:
# [limits]
# raters = 50
# ratings = 10000
# deadline = 2030-01-31T12:00:00Z

# Questions at the end; kinds: text, long, number, and of choices: choice (one), several (any number), likert (steps in
# a row). `relstudy calibrate --people` compares people by their answers:
# [[questions]]
# id = "remarks"
# text = "Is there anything you want to tell us?"
# kind = "long"
# [[questions]]
# id = "easy"
# text = "The task was easy."
# kind = "likert"
# choices = ["disagree", "rather disagree", "neither", "rather agree", "agree"]

{question}
# A collection elsewhere: a Parquet, JSONL or CSV file or a folder of them, and where its pictures are (a folder, zip or
# tar file). What is drawn is copied into the study:
# [collection]
# path = "../corpus"
# root = "../pictures"
# pictures = "{{id}}.jpg"

# Automatic judges (relstudy judge): where their server's key is, what a million tokens cost, and what one judgment by a
# person does (relstudy judge --budget):
# [judges]
# key_variable = "JUDGE_KEY"
# input_price = 2.5
# output_price = 10
# person_price = 0.1

# A program that is sent the changes of the ratings, and where the secret is that such messages are signed with:
# [webhook]
# url = "https://lab.example.org/changes"
# secret_variable = "WEBHOOK_SECRET"
# events = ["finished"]

# Researchers who sign on by their institution (OpenID Connect; pip install "relstudy[sso]"), without a password:
# [sso]
# issuer = "https://login.example.org/realms/lab"
# client_id = "relstudy"
# secret_variable = "SSO_SECRET"
# allow = ["anna@example.org", "@lab.example.org"]

# Any text of the interface, such as:
{texts}
'''


_IMAGE_BLOCKS = """[[blocks]]
name = "base"
pairs = "base"
paradigm = "image"                 # query by image; "text": query by text
scale = "1-5"
results_per_page = 4
question = "How well does each picture match the query?"
repeats = 0                        # pages shown a second time, to see how steady a rater is

[[blocks]]
name = "unique"
pairs = "unique"
paradigm = "image"
scale = "1-5"
results_per_page = 4
question = "How well does each picture match the query?"
ratings_per_pair = 1
pairs_per_rater = 100              # or "all"
more = 20                          # what "rate some more" adds
"""
_TEXT_BLOCKS = """[[blocks]]
name = "{name}base"
pairs = "base"
paradigm = "text"                  # query by text, one result a page
scale = "1-5"
results_per_page = 1
question = "How well does this match the query?"

[[blocks]]
name = "{name}unique"
pairs = "unique"
paradigm = "text"
scale = "1-5"
results_per_page = 1
question = "How well does this match the query?"
ratings_per_pair = 1
pairs_per_rater = 100              # or "all"
more = 20                          # what "rate some more" adds
"""


_TEXTS = '# [texts]\n# "rate.next" = "Go on"'
ABOUT_ANSWERS = """[texts]
"rate.query" = "Question"
"rate.result" = "Answer {number}"
"rate.only" = "Answer"
"rate.legend" = "Answer {number}: {question}"
"rate.further" = "Answer {number}: {question}"
"which.equal" = "equally good"
"instructions.default" = "Read the question and rate the answer. Choose \\"undecided\\" if you cannot tell, and do not \
spend too long on any one."
"instructions.default.which" = "Each page shows two answers to one question. Choose the better one, or say that both \
are equally good. Choose \\"undecided\\" if you cannot tell, and do not spend too long on any one.\""""
"""The words of the rating page for answers to questions."""
TITLE = "How well do results match?"


DECIDES = """\
# What decides between systems, stated before ratings come in: same_query (among the results of one query, how often a
# good match is above a poor one), pearson, average_precision, or a measure such as nDCG@10.
# matters: the smallest difference that matters to you; 0.05 is 5 in 100.
[analysis]
primary = "{primary}"
matters = 0.05
"""
LOOKS = """\
# Looks at the answer while people rate. Intervals are wider at early looks, so that over all looks a wrong claim is as
# rare as `error` says (rule: "obrien-fleming" or "pocock"; "none": each look is tested as if it were the only one).
[looks]
planned = 5
error = 0.05
rule = "obrien-fleming"
# blind = true                      # figures are withheld until the study can stop
# on_bound = "pause"                # the study pauses itself then
"""


def question(stated: Collection[str] = (), primary: str = "same_query") -> str:
    """The tables [analysis] and [looks] of a study.toml, those that are not stated yet.

    Parameters
    ----------
    stated : names of the tables that are there
    primary : the index that decides

    Examples
    --------
    >>> question(["analysis", "looks"]), question(["looks"]).splitlines()[3:]
    ('', ['[analysis]', 'primary = "same_query"', 'matters = 0.05'])
    """
    missing = {"analysis": DECIDES.format(primary=primary), "looks": LOOKS}
    return "\n".join(text for name, text in missing.items() if name not in stated)


def starter_toml(
    name: str,
    paradigms: Sequence[str] = ("image",),
    blocks: str = "",
    *,
    title: str = TITLE,
    answers: bool = False,
    primary: str = "same_query",
) -> str:
    """The text of a new study.toml; the study's id is made from the folder's name.

    Parameters
    ----------
    name : the folder's
    blocks : what is asked, as TOML; "": by the paradigms
    title : what raters read first
    answers : whether the results are answers to questions
    primary : the index that decides; "": none, and looks at the comparison are not counted
    paradigms : how the collection's queries ask: image, text or both; the blocks of any other are commented out

    Examples
    --------
    >>> 'id = "my-study"' in starter_toml("my study")
    True
    """
    cleaned = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:64]
    if blocks:
        return _TOML.format(
            id=cleaned or "study", blocks=blocks, title=title,
            question=question((), primary) if primary else "",
            texts=ABOUT_ANSWERS if answers else _TEXTS,
        )  # fmt: skip
    text_blocks = _TEXT_BLOCKS.format(name="words-" if "image" in paradigms else "")
    parts = [_IMAGE_BLOCKS] if "image" in paradigms else []
    if "text" in paradigms:
        parts.append(text_blocks)
    else:
        said = "# Query by text, for a collection that holds texts:\n"
        parts.append(said + "".join(f"# {line}" if line.strip() else "#\n" for line in text_blocks.splitlines(True)))
    return _TOML.format(
        id=cleaned or "study", blocks="\n".join(parts), title=title, question=question((), primary), texts=_TEXTS
    )


def with_question(text: str, question: str = "", scale: str = "1-5") -> str:
    """A new study.toml of pictures or texts with another question and scale in every block.

    Examples
    --------
    >>> 'scale = "1-9"' in with_question(starter_toml("mine"), scale="1-9")
    True
    """
    text = re.sub(r'^scale = "1-5"$', f"scale = {json.dumps(scale)}", text, flags=re.M)
    if question:
        asked = f"question = {json.dumps(question, ensure_ascii=False)}"
        text = re.sub(r'^question = ".*"$', lambda _: asked, text, flags=re.M)
    return text


def with_people(
    text: str,
    contact: str = "",
    consent: str = "",
    ways: Sequence[str] = ("personal", "open"),
    completion_url: str = "",
    title: str = "",
) -> str:
    """A new study.toml with what raters are told, and how they get in; "" keeps what is there.

    Examples
    --------
    >>> made = with_people(starter_toml("mine"), contact="ann@example.org", ways=["prolific"])
    >>> 'contact = "ann@example.org"' in made, 'rules = ["prolific"]' in made
    (True, True)
    """
    said = {
        **({r"^title = .*": f"title = {_string(title)}"} if title else {}),
        r'^contact = ""': f"contact = {_string(contact)}",
        r"^rules = .*": f"rules = {json.dumps(list(ways))}",
        **({r'^# consent = """\n(# .*\n)*?# """': f"consent = {_string(consent)}"} if consent else {}),
        **({r"^# completion_url = .*": f"completion_url = {_string(completion_url)}"} if completion_url else {}),
    }
    for pattern, line in said.items():
        text, found = re.subn(pattern, lambda _, line=line: line, text, count=1, flags=re.M)  # type: ignore[misc]
        assert found, pattern
    return text


def with_words(text: str, scale: str, low: str, high: str) -> str:
    """A new study.toml whose blocks have a scale from 1 with words of one's own at its ends; "" leaves an end bare.

    Examples
    --------
    >>> 'labels = { 1 = "useless", 5 = "useful" }' in with_words(starter_toml("mine"), "1-5", "useless", "useful")
    True
    """
    most = scale.removeprefix("1-")
    if not (low or high) or not most.isdigit():
        return text
    text = re.sub(rf'^scale = "({scale}|quality)"$', 'scale = "words"', text, flags=re.M)
    labels = ", ".join(f"{end} = {_string(word)}" for end, word in (("1", low), (most, high)) if word)
    values = list(range(1, int(most) + 1))
    return f"{text.rstrip()}\n\n[scales.words]\nvalues = {values}\nlabels = {{ {labels} }}\nundecided = true\n"


def with_examples(text: str, examples: Sequence[tuple[str, str, float]]) -> str:
    """A study.toml with a rating guide: query_id, result_id and grade of each example.

    Examples
    --------
    >>> 'rating = 5' in with_examples(starter_toml("mine"), [("q1", "r1", 5.0)])
    True
    """
    made = [
        f"[[examples]]\nquery_id = {_string(query)}\nresult_id = {_string(result)}\nrating = {rating:g}\n"
        for query, result, rating in examples
    ]
    return "\n".join([text, *made])


def _string(text: str) -> str:
    """A text as TOML has it, without control characters."""
    kept = (sign for sign in text if sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cs"))
    return json.dumps("".join(kept), ensure_ascii=False)
