"""Roles of columns by their names and contents, and the command that reads them so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace

import pandas as pd

from relstudy.analysis.inspection.answers import Answers, read_answers
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.calibration.tables.rating_rows import alike_note, nobody_note
from relstudy.common.options.option_wording import list_entry
from relstudy.common.runtime.control_characters import UNSEEN
from relstudy.common.runtime.wording import count_of, listed, quoted
from relstudy.common.tables.checked_table import ROUNDED, Checked
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.scales import SCALE_COLUMNS

WRITTEN_ALIKE = "TABLE_WRITTEN_ALIKE"
"""In place of a table whose answers a person must write alike first."""
WITHOUT_REPEATS = "TABLE_WITHOUT_REPEATS"
"""In place of a table of which a person must choose one row a pair."""
UNKNOWN = "NAME"
"""In place of a column that only a person can name."""
TASKS = ("task_id", "task")
"""Names under which a result stands, or what a person was to do with several."""
SHOWN = ("image", "img", "item", "stimulus", "stim", "picture", "photo", "video")
WHERE = ("", "path", "_path", "url", "_url", "file", "_file", "_id", "_name")
"""What two columns of a pair are called, with a number or a letter and one of these endings."""
NAMES = {
    "rater_id": (
        *("rater_id", "rater", "raterid", "worker", "workerid", "worker_id", "annotator", "annotator_id"),
        *("annotatorid", "_annotator_id", "_session_id", "_worker_id", "assessor", "assessor_id", "judge", "judge_id"),
        *("coder", "coder_id", "evaluator", "evaluator_id", "reviewer", "reviewer_id", "labeler", "labeller"),
        *("expert", "expert_id", "participant", "participant_id", "participantid", "prolific_pid", "prolific_id"),
        *("participant_private_id", "participant_public_id", "participant_code", "annotator_email", "annotator_name"),
        *(
            "subject",
            "subject_id",
            "user",
            "user_id",
            "userid",
            "username",
            "user_name",
            "user_email",
            "email",
            "email_address",
        ),
        *("by", "respondent", "respondent_id", "responseid", "response_id", "observer", "observer_id", "viewer"),
        *(
            "listener",
            "listener_id",
            "author",
            "author_id",
            "authoruserid",
            "completed_by",
            "annotated_by",
            "labeled_by",
            "labelled_by",
            "rated_by",
        ),
    ),
    "query_id": (
        *("query_id", "queryid", "qid", "q_id", "query", "q", "topic_id", "topicid", "topic", "prompt_id", "prompt"),
        *("query_text", "search_term", "search_query", "keyword", "question_id", "question", "caption"),
        *("ref_img", "ref_image", "reference_image", "source_image"),
        *("sentence1", "sentence_1", "sentence_a", "text1", "text_1", "text_a", "word1", "word_1", "premise", "anchor"),
        *(f"{what}{one}{end}" for one in ("_a", "_1", "1", "_left") for what in SHOWN for end in WHERE),
    ),
    "result_id": (
        *("result_id", "result", "docno", "docid", "doc_id", "doc", "document_id", "document", "item_id", "itemid"),
        *("photo", "photo_id", "picture", "picture_id", "image_name", "image_path", "img_path", "movieid"),
        *("item", "product_id", "product", "sku", "asin", "pid", "passage_id", "passageid", "passage", "paragraph"),
        *("corpus_id", "image_id", "image", "video_id", "video", "instance_id", "stimulus_id", "stimulus"),
        *("candidate_id", "candidate", "url", "image_url", "dist_img", "dist_image", "distorted_image"),
        *("filename", "file_name", "pvs", "clip", "wav", "sample", *TASKS),
        *("sentence2", "sentence_2", "sentence_b", "text2", "text_2", "text_b", "word2", "word_2", "hypothesis"),
        *("output_id", "_unit_id", "trace_id", "traceid"),
        *(f"{what}{two}{end}" for two in ("_b", "_2", "2", "_right") for what in SHOWN for end in WHERE),
    ),
    "rating": (
        *("rating", "label", "grade", "relevance", "rel", "esci_label", "relevance_label", "relevance_grade"),
        *("human_label", "human_grade", "human_judgment", "human_relevance", "label_human", "annotation"),
        *("gold_label", "judgment_label", "judgment", "judgement", "accept", "answer", "response", "choice"),
        *("overall_score", "quality", "stars", "points", "gain", "gold", "gold_score", "human_score", "human_rating"),
        *("human", "mos", "dmos", "opinion", "vote", "usefulness", "sentiment", "similarity", "value", "score"),
    ),
    "system": ("system", "system_id", "run", "run_id", "runid", "run_name", "tag", "model", "retriever", "engine"),
}
WEAK = ("similarity", "value", "score")
"""Names under which people's judgments stand as often as a system's scores."""
NO_ANSWER = re.compile(
    r"(?:^|[ _.([-])(final|mean|avg|average|median|mos|sd|std|stdev|var|variance|total|count|counts|consensus|majority|"
    r"scale|block|rank|position|pos|round|repetition|seconds|duration|time|timestamp|date|year|month|day|age|gender|"
    r"index|idx|row|iter|iteration|q0|n|num|number|nr|id|ids|train|test|dev|valid|split|fold|set|part|partition|subset|"
    r"slot|locale|lang|language|country|region|zip|price|cost|length|len|size|width|height|words|tokens|clicks?|"
    r"impressions?|views|carts?|orders?|buys|purchases?|sales|frequency|freq|traffic|volume|weight|weights|prob|"
    r"probability|confidence|conf|ci|batch|session|trial|page|condition|version|seed|level|min|max|low|high|hit|hits|"
    r"status|progress|consent|attention|check|passed|paid|bonus|lat|lon|latitude|longitude)(?=$|[] _.)-]|\d)",
    re.IGNORECASE,
)
"""Words in names of columns that hold nobody's answers: summaries, counts, properties, and how a row came about."""
PEOPLE = re.compile(
    r"(rater|annotator|worker|assessor|judge|coder|expert|evaluator|reviewer|labell?er|participant|subject|observer|"
    r"viewer|listener|user|person|agent|anonymous|unknown)(?![a-z])|[^@ ]+@[^@ ]+\.[a-z]+$|[PSARUOW][ _-]?\d+$|"
    r"(?-i:[A-Z][a-z]+ [A-Z][a-z]+$)",
    re.IGNORECASE,
)
"""Names of columns that are a person's."""
SYSTEMS = re.compile(
    r"bm25|bert|gpt|llama|claude|gemini|mistral|mixtral|qwen|llm|model|system|engine|baseline|tf_?idf|dense|sparse|"
    r"colbert|splade|dpr|clip|score|sim(?![a-z])|similarity|cos(?![a-z])|cosine|dist|distance|rerank|retriev|embed|"
    r"word2vec|glove|(?<![a-z])(ance|e5|bge|lsa|lda|dot|l2|run|ssim|psnr|vmaf|lpips|random)(?![a-z])",
    re.IGNORECASE,
)
"""Words in names of columns that hold a system's scores."""
RATING_USES = ("judgments on one scale", "rater profiles", "agreement (alpha, ICC, kappa)", "a noise-free comparison")
SCORE_USES = ("correlation with judgments", "pooled AP", "pooled pairwise accuracy", "a mapping onto people's scale")


def underscored(name: str) -> str:
    """A column's name in lower case, with underscores for blanks and hyphens, and without what nobody sees.

    Examples
    --------
    >>> underscored("Worker ID"), underscored("corpus-id")
    ('worker_id', 'corpus_id')
    """
    return re.sub("[ \u00a0-]+", "_", UNSEEN.sub("", name).casefold().strip())


def roles_of(frame: pd.DataFrame) -> dict[str, str]:
    """Columns by relstudy's names, the first known name that the table has."""
    plain: dict[str, str] = {}
    for name in map(str, frame.columns):
        said = re.sub("^input[.:]", "", underscored(name))  # what a task of MTurk or Toloka shows
        plain[said] = name if name == said else plain.get(said, name)
    nested = {said: name for name in reversed(list(map(str, frame))) for said in _nested(underscored(name))}
    if any(name in nested for name in NAMES["rating"]):
        plain = nested | plain
    roles: dict[str, str] = {}
    for ours, names in NAMES.items():
        for name in names:
            if name in plain and plain[name] not in roles.values():
                if ours == "rating" and read_answers(frame[plain[name]], name) is None:
                    continue
                if ours == "rater_id" and are_fractions(frame[plain[name]]):
                    continue
                roles[ours] = plain[name]
                break
    # of text_0 and text_1 the first is the query, as text_1 is of text_1 and text_2
    zero = [said for said in plain if said.endswith("_0") and plain.get(f"{said[:-1]}1", "") == roles.get("query_id")]
    if zero:
        roles |= {"query_id": plain[zero[0]], "result_id": roles["query_id"]}
    is_rated = {"rater_id", "rating"} <= set(roles) and "result_id" not in roles
    # an id that no two rows share numbers the rows, and no item
    if is_rated and "id" in plain and frame[plain["id"]].duplicated().any():
        roles["result_id"] = plain["id"]
    # a frame's index that was written without a name holds what its rows are, unless it counts them
    first = str(frame.columns[0]) if len(frame.columns) else ""
    if first == "column 1" and "result_id" not in roles and not frame[first].str.fullmatch(r"\d+").all():
        roles["result_id"] = first
    # what a model answered to a prompt is judged; a few words or numbers of a person are the judgment
    if "result_id" not in roles and "response" in plain and roles.get("rating") != plain["response"]:
        roles["result_id"] = plain["response"]
    return roles


def _nested(name: str) -> list[str]:
    """What a name with parts, as records within records have, may be known by.

    Examples
    --------
    >>> _nested("player.rating"), _nested("participant.code"), _nested("rating")
    (['rating'], ['participant'], [])
    """
    *outer, last = name.split(".")
    if not outer or last in ("answer", "response", "choice"):  # which a model gives as well as a person
        return []
    return [outer[-1]] if last in ("id", "code", "name", "label", "uid") else [last]


def are_fractions(column: pd.Series) -> bool:
    """True for numbers with decimals, which name nobody."""
    numbers = pd.to_numeric(column, errors="coerce")
    return bool(numbers.notna().all() and (numbers % 1 != 0).any())


def siblings(names: Iterable[object]) -> dict[str, list[str]]:
    """Columns called alike but for a number, a letter at the end, or what stands in brackets; those of no other alone.

    Examples
    --------
    >>> siblings(["query", "label_1", "label_2", "How good? [lamp]", "How good? [chair]"])
    {'label_#': ['label_1', 'label_2'], 'How good? [#]': ['How good? [lamp]', 'How good? [chair]']}
    """
    groups: dict[str, list[str]] = {}
    for name in map(str, names):
        shared = re.sub(r"\[.*\]", "[#]", name)
        shared = shared if shared != name else re.sub(r"\d+", "#", re.sub(r"(?<=[ _.-])[A-Za-z]$", "#", name))
        if shared != name:
            groups.setdefault(shared, []).append(name)
    return {shared: columns for shared, columns in groups.items() if len(columns) > 1}


def column_called(frame: pd.DataFrame, *names: str) -> str | None:
    """The first column that has one of these names, in lower case, whatever its own case, or None."""
    return next((str(name) for name in frame if str(name).casefold() in names), None)


def columns_of_answers(frame: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The columns that hold answers: those of numbers if there are any, else of words that tell their order, else of
    other words."""
    read = {name: answers for name in names if (answers := read_answers(frame[name], name)) is not None}
    kinds = {name: 2 * bool(each.unordered) + bool(each.words) for name, each in read.items()}
    return [name for name, kind in kinds.items() if kind == min(kinds.values())]


def described(roles: Mapping[str, str], why: str, whys: Mapping[str, str] | None = None) -> tuple[ColumnRole, ...]:
    """The role that each column was given, by relstudy's names; `whys` gives roles reasons of their own."""
    reasons = {ours: (whys or {}).get(ours, why) for ours in roles}
    return tuple(
        ColumnRole(theirs, ours, "relstudy's own name" if theirs == ours else reasons[ours])
        for ours, theirs in roles.items()
        if theirs != UNKNOWN
    )


def remarks(answers: Answers) -> list[str]:
    """Oddities in a column of answers, one sentence each."""
    notes = []
    if answers.missing:
        notes.append(f"taken for no answer: {', '.join(map(repr, answers.missing))}")
    for value in answers.odd:
        notes.append(
            f"{value} looks like a mark for no answer: is it one? The command below says so with --missing; if "
            "it is a rating, leave that out and state the --scale"
        )
    return notes


def to_run(inspection: Inspection, command: str, answers: Answers) -> Inspection:
    """The inspection with the command to run next; as a draft where something is to be filled in first."""
    questions = list(inspection.questions)
    if answers.signed_in_part is not None:
        signed, plain = answers.signed_in_part
        questions.append(
            f"{signed!r} has a percent sign and {plain!r} has none: are they on one scale? Write "
            "them the same way first"
        )
        command = command.replace(quoted(inspection.file), WRITTEN_ALIKE, 1)
    elif answers.unordered:
        words = ", ".join(map(repr, answers.unordered))
        questions.append(f"what is each of these words worth? Their order is not known: {words}")
    if questions:
        return replace(inspection, draft=command, questions=tuple(questions))
    return replace(inspection, command=command)


def calibrate_command(table: Checked, roles: dict[str, str], answers: Answers, columns: Iterable[str] = ()) -> str:
    """The command that reads the ratings; `columns` if there are several of them."""
    named: dict[str, tuple[str, ...]] = {ours: (theirs,) for ours, theirs in roles.items() if ours != theirs}
    if columns:
        named["rating"] = tuple(columns)
    stated = stated_options(named, answers, table)
    return " ".join(["relstudy calibrate", quoted(table.file), "-o out", *stated])


def stated_options(named: dict[str, tuple[str, ...]], answers: Answers, table: Checked) -> list[str]:
    """The options --columns, --values, --scale and --missing, those that are needed."""
    options = []
    if named:
        entries = [list_entry(f"{ours}={theirs}") for ours, several in named.items() for theirs in several]
        options.append(f"--columns {shlex.quote(','.join(entries))}")
    if answers.words or answers.unordered:
        numbers = {text: f"{number:g}" for text, number in answers.words.items()}
        numbers |= dict.fromkeys(answers.unordered, "NUMBER")
        entries = [list_entry(f"{text}={number}") for text, number in numbers.items()]
        options.append(f"--values {shlex.quote(','.join(entries))}")
    if answers.scale is not None and "scale" not in table.frame and SCALE_COLUMNS[0] not in table.frame:
        listed = (answers.scale.step is None or "," in answers.scale.name) and not answers.scale.continuous
        ends = ",".join(f"{value:g}" for value in answers.scale.values) if listed else ""
        options.append(f"--scale {ends or f'{answers.scale.low:g}-{answers.scale.high:g}'}")
    if answers.missing or answers.odd:
        options.append(f"--missing {shlex.quote(','.join(map(list_entry, (*answers.missing, *answers.odd))))}")
    return options


def inspect_ratings(
    table: Checked, roles: dict[str, str], tool: str, why: str = "by its name and its values"
) -> Inspection:
    """The inspection of a table with one row a rating; `why` is the reason for the column of ratings."""
    roles = {ours: theirs for ours, theirs in roles.items() if ours != "system"}
    answers = read_answers(table.frame[roles["rating"]], roles["rating"])
    assert answers is not None
    names = table.frame[roles["rater_id"]].dropna().astype("str").str.strip()
    names = names[names != ""].drop_duplicates()
    rounded = names[names.str.fullmatch(ROUNDED).astype(bool)]
    of_raters = [alike_note(names), nobody_note(table, roles["rater_id"])]
    if len(rounded):
        of_raters.append(
            f"{rounded.iloc[0]} in {roles['rater_id']} was rounded, as by a spreadsheet: several people may "
            "have become one"
        )
    roles, whys, questions = paired(table.frame, roles, roles["rating"])
    whys["rating"] = why
    sentence = f"{count_of(answers.count, 'rating')} by {count_of(len(names), 'rater')}"
    sentence += f", exported from {tool}" if tool else ""
    inspection = Inspection(
        table.file,
        tool or "ratings",
        sentence,
        described(roles, "by its name and its values", whys),
        (*(note for note in of_raters if note), *remarks(answers)),
        RATING_USES[:3],
        questions=questions,
    )
    inspection = to_run(inspection, calibrate_command(table, roles, answers), answers)
    key = [roles[ours] for ours in ("rater_id", *PAIR) if roles[ours] in table.frame]
    apart = [name for name in ("scale", *SCALE_COLUMNS) if name in table.frame]
    if UNKNOWN in roles.values() or not table.frame.duplicated([*key, *apart]).any():
        return inspection
    given = table.frame[list(dict.fromkeys([*key, *apart, roles["rating"]]))].astype("str").drop_duplicates()
    given = given[given[roles["rating"]].str.strip() != ""]
    again = given[given.duplicated([*key, *apart])]
    if again.empty:
        return inspection
    who, *pair = (str(each) for each in again.iloc[0][key])
    others = f" ({count_of(len(again) - 1, 'more such rating')})" if len(again) > 1 else ""
    asked = (
        f"{who} rated {listed(list(dict.fromkeys(pair)))} more than once, differently{others}: which rating counts? "
        "Remove the others and name the table without them"
    )
    draft = (inspection.command or inspection.draft or "").replace(quoted(table.file), WITHOUT_REPEATS, 1)
    return replace(inspection, questions=(*inspection.questions, asked), command=None, draft=draft)


def paired(
    frame: pd.DataFrame, roles: dict[str, str], rating: str | None = None
) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Roles with both ids of a pair: an item that stands alone is its own query, and a query its own result.

    Not so where rows of one item come again, of one rater where raters are named: then the one column of texts that
    tells them apart is the other id. Where several may, or none does though raters are named, it is NAME.

    Parameters
    ----------
    rating : column of the answers, whose empty rows do not count; None: all rows count

    Returns
    -------
    The roles, why the other id is what it is, and what only a person can tell
    """
    if underscored(roles.get("result_id", "")) in TASKS and "query_id" in roles:
        key = [roles[name] for name in ("rater_id", *PAIR) if name in roles]
        if frame.drop_duplicates().duplicated(key).any():  # a task shows several results
            roles = {ours: theirs for ours, theirs in roles.items() if ours != "result_id"}
    named_id = next((ours for ours in PAIR if ours in roles), None)
    if named_id is None or set(PAIR) <= set(roles):
        return roles, {}, ()
    other, item = next(name for name in PAIR if name != named_id), roles[named_id]
    key = [roles[name] for name in ("rater_id", named_id) if name in roles]
    filled = frame if rating is None else frame[frame[rating].astype("str").str.strip() != ""]
    filled = filled.drop_duplicates()  # a row that stands twice is read as one
    if not filled.duplicated(key).any():
        return {**roles, other: item}, {}, ()
    words, numbers, others = [], [], []
    for name in (str(each) for each in frame if each not in (*roles.values(), rating)):
        texts = filled[name].astype("str").str.strip()
        is_id = (texts != "").all() and texts.duplicated().any() and not filled.duplicated([*key, name]).any()
        if is_id and pd.to_numeric(texts, errors="coerce").isna().all():
            words.append(name)
        elif is_id and texts.str.fullmatch(r"\d+").all() and not NO_ANSWER.search(name):
            numbers.append(name)
        elif is_id:
            others.append(name)
    if len(words) == 1:
        return {**roles, other: words[0]}, {other: f"only it distinguishes rows of one {item} apart"}, ()
    if not (words or numbers or "rater_id" in roles):
        return {**roles, other: item}, {}, ()
    named = [*words, *numbers] or others
    among = f", {' or '.join(named)}" if named else ""
    return {**roles, other: UNKNOWN}, {}, (f"rows of one {item} come again: which column says of what each is{among}?",)
