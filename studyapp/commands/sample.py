"""relstudy sample: choose the pairs of a study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.options.command_options import GroupedCommand, option_under, options_of, taking
from relstudy.common.options.declaration import declared, fields_given
from relstudy.common.runtime.console import print_json, progress
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed
from relstudy.studyapp.commands.sample_output import (
    Cost,
    cost_of,
    print_judge_round,
    print_next_round,
    print_preview,
    summarise,
)
from relstudy.studyapp.sampling.options import (
    DRAW,
    FURTHER,
    AssumptionOptions,
    CostOptions,
    JudgeRoundOptions,
    NextOptions,
    SampleOptions,
)

if TYPE_CHECKING:
    import pandas as pd

    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.sampling.first_round import Sample
    from relstudy.studyapp.sampling.further_pairs import Extended


@dataclass(frozen=True)
class RoundKind:
    """A kind of round, and the command's arguments that it takes beside those of every round."""

    name: str
    options: type
    further: frozenset[str]

    def refuse_strangers(self, choices: dict[str, Any]) -> None:
        """Refuse an option that only other rounds take, with the first of them."""
        taken = {each.argument for each in declared(self.options)} | self.further
        for option in click.get_current_context().command.params:
            name = option.name or ""
            if name in choices and choices[name] not in (None, False) and name not in taken:
                others = [each.name for each in ROUNDS if name in each.further | _names(each.options)]
                raise click.UsageError(f"{option.opts[0]} is for {' or '.join(others)}, and this is {self.name}")


def _names(options: type) -> set[str]:
    return {each.argument for each in declared(options)}


FIRST = RoundKind("a first round", SampleOptions, frozenset({"systems", "given", "good", "skill", "overwrite"}))
BY_MAPPINGS = RoundKind(
    "a round with --from-mappings", NextOptions, frozenset({"from_mappings", "mappings", "judgments"})
)
BY_JUDGE = RoundKind(
    "a round with --next --judge NAME", JudgeRoundOptions, frozenset({"by_judge", "judge", "judgments"})
)
ROUNDS = (FIRST, BY_MAPPINGS, BY_JUDGE)


@click.command(cls=GroupedCommand, most_used=("--queries", "--results", "--base", "--systems", "--preview"))
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@option_under(
    DRAW,
    "--systems",
    help="Systems that propose pairs, separated by commas: built-in names, or score tables and TREC runs. "
    "[default: keywords and colour where they apply, and every table in scores/]",
)
@option_under(
    DRAW,
    "--given",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Use the queries listed in this table (column query_id), all of them.",
)
@options_of(SampleOptions)
@taking(CostOptions, "people")
@options_of(AssumptionOptions)
@option_under(
    FURTHER,
    "--from-mappings",
    is_flag=True,
    help="Add a round, shaped by what the mappings predict, so that people will use every category equally often.",
)
@option_under(
    FURTHER,
    "--next",
    "by_judge",
    is_flag=True,
    help="Add a round for the last round's queries, where people's judgments add most to --judge.",
)
@option_under(FURTHER, "--judge", help="With --next: the judge, FOLDER/judges/NAME.csv, that was given all candidates.")
@option_under(
    FURTHER,
    "--mappings",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --from-mappings: the folder of mappings. [default: FOLDER/mappings]",
)
@option_under(
    FURTHER,
    "--judgments",
    type=click.Path(dir_okay=False, path_type=Path),
    help="In a further round: the judgments so far. [default: FOLDER/judgments.csv]",
)
@options_of(NextOptions, JudgeRoundOptions, only=("same_queries", "paradigm", "pairs", "aim"))
@click.option("--preview", is_flag=True, help="Say what would be drawn; write nothing.")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Draw again even though ratings exist; the study as it is is kept in FOLDER/earlier-1.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the preview as JSON.")
def sample(folder: Path, people: CostOptions, preview: bool, as_json: bool, **choices: Any) -> None:
    """Choose the pairs of the study in FOLDER, each with its inclusion probability.

    Writes pairs.csv, design.json and scores/NAME.csv for every built-in system used.

    \b
    Examples:
      relstudy sample my-study
      relstudy sample my-study --systems keywords,gift,mine.run --queries 200 --results 40 --preview
      relstudy sample my-study --depth 100 --good 0.005
      relstudy sample my-study --systems keywords,colour --results 8 --one-from-each
      relstudy sample my-study --from-mappings
      relstudy sample my-study --next --judge model --pairs 500 --aim average_precision
    """
    this = BY_JUDGE if choices["by_judge"] else BY_MAPPINGS if choices["from_mappings"] else FIRST
    this.refuse_strangers(choices)
    if this is BY_JUDGE and choices["judge"] is None:
        raise click.UsageError("--next goes with --judge NAME")
    _complete_draw(folder, is_further=this is not FIRST)
    study = _study(folder)
    cost = cost_of(folder, study, people)
    if this is BY_JUDGE:
        _draw_by_judge(folder, cost, choices, preview, as_json)
    elif this is BY_MAPPINGS:
        _draw_by_mappings(folder, study, cost, choices, preview, as_json)
    else:
        _draw_first(folder, study, cost, choices, preview, as_json)


def _draw_by_judge(folder: Path, cost: Cost, choices: dict[str, Any], preview: bool, as_json: bool) -> None:
    """Add a round where people's judgments tell most beside a judge; its pairs are of queries of any scale."""
    from relstudy.analysis.judges.study import judge_file
    from relstudy.studyapp.sampling.judge_round import draw_judge_round

    stated = fields_given(JudgeRoundOptions, choices)
    options = JudgeRoundOptions(judge_file(folder, choices["judge"]), judgments=choices["judgments"], **stated)
    added = draw_judge_round(folder, options, progress)
    if not preview:
        added.write_sizes(folder)
        write(folder, added)
    print_judge_round(folder, added, options.aim, cost, as_json, preview)


def _draw_by_mappings(
    folder: Path, study: Study | None, cost: Cost, choices: dict[str, Any], preview: bool, as_json: bool
) -> None:
    """Add a round shaped by what mappings predict."""
    from relstudy.studyapp.sampling.next_round import draw_next_round

    stated = NextOptions(**fields_given(NextOptions, choices))
    options = replace(stated, categories=_categories(study, stated.paradigm))
    mappings, judgments = choices["mappings"] or folder / "mappings", choices["judgments"] or folder / "judgments.csv"
    added = draw_next_round(folder, mappings, judgments, options, progress)
    if not preview:
        write(folder, added)
    print_next_round(folder, added, options, cost, as_json, preview)


def _draw_first(
    folder: Path, study: Study | None, cost: Cost, choices: dict[str, Any], preview: bool, as_json: bool
) -> None:
    """Draw the first round, again if there is one."""
    from relstudy.studyapp.sampling.first_round import base_pages, draw_sample
    from relstudy.studyapp.sampling.sources import listed_systems

    rated = None if preview else _ratings_of(folder)
    if rated and not choices["overwrite"]:
        raise RelstudyError(
            f"{folder / 'pairs.csv'} has ratings in {rated}, and a new draw would give its pair ids to other pairs; "
            "add a round with --from-mappings, or pass --overwrite, which keeps this study in a folder beside it and "
            "starts again"
        )
    options = SampleOptions(
        systems=listed_systems(choices["systems"]),
        given=_given(choices["given"]),
        page=base_pages(study),
        **fields_given(SampleOptions, choices),
    )
    assumed = AssumptionOptions(**fields_given(AssumptionOptions, choices))
    drawn = draw_sample(folder, options, progress).with_reach(assumed)
    if study is not None:
        drawn = replace(drawn, notes=(*drawn.notes, *_what_decides(study, drawn.pairs)))
    kept = None
    if not preview:
        kept = write(folder, drawn, keep_old=rated is not None)
        if rated is None:
            drawn = replace(drawn, notes=(*drawn.notes, *_fix_question(folder, drawn.pairs)))
    summary = summarise(drawn, study, cost, assumed)
    if as_json:
        print_json(summary if kept is None else {**summary, "kept": str(kept)})
        return
    print_preview(folder, summary, preview)
    if kept is not None:
        click.echo(f"The study as it was, with its ratings, is in {kept}.")
        click.echo("Every server goes on with the new draw, and raters begin again.")


def _fix_question(folder: Path, pairs: pd.DataFrame) -> list[str]:
    """State in study.toml what decides between systems and the looks that are planned, where it states neither yet; a
    note says so. By the design alone: what people answer has no part in it."""
    from relstudy.common.runtime.files import read_toml, write_text
    from relstudy.common.sampling.design_reach import primary_by_design
    from relstudy.studyapp.config.starter import question

    file = folder / "study.toml"
    if not file.is_file():
        return []
    stated = read_toml(file)
    added = question(stated, primary_by_design(pairs["query_id"]))
    if not added:
        return []
    write_text(f"{file.read_text(encoding='utf-8').rstrip()}\n\n{added}", file)
    return [f"study.toml now states {listed([f'[{name}]' for name in ('analysis', 'looks') if name not in stated])}."]


def _what_decides(study: Study, pairs: pd.DataFrame) -> list[str]:
    """Note on a primary index of study.toml that compares results of one query, where the draw gives it too little."""
    from relstudy.analysis.indices.index import Needs
    from relstudy.analysis.indices.registry import index_called
    from relstudy.common.sampling.design_reach import LEAST_PAIRS, LEAST_QUERIES

    if not study.analysis.primary:
        return []
    index = index_called(study.analysis.primary)
    queries = int((pairs["query_id"].value_counts() >= LEAST_PAIRS).sum())
    if index.needs is not Needs.LISTS or queries >= LEAST_QUERIES:
        return []
    return [
        f"These are few queries for {index.term}, which decides (study.toml): {queries} have {LEAST_PAIRS} results or "
        f"more, and {LEAST_QUERIES} are needed."
    ]


def write(folder: Path, drawn: Sample | Extended, *, keep_old: bool = False) -> Path | None:
    """Write pairs.csv, design.json, pool.csv if there is a pool, and the scores of built-in systems; of a collection
    that is read in a stream, the items that were drawn or that study.toml names. Couples stay after a further round,
    since they were drawn with the probabilities of the queries of then, and go with what a new draw overwrites.

    With `keep_old`, the study as it was is kept first; where, is what is returned.
    """
    from relstudy.studyapp.assignment.redrawn_study import keep_earlier_draw, serve_new_draw
    from relstudy.studyapp.collection.copied_items import copy_items, items_needed
    from relstudy.studyapp.collection.large_collection import LargeCollection
    from relstudy.studyapp.collection.lists import LISTS
    from relstudy.studyapp.sampling.couples import with_couples_of
    from relstudy.studyapp.sampling.further_pairs import Extended
    from relstudy.studyapp.sampling.sources import is_built_in
    from relstudy.studyapp.sampling.written_draw import written_draw

    stamps = {name: stamp for each in drawn.design.rounds for name, stamp in each.systems.items()}
    drawn.scores.write(folder, [name for name in drawn.scores.systems if is_built_in(stamps.get(name, ""))])
    is_further = isinstance(drawn, Extended)
    pairs = with_couples_of(folder, drawn.pairs) if is_further else drawn.pairs
    with written_draw(folder, pairs, drawn.pool, drawn.design) as written:
        if isinstance(drawn.collection, LargeCollection):
            copy_items(drawn.collection, items_needed(folder, drawn.pairs), folder)
        kept = keep_earlier_draw(folder, written) if keep_old else None
        if kept is None and not is_further:
            serve_new_draw(folder, written)
    if not is_further:
        (folder / LISTS).unlink(missing_ok=True)
    return kept


def _complete_draw(folder: Path, *, is_further: bool) -> None:
    """Put a draw into place whose command was stopped while it wrote, and draw no further round for it."""
    from relstudy.studyapp.assignment.redrawn_study import complete_new_draw
    from relstudy.studyapp.sampling.written_draw import complete_draw, nobody_draws

    complete_new_draw(folder)
    if not is_further:
        return
    with nobody_draws(folder):  # what is written at this moment is another command's
        is_late = complete_draw(folder)
    if is_late:
        raise RelstudyError(
            f"{folder}: the last round, whose command was stopped while it wrote, is in place now; nothing further was "
            "drawn, and the same command draws a further round"
        )


def _categories(study: Study | None, paradigm: str) -> tuple[float, ...]:
    """The scale that queries of this paradigm are rated on; 1-5 if there is no study.toml."""
    for block in study.blocks if study else ():
        if block.paradigm in (paradigm, None) and not block.is_comparison:
            return block.scale.categories
    return (1, 2, 3, 4, 5)


def _study(folder: Path) -> Study | None:
    from relstudy.studyapp.config.study import Study

    return Study.load(folder) if (folder / "study.toml").exists() else None


def _given(file: Path | None) -> list[str] | None:
    if file is None:
        return None
    from relstudy.studyapp.commands.opening import query_ids

    ids = query_ids(file)
    if not ids:
        raise RelstudyError(f"{file}: there is no query in this table")
    return ids


def _ratings_of(folder: Path) -> str | None:
    """Where the study that was drawn before keeps its ratings; None where nobody has rated."""
    if not (folder / "pairs.csv").exists():
        return None
    from relstudy.studyapp.assignment.draw_state import study_has_ratings

    if study_has_ratings(folder):
        return "study.db" if (folder / "study.db").exists() else "its database"
    return "ratings.csv" if (folder / "ratings.csv").exists() else None
