"""relstudy judge: an automatic judge of a study's pairs, asked over HTTP or by files, or taken from a table."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.http import can_be_sent
from relstudy.common.runtime.wording import count_of, quoted

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.judging.answer_log import AnswerLog
    from relstudy.studyapp.judging.asking import Interview, Question

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
NOWHERE = "http://localhost/v1"
SHARE = 0.05
"""Of the candidates of all queries, with --pairs sample."""
PROBABILITIES = {"logprobs": True, "top_logprobs": 20}


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(CommandOptions):
    """Options of `relstudy judge`."""

    name: str = option(..., "Name of the judge; its files are judges/NAME.*.", flags=("--judge",), metavar="NAME")
    question: str | None = option(
        None,
        "Ask this further question of [[blocks.questions]], by its id; files are in questions/ID/judges.",
        shown="the blocks' own",
    )
    scores: Path | None = option(None, "Take its grades, or a system's scores, from a table.")
    mean_of: tuple[str, ...] = option((), "Take the mean of the study's judges of these names.", metavar="NAME")
    best: int | None = option(
        None, "Number of judges to keep: those that explain people best, of these or of all.", at_least=1
    )
    model: str = option("", "Ask this model.")
    base_url: str | None = option(
        None, "Where the model is served (chat completions), such as http://localhost:8000/v1."
    )
    prompt: str = option(
        "study", "study, umbrela, rag, or a file with {query} and {result}; of couples {query}, {left} and {right}."
    )
    answer: str | None = option(
        None,
        "Where the grade is: json, final-score, number, or a regular expression.",
        metavar="FORM",
        shown="that of the prompt",
    )
    expected_grades: bool = option(False, "Take the mean grade by the probabilities of tokens, where these come.")
    pairs: Literal["judged", "queries", "candidates", "collection", "sample", "couples", "lists"] = option(
        "queries",
        "Which pairs: those of pairs.csv, every candidate of their queries, of all queries, everything, or a sample; "
        "or which of two is better, of the couples of results or of lists.",
    )
    share: float | None = option(
        None,
        "With --pairs sample: of the candidates of all queries, beside the pairs of pairs.csv.",
        above=0,
        at_most=1,
        shown=f"{SHARE:g}",
    )
    budget: float | None = option(
        None,
        "With --pairs sample: find the share with the least error for this much money, people's work included; "
        "without prices in study.toml, for this many questions.",
        above=0,
    )
    parameters: tuple[str, ...] = option((), "A field of every request.", flags=("--parameter",), metavar="NAME=VALUE")
    workers: int = option(8, "Questions at a time.", at_least=1, at_most=256)
    limit: int | None = option(None, "Ask at most N now, spread over queries at random.", at_least=1)
    timeout: float = option(120.0, "Seconds to wait.", at_least=0.1)
    repeat: float = option(
        0.05,
        "Ask this share of the pairs a second time, to learn whether the judge says the same; 0: none.",
        at_least=0,
        at_most=1,
    )
    tuned_on: Path | None = option(None, "A table of queries that the prompt was tuned on.")
    export_batch: Path | None = option(None, "Write the questions, and send nothing.")
    import_batch: tuple[Path, ...] = option((), "Read answers to exported questions.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not re.fullmatch(NAME, self.name):
            raise click.UsageError("--judge: letters, digits, dot, - and _ are allowed (at most 64)")
        ways = [self.scores is not None, self.several, self.export_batch is not None, bool(self.import_batch)]
        if sum(ways) > 1 or ((self.scores is not None or self.several) and (self.model or self.base_url)):
            raise click.UsageError(
                "--scores, --mean-of or --best, --export-batch, --import-batch and --base-url exclude each other"
            )
        for name in ("share", "budget"):
            if getattr(self, name) is not None and self.pairs != "sample":
                raise click.UsageError(f"--{name} goes with --pairs sample")
        of_pairs = self.scores is not None or self.several or self.question is not None or self.expected_grades
        if self.of_couples and of_pairs:
            raise click.UsageError(
                f"--pairs {self.pairs} asks a model which of two is better: --scores, --mean-of, --best, --question "
                "and --expected-grades do not go with it"
            )
        if self.share is not None and self.budget is not None:
            raise click.UsageError("--budget finds the share: --share and --budget exclude each other")

    @property
    def ask(self) -> str:
        """The `ask` of a block that has such pairs."""
        return {"couples": "which", "lists": "which-list"}.get(self.pairs, "rating")

    @property
    def of_couples(self) -> bool:
        """True where the judge is asked which of two is better."""
        return self.ask != "rating"

    def folder(self, study: Path) -> Path:
        """The folder of the judge's files: of a further question, of couples and of lists one within the study's."""
        from relstudy.common.tables.meaning.study_folder import question_folder

        return study / self.pairs if self.of_couples else question_folder(study, self.question)

    @property
    def several(self) -> bool:
        """True where other judges are averaged."""
        return bool(self.mean_of) or self.best is not None


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@taking(JudgeOptions)
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
def judge(folder: Path, options: JudgeOptions, as_json: bool) -> None:
    """Have the pairs of the study in FOLDER judged by a model, or by anything that gives scores.

    Writes FOLDER/judges/NAME.csv for `relstudy score --judge` and `relstudy judge check`. Nothing is sent anywhere
    but to --base-url. The key is that of the environment variable which study.toml names ([judges] key_variable).
    Asking may be stopped and taken up again: what was answered is in judges/NAME.jsonl. Asked which of two is better,
    its files are in FOLDER/couples (or lists): the answers, a row each, and grades as `relstudy calibrate preferences`
    makes them.

    \b
    Examples:
      relstudy judge my-study --judge model --model NAME --base-url http://localhost:8000/v1
      relstudy judge my-study --judge model --model NAME --base-url http://localhost:8000/v1 --question trust
      relstudy judge my-study --judge bm25 --scores my-study/scores/bm25.csv
      relstudy judge my-study --judge five --best 5
      relstudy judge my-study --judge model --model NAME --export-batch questions.jsonl
      relstudy judge my-study --judge model --model NAME --import-batch answers.jsonl
    """
    from relstudy.studyapp.commands.opening import query_ids

    name, base = options.name, options.folder(folder)
    if options.question is not None:
        from relstudy.studyapp.config.study import Study

        Study.load(folder).question_called(options.question)
    tuned = None if options.tuned_on is None else query_ids(options.tuned_on)
    if options.several:
        content = _from_several(base, options, tuned, as_json)
    elif options.scores is not None:
        content = _from_file(base, folder, name, options.scores, tuned)
    else:
        content = _from_model(folder, options, tuned, as_json)
    if as_json:
        print_json(content)
    elif content:
        _print(folder, options, content)


def _from_file(own: Path, folder: Path, name: str, path: Path, tuned: list[str] | None) -> dict[str, Any]:
    from relstudy.common.tables.meaning.study_folder import items_file
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.judging.results import judge_files, table_of_file, write_judge

    *_, log = judge_files(own, name)
    if log.exists():
        raise RelstudyError(f"the judge {name} was asked: its answers are in {log}; give the scores another --judge")
    collection = Collection.load(folder) if items_file(folder).is_file() else None
    table, notes = table_of_file(path, name, collection)
    said = {"scores": path.name, "date": _today(), "notes": notes, **_tuned(tuned)}
    return write_judge(own, name, table, said)


def _from_several(base: Path, options: JudgeOptions, tuned: list[str] | None, quiet: bool) -> dict[str, Any]:
    from relstudy.studyapp.judging.results import mean_of_study

    said = {"date": _today(), **_tuned(tuned)}
    content, among = mean_of_study(base, options.name, options.mean_of, options.best, said)
    members = ", ".join(
        f"{each['judge']} (R² {each['r_squared']:.2f}{', in reverse' if each['turned'] else ''})"
        for each in content["mean_of"]
    )
    if not quiet:
        click.echo(f"The mean of {len(content['mean_of'])} of {among} judges: {members}.")
    return content


def _from_model(folder: Path, options: JudgeOptions, tuned: list[str] | None, as_json: bool) -> dict[str, Any]:
    from relstudy.common.tables.formats.table_files import write_table
    from relstudy.studyapp.judging.answer_log import AnswerLog
    from relstudy.studyapp.judging.asking import export_batch, import_batch, spread
    from relstudy.studyapp.judging.results import (
        grades_of_couples,
        judge_files,
        repeated_answers,
        table_of_answers,
        table_of_couples,
        write_judge,
    )

    name = options.name
    if not options.model:
        raise click.UsageError("--model is needed (or --scores FILE)")
    by_file = options.export_batch or options.import_batch
    if not options.base_url and not by_file:
        raise click.UsageError("--base-url is needed: nothing is sent anywhere unless you say where")
    run = _prepare(folder, options)
    base = options.folder(folder)
    log = AnswerLog(judge_files(base, name)[2])
    log.require(run.interview.common, name)
    changed = run.interview.read_anew(log)
    by_key = {each.key: each for each in run.every}  # items of one content are asked about once
    open_questions = [each for key, each in by_key.items() if not log.answered(key)]
    for sentence in run.budget:
        click.echo(sentence, err=as_json)
    now = spread(open_questions, options.limit)
    if options.export_batch:
        files = export_batch(run.interview, now, options.export_batch)
        if not as_json:
            named = ", ".join(map(str, files))
            click.echo(f"{count_of(len(now), 'question is', 'questions are')} in {named}; nothing was sent.")
        return {"questions": len(now), "files": [str(file) for file in files]} if as_json else {}

    def written() -> dict[str, Any]:
        if run.couples is None:
            table = table_of_answers(run.questions, log)
        else:
            answers = base / "answers" / f"{name}.csv"
            write_table(table_of_couples(name, run.questions, run.couples, options.ask, log), answers)
            table = grades_of_couples(answers, options.pairs == "lists")
        if run.probability is not None:
            table["inclusion_probability"] = run.probability
        said = {
            **run.interview.common,
            "answer": run.interview.form.name,
            "base_url": options.base_url,
            **({} if options.question is None else {"question": options.question}),
            "prompt_text": {kind: prompt.template for kind, prompt in run.interview.prompts.items()},
            "pairs": options.pairs,
            **({} if run.probability is None else {"share": run.share}),
            **({"budget": list(run.budget)} if run.budget else {}),
            "date": _today(),
            "cost": _cost(run, log),
            "repeated": repeated_answers(run.questions, run.again, log),
            "moved" if run.couples is None else "exchanged": repeated_answers(run.questions, run.moved, log),
            "speaking": run.speaking,
            "notes": _notes(name, run, log, changed, open_questions, now),
            **_tuned(tuned),
        }
        return write_judge(base, name, table, said)

    if options.import_batch:
        with log:
            import_batch(run.interview, run.every, options.import_batch, log)
        return written()
    try:
        complete = _ask(run, now, log, options.workers, as_json)
    except RelstudyError:
        if any(log.answered(each.key) for each in run.questions):
            written()
        raise
    content = written()
    if not complete:
        click.echo("Stopped. What was answered is kept; the same command goes on from there.", err=as_json)
    return content


def _notes(
    name: str,
    run: _Run,
    log: AnswerLog,
    changed: int,
    open_questions: Sequence[Question],
    now: Sequence[Question],
) -> list[str]:
    """Notes on the answers, one sentence each."""
    from relstudy.analysis.judges.table import notes_on_models
    from relstudy.studyapp.judging.answers import is_cut_off
    from relstudy.studyapp.judging.asking import answered_by
    from relstudy.studyapp.judging.results import repeated_answers

    notes = []
    if changed:
        again = count_of(changed, "kept answer was read again and says", "kept answers were read again and say")
        notes.append(f"{again} something else now; nothing was asked for that.")
    if len(now) < len(open_questions):
        queries = len({each.query_id for each in now})
        notes.append(
            f"{len(now):,} of {len(open_questions):,} open questions were taken, of "
            f"{count_of(queries, 'query', 'queries')} by chance."
        )
    records = [log.records.get(each.key, {}) for each in run.questions]
    reasons = Counter(record["reason"] for record in records if record.get("status") == "error" and "reason" in record)
    if reasons:
        (reason, many), *others = reasons.most_common()
        more = f" (and {count_of(len(others), 'other reason')})" if others else ""
        notes.append(f"{count_of(reasons.total(), 'question')} got no answer, {many:,} of them since {reason}{more}.")
    cut = sum(is_cut_off(record.get("answer") or {}) and record.get("status") == "unparsed" for record in records)
    if cut:
        short = count_of(cut, "answer was", "answers were")
        notes.append(f"{short} cut off twice; --parameter max_tokens=N lets them be longer.")
    models = Counter(model for record in records if record.get("rating") is not None and (model := answered_by(record)))
    notes += notes_on_models(name, run.interview.client.model, models)
    expected = run.interview.client.parameters.get("logprobs")
    if expected:
        whole = sum(
            record["rating"] in run.interview.scale_of(record["query_id"]).values
            for record in records
            if record.get("rating") is not None
        )
        notes.append(
            f"{count_of(whole, 'grade is that', 'grades are those')} that the judge named, as no others came with them."
        )
    moved = repeated_answers(run.questions, run.moved, log)
    if moved:
        how = (
            "the sides exchanged" if run.couples is not None else "the items' texts moved to the front of the question"
        )
        notes.append(
            f"With {how}, {moved['asked'] - moved['same']:,} of {moved['asked']:,} answers were another grade."
        )
    if run.speaking:
        notes.append(
            f"{count_of(len(run.speaking), 'text speaks', 'texts speak')} to whoever grades them, such as that of "
            f"{run.speaking[0]}; marks around each text say that nothing in it addresses the judge."
        )
    return notes


def _cost(run: _Run, log: AnswerLog) -> float | None:
    """Cost of the answers; None where prices are not known."""
    if run.interview.settings.cost(0, 0) is None:
        return None
    return sum(log.records.get(each.key, {}).get("cost") or 0 for each in run.every)


@dataclass(frozen=True)
class _Run:
    """The questions that a command asks.

    Parameters
    ----------
    again, moved : those asked a second time, as they are and with the items' texts in another place
    probability : with which each question's pair was drawn; None where all were
    share : of a sample
    speaking : items whose texts hold words meant for a judge
    budget : what is said of how one is parted, one sentence each
    couples : rows of the pairs table that the questions are of, where they ask which of two is better
    """

    interview: Interview
    questions: Sequence[Question]
    again: Sequence[Question]
    moved: Sequence[Question]
    probability: np.ndarray | None
    share: float
    speaking: Sequence[str]
    budget: Sequence[str]
    couples: pd.DataFrame | None = None

    @property
    def every(self) -> list[Question]:
        """All questions, those asked a second time after the others."""
        return [*self.questions, *self.again, *self.moved]


def _prepare(folder: Path, options: JudgeOptions) -> _Run:
    """Prepare the questions and the judge that is asked."""
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.collection.lists import read_lists
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.judging.answers import AnswerForm
    from relstudy.studyapp.judging.asking import Interview
    from relstudy.studyapp.judging.client import ChatClient
    from relstudy.studyapp.judging.judge_budget import share_for
    from relstudy.studyapp.judging.pairs import by_side, couples_to_judge, drawn_share, pairs_to_judge
    from relstudy.studyapp.judging.prompt import (
        NAMED,
        NamedPrompt,
        Prompt,
        as_judged,
        require_words,
        speaks_to_a_judge,
    )

    study = Study.load(folder)
    collection = as_judged(Collection.load(folder), study)
    couples = None
    lists = {each.id: each.results for each in read_lists(folder).values()}
    pairs: list[tuple[str, ...]]
    if options.of_couples:
        candidates = couples = couples_to_judge(folder, lists, options.pairs == "lists")
        pairs = by_side(couples)
    else:
        candidates = pairs_to_judge(folder, collection, options.pairs)
        pairs = list(candidates.itertuples(index=False, name=None))
    kinds = sorted({collection[pair[0]].paradigm for pair in pairs})
    chosen = "which" if options.of_couples and options.prompt == "study" else options.prompt
    prompt = NAMED.get(chosen) or NamedPrompt(_text(Path(chosen)))
    question = study.question_called(options.question)
    prompts = {kind: Prompt.of_study(study, kind, prompt.template, chosen, question, options.ask) for kind in kinds}
    parameters = _parameters(options.parameters) | (PROBABILITIES if options.expected_grades else {})
    form = AnswerForm(options.answer or prompt.form)
    address = options.base_url or NOWHERE
    key = _key(study, needed=options.base_url is not None)
    client = ChatClient(address, options.model, parameters, key, options.timeout)
    interview = Interview(client, prompts, collection, study.judges, form, lists)
    probability: np.ndarray | None = None
    share, said = options.share or SHARE, list[str]()
    if options.pairs == "sample":
        drawn = pairs_to_judge(folder, collection, "judged")
        if options.budget is not None:
            share, said = share_for(options.budget, folder, options.name, interview, pairs, len(drawn))
        sample, probability = drawn_share(candidates, drawn, share)
        pairs = list(sample.itertuples(index=False, name=None))
    questions = interview.questions(pairs)
    items = dict.fromkeys(item.id for pair in pairs for name in pair for item in interview.items(name))
    require_words(collection, items)
    speaking = [item for item in items if speaks_to_a_judge(collection[item])]
    twice = interview.again(questions, options.repeat)
    return _Run(interview, questions, *twice, probability, share, speaking, said, couples)


def _ask(run: _Run, questions: Sequence[Question], log: AnswerLog, workers: int, quiet: bool) -> bool:
    from relstudy.common.runtime.console import counter
    from relstudy.studyapp.judging.asking import ANSWER_TOKENS, Audit, ask

    interview, audit = run.interview, Audit()
    tokens = interview.tokens(questions)
    cost = interview.settings.cost(tokens, ANSWER_TOKENS * len(questions))
    price = "" if cost is None else f", which cost about {cost:.2f}"
    twice = sum(each.repeat > 0 or each.moved for each in questions)
    click.echo(
        f"{len(questions):,} of {len(run.every):,} questions are open, {twice:,} of them asked a second time. "
        f"{_what_is_sent(interview, questions)} are sent to {interview.client.host}: "
        f"about {tokens:,} tokens{price}.",
        err=quiet,
    )
    if not questions:
        return True
    try:
        with log, counter("asking", len(questions)) as bar:

            def on_record(record: dict[str, Any]) -> None:
                audit.add(record)
                if cost is not None:
                    bar.set_postfix_str(f"cost {audit.cost or 0:.2f}", refresh=False)
                bar.update()

            return ask(interview, questions, log, workers, on_record)
    finally:
        click.echo(audit.sentence(interview.client), err=quiet)


def _what_is_sent(interview: Interview, questions: Sequence[Question]) -> str:
    items = {item.id: item for each in questions for name in each.ids for item in interview.items(name)}
    pictures = sum(item.path is not None for item in items.values())
    return f"{count_of(len(items) - pictures, 'text')} and {count_of(pictures, 'picture')}"


def _key(study: Study, needed: bool) -> str | None:
    """The key that the environment holds under the name in study.toml; None where it names none, or none is needed and
    there is none to be cut out of what is read."""
    variable = study.judges.key_variable
    if not variable:
        return None
    key = os.environ.get(variable, "").strip()
    if not key and not needed:
        return None
    if not key:
        raise RelstudyError(f"the environment variable {variable}, which study.toml names for the key, is empty")
    if not can_be_sent(key):
        raise RelstudyError(
            f"the environment variable {variable} holds no key: a key has neither blanks nor special signs"
        )
    return key


def _parameters(given: Sequence[str]) -> dict[str, Any]:
    """Fields of every request; null leaves a field out."""
    parameters: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--parameter: NAME=VALUE is needed, not {each!r}")
        try:
            parameters[name] = json.loads(value)
        except NO_JSON:
            parameters[name] = value
    return {name: value for name, value in parameters.items() if value is not None}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RelstudyError(f"{path}: file not found") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{path}: cannot be read as text ({error})") from None


def _tuned(queries: list[str] | None) -> dict[str, Any]:
    return {} if queries is None else {"tuned_on": queries}


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _print(folder: Path, options: JudgeOptions, content: dict[str, Any]) -> None:
    from relstudy.studyapp.judging.results import judge_files

    name, of_question = options.name, "" if options.question is None else f" --question {options.question}"
    base = options.folder(folder)
    path = judge_files(base, name)[0]
    counts = ", ".join(f"{many:,} {status}" for status, many in content["status"].items())
    click.echo(
        f"Judge {name}: {count_of(content['answered'], 'answer')} for {count_of(content['rows'], 'pair')} of "
        f"{count_of(content['queries'], 'query', 'queries')} ({counts}). They are in {path}."
    )
    if content.get("cost") is not None:
        click.echo(f"They cost {content['cost']:.2f}.")
    off = content["status"].get("off_scale", 0)
    if off:
        grades = count_of(off, "answer was a grade", "answers were grades")
        click.echo(f"{grades} off the study's scale; they count as no answer.")
    for note in content.get("notes", []):
        click.echo(note)
    if options.of_couples:
        of_lists = " --lists" * (options.pairs == "lists")
        click.echo(f"Its answers to which of two is better are in {base / 'answers' / path.name}.")
        click.echo(f"People's: relstudy calibrate preferences {quoted(folder)}{of_lists} -o {base}")
        folder = base
    click.echo(f"Is it any good, and for what: relstudy judge check {quoted(folder)} --judge {name}{of_question}")
