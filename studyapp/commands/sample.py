"""relstudy sample: choose the pairs of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from relstudy.common.console import print_json, progress
from relstudy.common.errors import RelstudyError
from relstudy.common.option_groups import GroupedCommand
from relstudy.common.option_types import FiniteRange
from relstudy.studyapp.commands.sample_output import cost_of, print_next_round, print_preview, summarise

if TYPE_CHECKING:
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.sampling.first_round import Sample
    from relstudy.studyapp.sampling.further_pairs import Extended


def bar(items: Iterable[int], what: str, total: int) -> Iterator[int]:
    """The progress bar, as systems and draws want it."""
    return progress(items, what, total)


OPTION_GROUPS = {
    "What to draw": (
        *("systems", "queries", "text-queries", "given", "results", "base", "base-queries", "paradigm"),
        *("exponent", "floor", "one-from-each", "strata", "seed"),
    ),
    "A pool of the systems' first results": ("depth", "outside"),
    "Cost and what can be estimated": ("raters", "seconds", "good", "skill"),
    "A further round": ("from-mappings", "mappings", "judgments", "same-queries", "next", "judge", "pairs", "aim"),
}


@click.command(cls=GroupedCommand, option_groups=OPTION_GROUPS)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--systems",
    help="Systems that propose pairs, separated by commas: built-in names, or score tables and TREC runs. "
    "[default: keywords and colour where they apply, and every table in scores/]",
)
@click.option("--queries", default=100, show_default=True, type=click.IntRange(1), help="Queries by image to draw.")
@click.option("--text-queries", type=click.IntRange(0), help="Queries by text to draw. [default: as --queries]")
@click.option(
    "--given",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Use the queries listed in this table (column query_id), all of them.",
)
@click.option("--results", default=20, show_default=True, type=click.IntRange(1), help="Results to draw per query.")
@click.option(
    "--exponent", default=1.0, show_default=True, type=FiniteRange(0), help="p of the shaping function rank**-p."
)
@click.option(
    "--floor",
    default=0.05,
    show_default=True,
    type=FiniteRange(0, 1),
    help="Share drawn from all candidates alike.",
)
@click.option(
    "--base",
    default=100,
    show_default=True,
    type=click.IntRange(0),
    help="Pairs that everyone rates, for each way of asking.",
)
@click.option(
    "--base-queries",
    type=click.IntRange(0),
    help="Base block of all pairs of so many queries, for each way of asking; instead of --base.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    help="Draw from a pool: the union of the systems' first so many results. Figures then speak of the pool. [default: "
    "all results]",
)
@click.option(
    "--outside",
    default=1,
    show_default=True,
    type=click.IntRange(0),
    help="With --depth: results per query, in addition, from outside the pool, to tell what it misses.",
)
@click.option(
    "--strata",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Spread each query's results evenly over so many strata by probability, so that rare ones are never missed.",
)
@click.option(
    "--one-from-each",
    is_flag=True,
    help="Every system draws its part of the results by itself, and a page shows one result from each.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="The same seed draws the same pairs."
)
@click.option("--raters", default=12, show_default=True, type=click.IntRange(1), help="For the cost: how many people.")
@click.option(
    "--seconds",
    type=FiniteRange(0, min_open=True),
    help="For the cost: seconds per rating. [default: the median of ratings.csv, else 6]",
)
@click.option(
    "--good",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Share of all pairs that are good matches, as far as can be told before anyone rates: decides what the design "
    "can estimate.  [default: 0.02]",
)
@click.option(
    "--skill",
    default=0.5,
    show_default=True,
    type=FiniteRange(0, 1, max_open=True),
    help="Likewise, correlation of a system's scores with what people value.",
)
@click.option(
    "--from-mappings",
    is_flag=True,
    help="Add a round, shaped by what the mappings predict, so that people will use every category equally often.",
)
@click.option(
    "--mappings",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --from-mappings: the folder of mappings. [default: FOLDER/mappings]",
)
@click.option(
    "--judgments",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --from-mappings or --next: the judgments so far. [default: FOLDER/judgments.csv]",
)
@click.option(
    "--same-queries", is_flag=True, help="With --from-mappings: draw for the last round's queries, not for new ones."
)
@click.option(
    "--paradigm",
    type=click.Choice(["image", "text"]),
    default="image",
    show_default=True,
    help="With --from-mappings or --next: which way of asking.",
)
@click.option(
    "--next",
    "by_judge",
    is_flag=True,
    help="Add a round for the last round's queries, where people's judgments tell most beside --judge.",
)
@click.option("--judge", help="With --next: the judge, FOLDER/judges/NAME.csv, that was given all candidates.")
@click.option("--pairs", type=click.IntRange(1), help="With --next: how many new pairs, on average. [default: 500]")
@click.option("--aim", help="With --next: the index that they are to tell most of. [default: average_precision]")
@click.option("--preview", is_flag=True, help="Say what would be drawn; write nothing.")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Draw anew even though ratings exist; the study as it is is kept in FOLDER/earlier-1.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the preview as JSON.")
def sample(
    folder: Path,
    systems: str | None,
    queries: int,
    text_queries: int | None,
    given: Path | None,
    results: int,
    exponent: float,
    floor: float,
    base: int,
    base_queries: int | None,
    depth: int | None,
    outside: int,
    strata: int,
    one_from_each: bool,
    seed: int,
    raters: int,
    seconds: float | None,
    good: float | None,
    skill: float,
    from_mappings: bool,
    mappings: Path | None,
    judgments: Path | None,
    same_queries: bool,
    paradigm: str,
    by_judge: bool,
    judge: str | None,
    pairs: int | None,
    aim: str | None,
    preview: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
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
    from relstudy.studyapp.sampling.first_round import ASSUMED_GOOD, SampleOptions, base_pages, draw_sample

    if by_judge or from_mappings:
        _complete_round(folder)
    study = _study(folder)
    cost = cost_of(folder, study, raters, seconds)
    if by_judge:
        if judge is None or from_mappings:
            raise click.UsageError("--next goes with --judge NAME, and not with --from-mappings")
        from relstudy.analysis.judges.study import judge_file
        from relstudy.studyapp.commands.sample_judge import draw_by_judge
        from relstudy.studyapp.sampling.judge_round import JudgeRoundOptions

        stated = click.get_current_context().get_parameter_source("floor") is ParameterSource.COMMANDLINE
        chosen = {"pairs": pairs, "aim": aim, "floor": floor if stated else None}
        known: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
        options_of_judge = JudgeRoundOptions(
            judge_file(folder, judge), paradigm=paradigm, seed=seed, judgments=judgments, **known
        )
        draw_by_judge(folder, options_of_judge, cost, as_json, preview)
        return
    if judge or pairs or aim:
        raise click.UsageError("--judge, --pairs and --aim go with --next")
    if from_mappings:
        from relstudy.studyapp.sampling.next_round import NextOptions, draw_next_round

        later = NextOptions(queries, same_queries, results, floor, _categories(study, paradigm), paradigm, seed)
        added = draw_next_round(
            folder, mappings or folder / "mappings", judgments or folder / "judgments.csv", later, bar
        )
        if not preview:
            write(folder, added)
        print_next_round(folder, added, later, cost, as_json, preview)
        return
    if mappings or judgments or same_queries:
        raise click.UsageError("--mappings, --judgments and --same-queries go with --from-mappings or --next")
    rated = None if preview else _ratings_of(folder)
    if rated and not overwrite:
        raise RelstudyError(
            f"{folder / 'pairs.csv'} has ratings in {rated}, and a new draw would give its pair ids to other pairs; "
            "add a round with --from-mappings, or pass --overwrite, which keeps this study in a folder beside it and "
            "starts anew"
        )
    options = SampleOptions(
        systems=None if systems is None else [name.strip() for name in systems.split(",") if name.strip()],
        queries=queries,
        text_queries=text_queries,
        given=_given(given),
        results=results,
        exponent=exponent,
        floor=floor,
        base=base,
        base_queries=base_queries,
        page=base_pages(study),
        seed=seed,
        depth=depth,
        outside=outside,
        strata=strata,
        one_from_each=one_from_each,
    )
    drawn = draw_sample(folder, options, bar).with_reach(good, skill)
    kept = None
    if not preview:
        kept = write(folder, drawn, keep_old=rated is not None)
    summary = summarise(drawn, study, cost, ASSUMED_GOOD if good is None else good, skill)
    if as_json:
        print_json(summary if kept is None else {**summary, "kept": str(kept)})
        return
    print_preview(folder, summary, preview)
    if kept is not None:
        click.echo(f"The study as it was, with its ratings, is in {kept}.")
        click.echo("A server that is running must be started again.")


def write(folder: Path, drawn: Sample | Extended, *, keep_old: bool = False) -> Path | None:
    """Write pairs.csv, design.json, pool.csv where there is a pool, and the scores of built-in systems.

    With `keep_old`, the study as it was is kept first; where, is what is returned.
    """
    from relstudy.studyapp.assignment.new_draw import set_aside
    from relstudy.studyapp.sampling.sources import is_built_in
    from relstudy.studyapp.sampling.written_draw import written_draw

    stamps = {name: stamp for each in drawn.design.rounds for name, stamp in each.systems.items()}
    drawn.scores.write(folder, [name for name in drawn.scores.systems if is_built_in(stamps.get(name, ""))])
    with written_draw(folder, drawn.pairs, drawn.pool, drawn.design):
        return set_aside(folder) if keep_old else None


def _complete_round(folder: Path) -> None:
    """Put a round into place whose command was stopped while it wrote, and draw no other for it."""
    from relstudy.studyapp.sampling.written_draw import complete_draw

    if complete_draw(folder):
        raise RelstudyError(
            f"{folder}: the last round, whose command was stopped while it wrote, is in place now; nothing further was "
            "drawn, and the same command draws a further round"
        )


def _categories(study: Study | None, paradigm: str) -> tuple[float, ...]:
    """The scale that queries of this paradigm are rated on; 1-5 where there is no study.toml."""
    for block in study.blocks if study else ():
        if block.paradigm in (paradigm, None):
            return block.scale.values
    return (1, 2, 3, 4, 5)


def _study(folder: Path) -> Study | None:
    from relstudy.studyapp.config.study import Study

    return Study.load(folder) if (folder / "study.toml").exists() else None


def _given(file: Path | None) -> list[str] | None:
    if file is None:
        return None
    from relstudy.common.tables import read_table

    table = read_table(file, "query_id")
    ids = list(table.texts("query_id"))
    table.raise_faults()
    if not ids:
        raise RelstudyError(f"{file}: there is no query in this table")
    return ids


def _ratings_of(folder: Path) -> str | None:
    """Where the study that was drawn before keeps its ratings; None where nobody has rated."""
    if not (folder / "pairs.csv").exists():
        return None
    from relstudy.studyapp.assignment.new_draw import study_has_ratings

    if study_has_ratings(folder):
        return "study.db" if (folder / "study.db").exists() else "its database"
    return "ratings.csv" if (folder / "ratings.csv").exists() else None
