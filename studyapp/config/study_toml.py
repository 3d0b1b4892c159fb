"""The tables of study.toml -> the parts of a study."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from relstudy.calibration.tables.decision import NONE, ON_BOUND, RULES
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.http import is_private
from relstudy.common.tables.meaning.scales import SCALES, Scale, show_value
from relstudy.studyapp.config.accounts import ROLES
from relstudy.studyapp.config.outcomes import OUTCOMES
from relstudy.studyapp.config.study_parts import (
    ASKS,
    BETWEEN,
    ENTRY_RULES,
    EVENTS,
    NOT_SHOWN,
    OF_CHOICES,
    QUESTION_KINDS,
    AnalysisSettings,
    Between,
    Block,
    CollectionSettings,
    Display,
    Entry,
    Example,
    JudgeSettings,
    KnownPair,
    Limits,
    Qualification,
    Question,
    ResultQuestion,
    SignOnSettings,
    WebhookSettings,
)
from relstudy.studyapp.config.texts import ENGLISH
from relstudy.studyapp.config.toml_checker import ID, NAME, PARAMETER, URL, VARIABLE, Keys, TomlChecker


def read_scales(check: TomlChecker, data: dict[str, Any]) -> dict[str, Scale]:
    """[scales.NAME]: the standard scales by name, changed or joined by these.

    `continuous = true` makes a slider: `values` are its two ends, and any value between may have a label.
    """
    scales = dict(SCALES)
    for name in data:
        path = ("scales", name)
        entry = check.table(data, ("scales",), name)
        check.keys(entry, path, ("values", "labels", "undecided", "continuous"))
        standard = SCALES.get(name)
        continuous = check.yes(entry, path, "continuous", False)
        values = entry.get("values", list(standard.values) if standard else None)
        if (
            not isinstance(values, list)
            or not 2 <= len(values) <= 21
            or not all(isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < 1e6 for v in values)
            or sorted(set(values)) != values
        ):
            check.fault((*path, "values"), values, "two to 21 ascending numbers are allowed, such as [1, 2, 3]")
            continue
        if continuous and (len(values) != 2 or name in SCALES):
            allowed = "a continuous scale has its own name and two ends, such as [0, 100]"
            check.fault((*path, "values"), values, allowed)
            continue
        scale = Scale(name, tuple(values), {}, check.yes(entry, path, "undecided", True), continuous)
        labels = dict(standard.labels) if standard else {}
        for key, label in check.table(entry, path, "labels").items():
            try:
                number = float(key)
            except ValueError:
                number = float("nan")
            if not scale.has(number) or not isinstance(label, str):
                among = f"a value from {values[0]} to {values[1]}" if continuous else f"one of the values {values}"
                check.fault((*path, "labels", key), label, f"a text for {among} is allowed, not for {key}")
            else:
                labels[number] = label.strip()
        scales[name] = replace(scale, labels=labels)
    return scales


OF_BLOCK = (
    *("name", "pairs", "paradigm", "scale", "results_per_page", "question", "ratings_per_pair", "pairs_per_rater"),
    *("more", "repeats", "questions", "not_shown", "highlight", "played", "ask"),
)


def read_blocks(check: TomlChecker, data: list[dict[str, Any]], scales: dict[str, Scale]) -> tuple[Block, ...]:
    """[[blocks]]; without any, one of the base block and one of the unique pairs."""
    data = data or [{"name": "base", "pairs": "base"}, {"name": "unique", "pairs": "unique"}]
    blocks: list[Block] = []
    seen: set[str] = set()
    for index, entry in enumerate(data):
        path = ("blocks", index)
        check.keys(entry, path, OF_BLOCK)
        pairs = check.one_of(entry, path, "pairs", "unique", ("base", "unique"))
        name = check.text(entry, path, "name", pairs, NAME)
        if name in seen:
            check.fault((*path, "name"), name, "another block has this name; names must differ")
        seen.add(name)
        scale = check.one_of(entry, path, "scale", "1-5", scales)
        paradigm = entry.get("paradigm")
        if paradigm is not None:
            paradigm = check.one_of(entry, path, "paradigm", "image", ("image", "text"))
        for key in ("ratings_per_pair", "pairs_per_rater", "more"):
            if pairs == "base" and key in entry:
                check.fault((*path, key), entry[key], "only a block of unique pairs has this setting")
        everything = entry.get("pairs_per_rater") == "all"
        ask = check.one_of(entry, path, "ask", "rating", ASKS)
        which = ask != "rating"
        for key in ("scale", "results_per_page"):
            if which and key in entry:
                check.fault(
                    (*path, key), entry[key], f'blocks with ask = "{ask}" show one couple on a page: remove the line'
                )
        alone = which or paradigm == "text"
        results_per_page = check.whole(entry, path, "results_per_page", 1 if alone else 4, 1, 40)
        results = "the result" if results_per_page == 1 else "each result"
        default = f"How well does {results} match the query?"
        if which:
            default = f"Which {'result matches' if ask == 'which' else 'list of results answers'} the query better?"
        blocks.append(
            Block(
                name=name,
                pairs=pairs,
                scale=ASKS[ask] or scales[scale],
                question=check.text(entry, path, "question", default),
                paradigm=paradigm,
                results_per_page=results_per_page,
                ratings_per_pair=check.whole(entry, path, "ratings_per_pair", 1, 1, 1000),
                pairs_per_rater=None if everything else check.whole(entry, path, "pairs_per_rater", 100, 0, 1_000_000),
                more=check.whole(entry, path, "more", 20, 0, 1_000_000),
                repeats=check.whole(entry, path, "repeats", 0, 0, 1000),
                questions=_read_result_questions(check, entry, path, scales),
                not_shown=check.yes(entry, path, NOT_SHOWN, False),
                highlight=check.one_of(entry, path, "highlight", "no", ("no", "query")),
                played=check.one_of(entry, path, "played", "any", ("any", "once")),
                ask=ask,
            )
        )
    _require_one_scale(check, blocks)
    return tuple(blocks)


def read_displays(check: TomlChecker, data: dict[str, Any]) -> dict[str, Display]:
    """[display.NAME]: how cards are shown."""
    displays = {}
    for name in data:
        path = ("display", name)
        entry = check.table(data, ("display",), name)
        check.keys(entry, path, ("fields", "labels", "price"))
        fields = check.texts(entry, path, "fields")
        if not fields:
            required = "a list of columns of collection.csv is required; only these are shown"
            check.fault((*path, "fields"), None, required)
        labels = {}
        for column, label in check.table(entry, path, "labels").items():
            if column not in fields or not isinstance(label, str):
                allowed = f"a text for one of the fields {', '.join(fields)} is allowed"
                check.fault((*path, "labels", column), label, allowed)
            else:
                labels[column] = label.strip()
        price = check.text(entry, path, "price", "")
        if price and price not in fields:
            check.fault((*path, "price"), price, f"one of the fields {', '.join(fields)} is allowed")
        displays[name] = Display(name, fields, labels, price)
    return displays


MOST_QUESTIONS = 10
TAKEN = (NOT_SHOWN, "rating")
"""Names that stand for something else beside a rating."""


def _read_result_questions(
    check: TomlChecker, block: dict[str, Any], at: Keys, scales: dict[str, Scale]
) -> tuple[ResultQuestion, ...]:
    """[[blocks.questions]]: what is asked of each result beside the block's own question."""
    path = (*at, "questions")
    entries = block.get("questions", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        check.fault(path, entries, "a list of tables is needed: [[blocks.questions]]")
        return ()
    if len(entries) > MOST_QUESTIONS:
        check.fault(path, len(entries), f"at most {MOST_QUESTIONS} further questions are allowed")
    questions: dict[str, ResultQuestion] = {}
    for index, entry in enumerate(entries):
        place = (*path, index)
        check.keys(entry, place, ("id", "text", "scale", "required"))
        name = check.text(entry, place, "id", None, ID)
        if name in questions:
            check.fault((*place, "id"), name, "another question of the block has this id; ids must differ")
        if name in TAKEN:
            check.fault((*place, "id"), name, "this id is taken; any other is allowed")
        scale = scales[check.one_of(entry, place, "scale", "1-5", scales)] if "scale" in entry else None
        required = check.yes(entry, place, "required", scale is not None)
        questions[name] = ResultQuestion(name, check.text(entry, place, "text", None), scale, required)
    return tuple(questions.values())


def _require_one_scale(check: TomlChecker, blocks: list[Block]) -> None:
    """A question has one scale in all blocks that ask it: its answers are one table."""
    first: dict[str, ResultQuestion] = {}
    for index, block in enumerate(blocks):
        for number, question in enumerate(block.questions):
            before = first.setdefault(question.id, question)
            if before.scale != question.scale:
                allowed = f"the question {question.id!r} has another scale in another block; one is allowed"
                check.fault(("blocks", index, "questions", number, "scale"), None, allowed)


def read_known(
    check: TomlChecker, data: list[dict[str, Any]], key: str, blocks: tuple[Block, ...]
) -> tuple[KnownPair, ...]:
    """[[practice]] or [[attention]], as `key` says."""
    pairs = []
    names = [block.name for block in blocks]
    for index, entry in enumerate(data):
        path = (key, index)
        feedback = ("feedback",) if key == "practice" else ()
        check.keys(entry, path, ("block", "query_id", "result_id", "other_id", "expected", "also", *feedback))
        block = check.one_of(entry, path, "block", names[0], names)
        asked = next(b for b in blocks if b.name == block)
        if asked.ask == "which-list":
            check.fault((*path, "block"), block, "a block that asks for ratings or which of two results is allowed")
        elif asked.is_comparison != ("other_id" in entry):
            needed = "needs the second result (other_id)" if asked.is_comparison else "has no other_id"
            check.fault((*path, "other_id"), entry.get("other_id"), f"a pair of the block {block!r} {needed}")
        scale = asked.scale
        expected = entry.get("expected", None)
        pairs.append(
            KnownPair(
                block=block,
                query_id=check.text(entry, path, "query_id", None),
                result_id=check.text(entry, path, "result_id", None),
                expected=_read_expected(check, (*path, "expected"), expected, scale),
                feedback=check.text(entry, path, "feedback", ""),
                also=_read_also(check, check.table(entry, path, "also"), (*path, "also"), asked),
                other_id=check.text(entry, path, "other_id", ""),
            )
        )
    return tuple(pairs)


def read_examples(check: TomlChecker, data: list[dict[str, Any]], blocks: tuple[Block, ...]) -> tuple[Example, ...]:
    """[[examples]]: the rating guide, best grade first."""
    scales = {block.scale.name: block.scale for block in blocks if not block.is_comparison}
    if data and not scales:
        check.fault(("examples",), None, "only blocks that ask for ratings have examples")
        return ()
    examples = []
    for index, entry in enumerate(data):
        path = ("examples", index)
        check.keys(entry, path, ("scale", "query_id", "result_id", "rating", "text"))
        scale = scales[check.one_of(entry, path, "scale", next(iter(scales)), scales)]
        rating = entry.get("rating")
        if isinstance(rating, bool) or not isinstance(rating, int | float) or not scale.has(rating):
            check.fault((*path, "rating"), rating, f"a value of the scale {scale.name} is needed")
            continue
        examples.append(
            Example(
                scale=scale.name,
                query_id=check.text(entry, path, "query_id", None),
                result_id=check.text(entry, path, "result_id", None),
                rating=float(rating),
                text=check.text(entry, path, "text", ""),
            )
        )
    return tuple(sorted(examples, key=lambda each: -each.rating))


def _read_also(check: TomlChecker, data: dict[str, Any], path: Keys, block: Block) -> dict[str, tuple[float, ...]]:
    """Right answers to further questions of the block, by their ids."""
    scales = {question.id: question.scale for question in block.questions if question.scale is not None}
    check.keys(data, path, scales)
    also = {}
    for name in [name for name in data if name in scales]:
        also[name] = _read_expected(check, (*path, name), data[name], scales[name])
    return also


def _read_expected(check: TomlChecker, path: Keys, values: Any, scale: Scale) -> tuple[float, ...]:
    """Right answers on a scale; on a slider the two ends of a stretch of them."""
    numbers = isinstance(values, list) and all(isinstance(value, int | float) for value in values)
    if scale.continuous:
        if not numbers or len(values) != 2 or not scale.low <= values[0] <= values[1] <= scale.high:
            ends = f"{show_value(scale.low)} to {show_value(scale.high)}"
            check.fault(path, values, f"the lowest and the highest right answer are needed, within {ends}")
            return ()
        return Between(values)
    if not numbers or not values or not all(value in scale.values for value in values):
        allowed = ", ".join(map(show_value, scale.values))
        check.fault(path, values, f"a list of right answers is needed, each one of {allowed}")
        return ()
    return tuple(values)


def read_qualification(check: TomlChecker, data: dict[str, Any], practice: int) -> Qualification | None:
    """[qualification]; None where the practice decides nothing. `practice` is how many pairs it has."""
    if "qualification" not in data:
        return None
    path = ("qualification",)
    rules = check.table(data, (), "qualification")
    check.keys(rules, path, ("pass_mark", "attempts"))
    if "pass_mark" not in rules:
        check.fault(path, None, "a pass_mark is required: the share of the practice that must be as expected, 0 to 1")
    if not practice:
        check.fault(path, None, "raters qualify by practice, and the study has none; [[practice]] adds some")
    mark = check.number(rules, path, "pass_mark", 1, 0, 1)
    return Qualification(mark, check.whole(rules, path, "attempts", 1, 1, 100))


def read_questions(check: TomlChecker, data: list[dict[str, Any]], table: str = "questions") -> tuple[Question, ...]:
    """[[questions]], or another table of the kind."""
    questions = []
    seen: set[str] = set()
    for index, entry in enumerate(data):
        path = (table, index)
        required = ("required",) if table == "questions" else ()
        check.keys(entry, path, ("id", "text", "kind", "choices", *required))
        name = check.text(entry, path, "id", None, ID)
        if name in seen:
            check.fault((*path, "id"), name, "another question has this id; ids must differ")
        seen.add(name)
        kind = check.one_of(entry, path, "kind", "text", QUESTION_KINDS)
        choices = check.texts(entry, path, "choices")
        if (kind in OF_CHOICES) != bool(choices):
            kinds = ", ".join(f'"{each}"' for each in OF_CHOICES)
            check.fault(
                (*path, "choices"), list(choices), f"the kinds {kinds} go with a list of choices, and only these"
            )
        for choice in choices:
            if kind == "several" and BETWEEN.strip() in choice:
                check.fault((*path, "choices"), choice, "; is not allowed, since it separates several answers")
        questions.append(
            Question(
                name, check.text(entry, path, "text", None), kind, choices, check.yes(entry, path, "required", False)
            )
        )
    return tuple(questions)


def read_screening(check: TomlChecker, data: list[dict[str, Any]]) -> tuple[Question, ...]:
    """[[screening]]: questions that all have to be answered, with what is accepted."""
    rules = ("accepted", "least", "most")
    plain = [{key: value for key, value in entry.items() if key not in rules} for entry in data]
    return tuple(
        replace(question, required=True, **_read_accepted(check, entry, ("screening", index), question))
        for index, (entry, question) in enumerate(zip(data, read_questions(check, plain, "screening"), strict=True))
    )


def _read_accepted(check: TomlChecker, entry: dict[str, Any], path: Keys, question: Question) -> dict[str, Any]:
    """Accepted answers of a screening question; a question without a rule accepts all."""
    accepted = check.texts(entry, path, "accepted")
    if accepted and question.kind == "number":
        check.fault((*path, "accepted"), list(accepted), "for numbers, least and most say what is accepted")
    if question.kind in OF_CHOICES:
        for value in accepted:
            if value not in question.choices:
                check.fault((*path, "accepted"), value, f"one of the choices {', '.join(question.choices)} is allowed")
    limits: dict[str, float | None] = {"least": None, "most": None}
    for name in [name for name in limits if name in entry]:
        limits[name] = check.number(entry, path, name, 0, -1e12, 1e12)
        if question.kind != "number":
            check.fault((*path, name), entry[name], 'only a question of kind = "number" has this setting')
    low, high = limits["least"], limits["most"]
    if low is not None and high is not None and low > high:
        check.fault((*path, "least"), low, f"no more than most ({high:g}) is allowed")
    return {"accepted": accepted, **limits}


OF_ENTRY = (
    *("rules", "passphrase", "id_parameter", "group_parameter", "keep_parameters", "completion_url"),
    *("completion_code", "code_needs_decided", "failed_checks_allowed", "joins_per_address", "outcomes"),
)


def read_entry(check: TomlChecker, data: dict[str, Any]) -> Entry:
    """The table [entry] of study.toml; faults are left with `check`."""
    path = ("entry",)
    check.keys(data, path, OF_ENTRY)
    rules = check.texts(data, path, "rules") if "rules" in data else ("personal",)
    for rule in rules:
        if rule not in ENTRY_RULES:
            check.fault((*path, "rules"), rule, f"any of {', '.join(ENTRY_RULES)} are allowed")
    if "open" in rules and "passphrase" in rules:
        check.fault((*path, "rules"), list(rules), "open and passphrase exclude each other")
    if "prolific" in rules and "crowd" in rules:
        check.fault((*path, "rules"), list(rules), "prolific and crowd exclude each other")
    passphrase = check.text(data, path, "passphrase", "")
    if ("passphrase" in rules) != bool(passphrase):
        check.fault((*path, "passphrase"), None, 'rule "passphrase" goes with a passphrase of at least 8 characters')
    elif passphrase and len(passphrase) < 8:
        check.fault((*path, "passphrase"), passphrase, "at least 8 characters are needed")
    id_parameter = check.text(data, path, "id_parameter", "", PARAMETER)
    keep = check.texts(data, path, "keep_parameters")
    if "prolific" in rules:
        id_parameter, keep = id_parameter or "PROLIFIC_PID", keep or ("STUDY_ID", "SESSION_ID")
    if "crowd" in rules and not id_parameter:
        check.fault((*path, "id_parameter"), None, 'rule "crowd" needs the name of the URL parameter for the person')
    group_parameter = check.text(data, path, "group_parameter", "", PARAMETER)
    if group_parameter and group_parameter not in keep:
        keep = (*keep, group_parameter)
    completion_url = check.text(data, path, "completion_url", "", URL)
    return Entry(
        rules=rules,
        passphrase=passphrase,
        id_parameter=id_parameter,
        group_parameter=group_parameter,
        keep_parameters=keep,
        completion_url=completion_url,
        completion_code=check.text(data, path, "completion_code", ""),
        code_needs_decided=check.number(data, path, "code_needs_decided", 0.5, 0, 1),
        failed_checks_allowed=(
            check.whole(data, path, "failed_checks_allowed", 0, 0, 1000) if "failed_checks_allowed" in data else None
        ),
        joins_per_address=check.whole(data, path, "joins_per_address", 60, 0, 1_000_000),
        outcomes=_read_outcomes(check, check.table(data, path, "outcomes"), completion_url),
    )


PRICES = ("input_price", "output_price", "person_price")


def read_judges(check: TomlChecker, data: dict[str, Any]) -> JudgeSettings:
    """The table [judges] of study.toml; faults are left with `check`."""
    path = ("judges",)
    check.keys(data, path, ("key_variable", *PRICES))
    prices = [check.number(data, path, name, 0, 0, 1e6) for name in PRICES]
    return JudgeSettings(_read_variable(check, data, path, "key_variable"), *prices)


def _read_variable(check: TomlChecker, data: dict[str, Any], path: Keys, name: str, missing: str | None = "") -> str:
    """The name of an environment variable; what stands there may be the secret itself, which is in no message."""
    variable = check.text(data, path, name, missing)
    if variable and not re.fullmatch(VARIABLE, variable):
        secret = name.removesuffix("_variable")
        allowed = f"the name of an environment variable is allowed (capitals, digits and _), never the {secret} itself"
        check.fault((*path, name), None, allowed)
    return variable


def read_analysis(check: TomlChecker, data: dict[str, Any]) -> AnalysisSettings:
    """The table [analysis] of study.toml; faults are left with `check`."""
    path = ("analysis",)
    check.keys(data, path, ("primary", "matters"))
    primary = check.text(data, path, "primary", "")
    if primary:
        from relstudy.analysis.indices.registry import index_called

        try:
            index_called(primary)
        except RelstudyError as error:
            check.fault((*path, "primary"), None, str(error))
    return AnalysisSettings(primary, check.number(data, path, "matters", 0.05, 1e-6, 1e6))


def check_looks(check: TomlChecker, data: dict[str, Any]) -> None:
    """Leave the faults of the table [looks] with `check`; `relstudy.calibration.tables.decision` reads it."""
    path = ("looks",)
    check.keys(data, path, ("planned", "error", "rule", "blind", "on_bound"))
    check.whole(data, path, "planned", 1, 1, 1000)
    check.number(data, path, "error", 0.05, 1e-6, 0.5)
    check.one_of(data, path, "rule", RULES[0], RULES)
    check.yes(data, path, "blind", False)
    on_bound = check.one_of(data, path, "on_bound", ON_BOUND[0], ON_BOUND)
    if data.get("rule") == NONE and (data.get("blind") is True or on_bound != ON_BOUND[0]):
        check.fault((*path, "rule"), NONE, "looks.blind and looks.on_bound need a rule with bounds")


def read_collection(check: TomlChecker, data: dict[str, Any]) -> CollectionSettings:
    """The table [collection] of study.toml."""
    path = ("collection",)
    check.keys(data, path, ("path", "root", "pictures"))
    pictures = check.text(data, path, "pictures", "")
    if pictures and "{id}" not in pictures:
        check.fault((*path, "pictures"), pictures, "a name that holds {id} is allowed, such as {id}.jpg")
    return CollectionSettings(check.text(data, path, "path", ""), check.text(data, path, "root", ""), pictures)


def _read_outcomes(check: TomlChecker, data: dict[str, Any], completion_url: str) -> dict[str, str]:
    """[entry.outcomes]: a code, or an address of its own."""
    path = ("entry", "outcomes")
    check.keys(data, path, tuple(OUTCOMES))
    outcomes = {name: check.text(data, path, name, "") for name in OUTCOMES if name in data}
    for name, value in outcomes.items():
        if not value.startswith(("https://", "http://")) and "{code}" not in completion_url:
            check.fault((*path, name), value, "an address is allowed, or a code where completion_url holds {code}")
    return outcomes


def read_texts(check: TomlChecker, data: dict[str, Any]) -> dict[str, str]:
    """[texts]: replaced texts of the interface, by name."""
    for key, value in data.items():
        if key not in ENGLISH:
            check.fault(("texts", key), None, "there is no such text; studyapp/config/texts.py has them")
        elif not isinstance(value, str):
            check.fault(("texts", key), value, "a text in quotes is allowed")
    return {key: str(value) for key, value in data.items()}


def read_limits(check: TomlChecker, data: dict[str, Any]) -> Limits:
    """The table [limits] of study.toml; faults are left with `check`."""
    path = ("limits",)
    check.keys(data, path, ("raters", "ratings", "deadline", "place_hours"))
    counts = {
        name: check.whole(data, path, name, 1, 1, 1_000_000_000) if name in data else None
        for name in ("raters", "ratings")
    }
    return Limits(
        **counts,
        deadline=_read_moment(check, data, "deadline"),
        place_hours=check.number(data, path, "place_hours", 24, 0.01, 100_000),
    )


def _read_moment(check: TomlChecker, data: dict[str, Any], key: str) -> float | None:
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        allowed = "a time with its offset is allowed, without quotes, such as 2027-01-31T12:00:00Z"
        check.fault(("limits", key), str(value), allowed)
        return None
    return value.astimezone(UTC).timestamp()


def read_sso(check: TomlChecker, data: dict[str, Any], url: str) -> SignOnSettings:
    """The table [sso] of study.toml; half of it is a fault. `url` is the study's, which the provider leads back to."""
    path = ("sso",)
    check.keys(data, path, ("issuer", "client_id", "secret_variable", "header", "allow", "role", "label"))
    if not data:
        return SignOnSettings()
    issuer, header = check.text(data, path, "issuer", ""), check.text(data, path, "header", "")
    client = check.text(data, path, "client_id", "")
    variable = _read_variable(check, data, path, "secret_variable")
    if bool(issuer) == bool(header):
        check.fault(path, None, "an issuer (OpenID Connect) or a header (of a trusted proxy) is needed, one of the two")
    if header and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{1,63}", header):
        check.fault((*path, "header"), header, "the name of a header is allowed, such as X-Forwarded-Email")
    if header and (client or variable):
        check.fault(path, None, "client_id and secret_variable belong to an issuer, and not to a header")
    if issuer:
        if not is_private(issuer):
            check.fault((*path, "issuer"), issuer, "an address with https:// is allowed, or http:// on this machine")
        if not client:
            check.fault((*path, "client_id"), None, "the issuer's name for this study is required")
        if not url:
            check.fault(path, None, "the provider leads people back to the study: [study] url is required")
    allow = data.get("allow", [])
    pattern = re.compile(r"[A-Za-z0-9._-]*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
    if not isinstance(allow, list) or not allow or not all(pattern.fullmatch(str(each)) for each in allow):
        allowed = 'a list of e-mail addresses and domains is required, such as ["anna@example.org", "@lab.example.org"]'
        check.fault((*path, "allow"), allow, allowed)
        allow = []
    role = check.one_of(data, path, "role", "viewer", ROLES)
    label = check.text(data, path, "label", "")
    return SignOnSettings(issuer, client, variable, header, tuple(map(str.lower, allow)), role, label)


def read_webhook(check: TomlChecker, data: dict[str, Any]) -> WebhookSettings:
    """The table [webhook] of study.toml; faults are left with `check`."""
    path = ("webhook",)
    check.keys(data, path, ("url", "secret_variable", "events"))
    if not data:
        return WebhookSettings()
    url = check.text(data, path, "url", None)
    if not is_private(url):
        check.fault((*path, "url"), url, "an address with https:// is allowed, or with http:// on this machine")
    variable = _read_variable(check, data, path, "secret_variable", None)
    chosen = check.texts(data, path, "events")
    for event in chosen:
        if event not in EVENTS:
            check.fault((*path, "events"), event, f"any of {', '.join(EVENTS)} are allowed")
    return WebhookSettings(url, variable, chosen)
