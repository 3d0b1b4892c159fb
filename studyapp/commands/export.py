"""relstudy export: the ratings as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.tables.formats.overwriting import with_overwrite

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class ExportOptions(CommandOptions):
    """Options of `relstudy export`."""

    output: Path | None = option(
        None,
        "Table to write; .parquet works too.",
        flags=("-o", "--out"),
        shown="FOLDER/ratings.csv, of a question FOLDER/questions/ID/ratings.csv",
    )
    question: str | None = option(
        None,
        "The answers to this further question of [[blocks.questions]], by its id.",
        shown="the blocks' own",
    )
    scale: str | None = option(None, "Only ratings on this scale.", shown="all")
    history: bool = option(False, "Every revision of a rating, not only the one that counts.")
    no_surplus: bool = option(False, "Leave out late answers for pairs that had their ratings.")
    people: Path | None = option(None, "Also write one row per rater to this file.")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@taking(ExportOptions)
@with_overwrite
@click.option("--json", "as_json", is_flag=True, help="Print counts as JSON.")
def export(folder: Path, options: ExportOptions, as_json: bool) -> None:
    """Write the ratings to a table, at any time; nobody who is rating is held up.

    Attention checks, repeated pairs and practice are in the table under their own `block`; docs/data.md has the
    columns. Beside it, NAME.json says how pairs were handed out.

    \b
    Example:
      relstudy export my-study
      relstudy export my-study --scale 1-9 -o nine.csv
      relstudy export my-study --question trust
    """
    from relstudy.common.runtime.console import print_json, say
    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.common.runtime.files import write_json
    from relstudy.common.runtime.wording import capital, count_of
    from relstudy.common.tables.formats.table_files import write_parts, write_table
    from relstudy.common.tables.meaning.study_folder import question_folder
    from relstudy.studyapp.assignment.erasure import forgotten_hashes
    from relstudy.studyapp.assignment.slots import HAND_OUT_RULE
    from relstudy.studyapp.assignment.versions import read_state
    from relstudy.studyapp.commands.opening import open_ratings
    from relstudy.studyapp.database.tombstones import hash_of
    from relstudy.studyapp.monitoring.export import people_table, ratings_in_parts

    study, store = open_ratings(folder)
    with store.read() as connection:
        hashes, state = set().union(*forgotten_hashes(connection, folder).values()), read_state(connection)

    def erased(person: str) -> bool:
        return hash_of(person) in hashes

    scale, question = options.scale, study.question_called(options.question)
    if question is None and scale is not None and scale not in {s.name for s in study.scales}:
        raise RelstudyError(
            f"no block uses the scale {scale!r}; this study has {', '.join(s.name for s in study.scales)}"
        )
    target = options.output or question_folder(folder, options.question) / "ratings.csv"
    target.parent.mkdir(parents=True, exist_ok=True)
    numbers, blocks = dict.fromkeys(("ratings", "undecided", "not_shown"), 0), Counter[str]()
    rater_ids, scales = set[str](), set[str]()

    def counted(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in parts:
            numbers["ratings"] += len(part)
            numbers["undecided"] += int((part["rating"].isna() & (part["not_shown"] == 0)).sum())
            numbers["not_shown"] += int(part["not_shown"].sum())
            blocks.update(part["block"])
            rater_ids.update(part["rater_id"])
            scales.update(part["scale"])
            yield part

    wanted: dict[str, Any] = {"scale": scale, "surplus": not options.no_surplus}
    with ratings_in_parts(store, study, history=options.history, question=question, **wanted) as (parts, response):
        write_parts(counted(parts), target, answers=erased)
    counts: dict[str, Any] = {
        "file": str(target),
        "ratings": numbers["ratings"],
        **({} if question is None else {"question": question.id, "text": question.text}),
        "undecided": numbers["undecided"],
        "not_shown": numbers["not_shown"],
        "raters": len(rater_ids),
        "blocks": dict(blocks.most_common()),
        "scales": sorted(scales),
        "handed_out": HAND_OUT_RULE,
        "state": state,
        "pairs": None if response is None else response.as_json(),
        "ratings_per_pair": {block.name: block.ratings_per_pair for block in study.blocks if block.unique},
    }
    if study.groups:
        counts["handed_out"] = f"{HAND_OUT_RULE}; each rater the blocks of their group"
        counts["groups"] = [{"name": g.name, "blocks": list(g.blocks), "quota": g.quota} for g in study.groups]
    write_json(counts, target.with_suffix(".json"))
    if options.people is not None:
        write_table(people_table(store, study), options.people, private=True)
    if as_json:
        print_json(counts)
    else:
        lost = f", {counts['not_shown']} could not be shown" if counts["not_shown"] else ""
        said = f"{counts['undecided']} undecided{lost}"
        say(f"{count_of(counts['ratings'], 'rating')} by {count_of(counts['raters'], 'rater')} ({said}) -> {target}")
        if question is None and study.result_questions:
            names = ", ".join(study.result_questions)
            click.echo(f"The further questions have their own tables: --question ID, of {names}.")
        if response is not None and (missing := response.sentence()) is not None:
            click.echo(f"{capital(missing)}.")
