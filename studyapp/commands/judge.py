"""relstudy judge: an automatic judge of a study's pairs, asked over HTTP or by files, or taken from a table."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.command_options import FiniteRange
from relstudy.common.console import print_json
from relstudy.common.damage import NO_JSON
from relstudy.common.errors import RelstudyError
from relstudy.common.http import can_be_sent

if TYPE_CHECKING:
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.judging.answer_log import AnswerLog
    from relstudy.studyapp.judging.asking import Interview, Question
    from relstudy.studyapp.judging.client import ChatClient

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
NOWHERE = "http://localhost/v1"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judge", "name", required=True, help="What to call the judge; its files are judges/NAME.*.")
@click.option("--scores", type=click.Path(path_type=Path), help="Take its grades, or a system's scores, from a table.")
@click.option("--mean-of", multiple=True, metavar="NAME", help="Take the mean of the study's judges of these names.")
@click.option("--best", type=click.IntRange(1), help="Of these (or all) judges, as many as explain people best.")
@click.option("--model", help="Ask this model.")
@click.option("--base-url", help="Where the model is served (chat completions), such as http://localhost:8000/v1.")
@click.option("--prompt", type=click.Path(path_type=Path), help="A prompt of your own, with {query} and {result}.")
@click.option(
    "--pairs",
    type=click.Choice(["judged", "queries", "candidates", "collection"]),
    default="queries",
    show_default=True,
    help="Which pairs: those of pairs.csv, every candidate of their queries, of all queries, or everything.",
)
@click.option("--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="A field of every request.")
@click.option("--workers", type=click.IntRange(1, 256), default=8, show_default=True, help="Questions at a time.")
@click.option("--limit", type=click.IntRange(1), help="Ask at most so many pairs now.")
@click.option("--timeout", type=FiniteRange(0.1), default=120, show_default=True, help="Seconds to wait.")
@click.option(
    "--repeat",
    type=FiniteRange(0, 1),
    default=0.05,
    show_default=True,
    help="Ask this share of the pairs a second time, to learn whether the judge says the same; 0: none.",
)
@click.option("--tuned-on", type=click.Path(path_type=Path), help="A table of queries that the prompt was tuned on.")
@click.option("--export-batch", type=click.Path(path_type=Path), help="Write the questions, and send nothing.")
@click.option("--import-batch", type=click.Path(path_type=Path), help="Read the answers to exported questions.")
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
def judge(folder: Path, name: str, scores: Path | None, tuned_on: Path | None, as_json: bool, **choices: Any) -> None:
    """Have the pairs of the study in FOLDER judged by a model, or by anything that gives scores.

    Writes FOLDER/judges/NAME.csv for `relstudy score --judge` and `relstudy judge-check`. Nothing is sent anywhere
    but to --base-url. The key is that of the environment variable which study.toml names ([judges] key_variable).
    Asking may be stopped and taken up again: what was answered is in judges/NAME.jsonl.

    \b
    Examples:
      relstudy judge my-study --judge model --model NAME --base-url http://localhost:8000/v1
      relstudy judge my-study --judge bm25 --scores my-study/scores/bm25.csv
      relstudy judge my-study --judge five --best 5
      relstudy judge my-study --judge model --model NAME --export-batch questions.jsonl
      relstudy judge my-study --judge model --model NAME --import-batch answers.jsonl
    """
    if not re.fullmatch(NAME, name):
        raise click.UsageError("--judge: letters, digits, dot, - and _ are allowed (at most 64)")
    mean_of, best = choices.pop("mean_of"), choices.pop("best")
    several = bool(mean_of) or best is not None
    ways = [scores is not None, several, choices["export_batch"] is not None, choices["import_batch"] is not None]
    if sum(ways) > 1 or ((scores is not None or several) and (choices["model"] or choices["base_url"])):
        raise click.UsageError(
            "--scores, --mean-of or --best, --export-batch, --import-batch and --base-url exclude each other"
        )
    tuned = None if tuned_on is None else _queries_of(tuned_on)
    if several:
        content = _from_several(folder, name, mean_of, best, as_json)
    elif scores is not None:
        content = _from_file(folder, name, scores, tuned)
    else:
        content = _from_model(folder, name, tuned, as_json, choices)
    if as_json:
        print_json(content)
    elif content:
        _print(folder, name, content)


def _queries_of(path: Path) -> list[str]:
    from relstudy.common.tables import read_table

    table = read_table(path, "query_id")
    queries = list(dict.fromkeys(table.texts("query_id")))
    table.raise_faults()
    return queries


def _from_file(folder: Path, name: str, path: Path, tuned: list[str] | None) -> dict[str, Any]:
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.judging.results import judge_files, table_of_file, write_judge

    *_, log = judge_files(folder, name)
    if log.exists():
        raise RelstudyError(f"the judge {name} was asked: its answers are in {log}; give the scores another --judge")
    collection = Collection.load(folder) if (folder / "collection.csv").is_file() else None
    table, notes = table_of_file(path, name, collection)
    said = {"scores": path.name, "date": _today(), "notes": notes, **_tuned(tuned)}
    return write_judge(folder, name, table, said)


def _from_several(folder: Path, name: str, mean_of: Sequence[str], best: int | None, quiet: bool) -> dict[str, Any]:
    from relstudy.studyapp.judging.results import mean_of_study

    content, among = mean_of_study(folder, name, mean_of, best, _today())
    members = ", ".join(
        f"{each['judge']} (R² {each['r_squared']:.2f}{', in reverse' if each['turned'] else ''})"
        for each in content["mean_of"]
    )
    if not quiet:
        click.echo(f"The mean of {len(content['mean_of'])} of {among} judges: {members}.")
    return content


def _from_model(
    folder: Path, name: str, tuned: list[str] | None, as_json: bool, choices: dict[str, Any]
) -> dict[str, Any]:
    from relstudy.studyapp.judging.answer_log import AnswerLog
    from relstudy.studyapp.judging.asking import export_batch, import_batch
    from relstudy.studyapp.judging.results import judge_files, repeated_answers, table_of_answers, write_judge

    if not choices["model"]:
        raise click.UsageError("--model is needed (or --scores FILE)")
    by_file = choices["export_batch"] or choices["import_batch"]
    if not choices["base_url"] and not by_file:
        raise click.UsageError("--base-url is needed: nothing is sent anywhere unless you say where")
    run = _prepare(folder, name, choices)
    log = AnswerLog(judge_files(folder, name)[2])
    log.require(run.interview.asked, name)
    every = [*run.questions, *run.again]
    by_key = {each.key: each for each in every}  # items of one content are asked about once
    open_questions = [each for key, each in by_key.items() if not log.answered(key)][: choices["limit"]]
    if choices["export_batch"]:
        export_batch(run.interview, run.client, open_questions, choices["export_batch"])
        click.echo(f"{len(open_questions):,} questions are in {choices['export_batch']}; nothing was sent.")
        return {}
    if choices["import_batch"]:
        with log:
            import_batch(run.interview, every, choices["import_batch"], log)
        complete = True
    else:
        complete = _ask(run, open_questions, log, choices["workers"], as_json)
    description = {
        **run.interview.asked.as_json(),
        "base_url": choices["base_url"],
        "prompt_text": {kind: prompt.template for kind, prompt in run.interview.prompts.items()},
        "pairs": choices["pairs"],
        "date": _today(),
        "cost": _cost(run, log),
        "repeated": repeated_answers(run.questions, run.again, log),
        **_tuned(tuned),
    }
    content = write_judge(folder, name, table_of_answers(run.questions, log), description)
    if not complete:
        click.echo("Stopped. What was answered is kept; the same command goes on from there.")
    return content


def _cost(run: _Run, log: AnswerLog) -> float | None:
    """Cost of the answers; None where prices are not known."""
    costs = [log.records.get(each.key, {}).get("cost") for each in (*run.questions, *run.again)]
    return None if run.interview.prices.into is None else sum(cost for cost in costs if cost is not None)


@dataclass(frozen=True)
class _Run:
    interview: Interview
    client: ChatClient
    questions: Sequence[Question]
    again: Sequence[Question]


def _prepare(folder: Path, name: str, choices: dict[str, Any]) -> _Run:
    """Prepare the questions and the judge that is asked."""
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.judging.answer_log import Asked
    from relstudy.studyapp.judging.asking import Interview, Prices
    from relstudy.studyapp.judging.client import ChatClient
    from relstudy.studyapp.judging.pairs import pairs_to_judge
    from relstudy.studyapp.judging.prompt import Prompt, block_of, text_hash

    study, collection = Study.load(folder), Collection.load(folder)
    table = pairs_to_judge(folder, collection, choices["pairs"])
    pairs = list(table.itertuples(index=False, name=None))
    kinds = sorted({collection[query].kind for query, _ in pairs})
    template, what = None, "the prompt"
    if choices["prompt"] is not None:
        template, what = _text(choices["prompt"]), str(choices["prompt"])
    prompts = {kind: Prompt.of_study(study, kind, template, what) for kind in kinds}
    parameters = _parameters(choices["parameters"])
    asked = Asked(choices["model"], parameters, text_hash("\x1e".join(prompts[kind].hash for kind in kinds)))
    settings = study.judges
    prices = Prices(settings.input_price or None, settings.output_price or None)
    scales = {kind: block_of(study, kind).scale for kind in kinds}
    interview = Interview(asked, prompts, scales, collection, prices)
    address = choices["base_url"] or NOWHERE
    key = None if choices["base_url"] is None else _key(study)
    client = ChatClient(address, choices["model"], parameters, key, choices["timeout"])
    questions = interview.questions(pairs)
    again = sorted(questions, key=lambda each: each.key)[: round(choices["repeat"] * len(questions))]
    return _Run(interview, client, questions, interview.questions([(a.query_id, a.result_id) for a in again], repeat=1))


def _ask(run: _Run, questions: Sequence[Question], log: AnswerLog, workers: int, quiet: bool) -> bool:
    from relstudy.common.console import counter
    from relstudy.studyapp.judging.asking import ask

    interview, total = run.interview, len(run.questions) + len(run.again)
    tokens = interview.tokens(questions)
    cost = interview.prices.cost(tokens, 25 * len(questions))
    price = "" if cost is None else f", which cost about {cost:.2f}"
    twice = sum(each.repeat > 0 for each in questions)
    click.echo(
        f"{len(questions):,} of {total:,} questions are open, {twice:,} of them asked a second time. "
        f"{_what_is_sent(interview.collection, questions)} are sent to {run.client.host}: "
        f"about {tokens:,} tokens{price}.",
        err=quiet,
    )
    if not questions:
        return True
    with log, counter("asking", len(questions)) as bar:
        spent = 0.0

        def on_record(record: dict[str, Any]) -> None:
            nonlocal spent
            spent += record.get("cost") or 0.0
            if cost is not None:
                bar.set_postfix_str(f"cost {spent:.2f}", refresh=False)
            bar.update()

        return ask(interview, run.client, questions, log, workers, on_record)


def _what_is_sent(collection: Collection, questions: Sequence[Question]) -> str:
    items = {each for question in questions for each in (question.query_id, question.result_id)}
    pictures = sum(collection[item].path is not None for item in items)
    return f"{len(items) - pictures:,} texts and {pictures:,} pictures"


def _key(study: Study) -> str | None:
    """The key that the environment holds under the name in study.toml; None where it names none."""
    variable = study.judges.key_variable
    if not variable:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise RelstudyError(f"the environment variable {variable}, which study.toml names for the key, is empty")
    if not can_be_sent(key):
        raise RelstudyError(
            f"the environment variable {variable} holds no key: a key has neither blanks nor special signs"
        )
    return key


def _parameters(given: Sequence[str]) -> dict[str, Any]:
    """Fields of every request; temperature 0 unless it is said otherwise, null leaves a field out."""
    parameters: dict[str, Any] = {"temperature": 0}
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
        raise RelstudyError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{path}: cannot be read as text ({error})") from None


def _tuned(queries: list[str] | None) -> dict[str, Any]:
    return {} if queries is None else {"tuned_on": queries}


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _print(folder: Path, name: str, content: dict[str, Any]) -> None:
    from relstudy.studyapp.judging.results import judge_files

    path = judge_files(folder, name)[0]
    counts = ", ".join(f"{many:,} {status}" for status, many in content["status"].items())
    click.echo(
        f"Judge {name}: {content['answered']:,} answers for {content['rows']:,} pairs of {content['queries']:,} "
        f"queries ({counts}). They are in {path}."
    )
    if content.get("cost") is not None:
        click.echo(f"They cost {content['cost']:.2f}.")
    off = content["status"].get("off_scale", 0)
    if off:
        click.echo(f"{off:,} answers were grades off the study's scale; they count as no answer.")
    for note in content.get("notes", []):
        click.echo(note)
    click.echo(f"Is it any good, and for what: relstudy judge-check {folder} --judge {name}")
