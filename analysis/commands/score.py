"""`relstudy score`: a system against the judgments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.commands.scoring_options import given_options, options_over, scoring_options
from relstudy.common.console import print_json, print_table, say
from relstudy.common.errors import RelstudyError
from relstudy.common.reading_options import judgments_reading, reading_options

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from relstudy.analysis.scoring.candidate import Candidate
    from relstudy.analysis.scoring.options import ScoringOptions
    from relstudy.analysis.scoring.results import ScoreResult, SystemScore
    from relstudy.calibration.judgments import Judgments
    from relstudy.common.estimates import Estimate
    from relstudy.mapping.fitted import FittedMapping


@click.command()
@click.argument("scores", nargs=-1, required=True, type=click.Path())
@click.option("--judgments", "-j", type=click.Path(), help="Judgments to score against (not needed with --against).")
@click.option(
    "--mappings", type=click.Path(), help="Folder (or file) of fitted mappings, as `relstudy fit` writes them."
)
@scoring_options
@reading_options
@click.option(
    "--ids", type=click.Path(), help="Ids of vectors (.npy), one a line; by default the .ids.txt beside them."
)
@click.option(
    "--query-vectors", type=click.Path(), help="Vectors (.npy) of the queries, where they are not results too."
)
@click.option("--similarity", type=click.Choice(["cosine", "dot", "euclidean"]), default="cosine", show_default=True)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Also score within groups: a column of the judgments, or of the pairs.csv beside them, such as paradigm.",
)
@click.option("--qrels", type=click.Path(), help="Write the judgments as TREC qrels, in whole gains from 0.")
@click.option("--save", type=click.Path(), help="Keep the comparison in a file for a later --against.")
@click.option("--against", type=click.Path(), help="Place the systems among those of a saved comparison.")
@click.option("--out", "-o", type=click.Path(), help="Folder for the tables: scores, per query, curves, comparisons.")
@click.option("--report", type=click.Path(), help="Write a report page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def score(
    scores: tuple[str, ...],
    judgments: str | None,
    against: str | None,
    save: str | None,
    qrels: str | None,
    out: str | None,
    report: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Score systems against the judgments: correlation, precision and recall, normalised rank, with intervals.

    SCORES are score tables (CSV or Parquet, long or wide), TREC runs, or vectors (.npy with ids beside them).

    \b
    relstudy score new.run --judgments judgments.csv --report new.html
    relstudy score scores/*.csv --judgments judgments.csv --mappings mappings --save comparison.json
    relstudy score new.csv --against comparison.json
    """
    from relstudy.analysis.scoring.proposers import with_proposers
    from relstudy.analysis.scoring.rated import judgments_with_ratings
    from relstudy.analysis.scoring.saved import read_comparison, same_judgments, with_what_was_saved
    from relstudy.calibration.judgments import read_judgments
    from relstudy.mapping.fitted import read_mappings

    if not any(path.endswith(".npy") for path in scores) and (choices["ids"] or choices["query_vectors"]):
        raise click.UsageError("--ids and --query-vectors go with vectors (.npy), and none are given")
    if out is not None and Path(out).is_file():
        raise RelstudyError(f"{out}: this is a file; --out needs a folder")
    reading = judgments_reading(choices, judgments is not None)
    saved = None if against is None else read_comparison(against)
    ratings = choices.pop("ratings")
    if ratings is not None and (judgments is None or saved is not None):
        raise click.UsageError("--ratings goes with --judgments; a saved comparison keeps what it needs of the ratings")
    if judgments is not None:
        table = read_judgments(judgments, reading)
        if saved is None:
            table = with_proposers(judgments_with_ratings(table, judgments, ratings), judgments)
        else:
            same_judgments(saved, table)
            table = with_what_was_saved(table, saved)
    elif saved is not None:
        table = saved.judgments
    else:
        raise click.UsageError("--judgments (or --against) is needed")
    given = given_options(choices)
    options = _options(given, None if saved is None else saved.options)
    fitted = {} if choices["mappings"] is None else read_mappings(choices["mappings"])
    tables = [(file, _read(file, table, choices)) for file in scores]
    candidates = _candidates(tables, table, options, fitted, given.get("directions", ()))
    outside = _outside_pool(tables, table, candidates, judgments)
    new = [candidate.name for candidate in candidates]
    if saved is not None:
        candidates = _among(saved.candidates, candidates, str(against))
    groups = None if choices["by"] is None else _groups(table, choices["by"], judgments)
    result = _score(table, candidates, options)
    result = replace(result, notes=(*table.notes, *result.notes, *outside))
    by_group = {} if groups is None else _score_by(table, candidates, groups, options)
    if qrels is not None:
        _write_qrels(table, qrels)
    if save is not None:
        _save(table, candidates, options, save)
    if out is not None:
        _write_tables(result, Path(out))
    if report is not None:
        _report(result, report)
    if as_json:
        for note in result.notes:
            say(note)
        content = result.as_json()
        if groups is not None:
            within = {name: each.as_json() for name, each in by_group.items()}
            content["by"] = {"column": choices["by"], "groups": within}
        print_json(content)
    else:
        _print(result, new if saved is not None else [])
        _print_groups(by_group, str(choices["by"]))


def _options(given: dict[str, Any], saved: ScoringOptions | None) -> ScoringOptions:
    """The options given over the defaults, or over those of a saved comparison, which they may not contradict."""
    from relstudy.analysis.scoring.options import ScoringOptions

    if saved is None:
        return options_over(ScoringOptions(), given)
    free = ("measures", "directions", "low_coverage", "method", "folds")
    differing = [name for name, value in given.items() if name not in free and value != getattr(saved, name)]
    if differing:
        raise RelstudyError(
            f"the saved comparison was made with {', '.join(f'{n} {getattr(saved, n)}' for n in differing)}; "
            "to compare, the same is needed (leave the option out), or score all systems anew"
        )
    return options_over(saved, given)


def _read(path: str, judgments: Judgments, choices: dict[str, Any]) -> pd.DataFrame:
    if path.endswith(".npy"):
        from relstudy.analysis.scoring.vectors import read_vectors, vector_scores

        queries = choices["query_vectors"]
        return vector_scores(
            judgments.frame,
            read_vectors(path, choices["ids"]),
            None if queries is None else read_vectors(queries),
            choices["similarity"],
            Path(path).stem,
        )
    from relstudy.mapping.scores.table import read_scores

    table = read_scores(path)
    for note in table.attrs.get("notes", []):
        say(note)
    return table


def _outside_pool(
    tables: list[tuple[str, pd.DataFrame]], judgments: Judgments, candidates: list[Candidate], file: str | None
) -> list[str]:
    """What lies outside the pool of the study that the judgments' file is in, a sentence for each system."""
    from relstudy.analysis.scoring.outside import Pool

    pool = None if file is None else Pool.beside(Path(file))
    if pool is None:
        return []
    higher = {candidate.name: candidate.direction.higher for candidate in candidates}
    queries = list(judgments.frame["query_id"].astype("str").unique())
    notes = [
        pool.note(str(name), rows, higher[str(name)], queries)
        for _, scores in tables
        for name, rows in scores.groupby("system", sort=False)
    ]
    return [note for note in notes if note is not None]


def _candidates(
    tables: list[tuple[str, pd.DataFrame]],
    judgments: Judgments,
    options: ScoringOptions,
    fitted: dict[str, FittedMapping],
    stated: Iterable[str],
) -> list[Candidate]:
    """Every system of the files with its mapped scores."""
    from relstudy.analysis.scoring.judged import JudgedPairs
    from relstudy.analysis.scoring.systems import candidates_of
    from relstudy.common.console import progress

    candidates, notes = candidates_of(
        tables,
        JudgedPairs.of(judgments),
        options,
        fitted,
        stated=stated,
        progress=lambda systems: progress(systems, "mapping", len(systems)),
    )
    for note in notes:
        say(note)
    return candidates


def _among(old: list[Candidate], new: list[Candidate], file: str) -> list[Candidate]:
    names = {candidate.name for candidate in old}
    twice = [candidate.name for candidate in new if candidate.name in names]
    if twice:
        raise RelstudyError(f"{file}: the comparison already holds a system named {twice[0]!r}; rename the new one")
    return [*old, *new]


def _score(judgments: Judgments, candidates: list[Candidate], options: ScoringOptions) -> ScoreResult:
    from relstudy.analysis.scoring.judged import JudgedPairs
    from relstudy.analysis.scoring.run import score_candidates
    from relstudy.common.console import progress

    return score_candidates(
        JudgedPairs.of(judgments), candidates, options, lambda systems: progress(systems, "scoring", len(systems))
    )


def _groups(judgments: Judgments, column: str, file: str | None) -> np.ndarray:
    """Each pair's value of a column, of the judgments or of the pairs.csv beside them."""
    from relstudy.analysis.scoring.groups import groups_of

    if file is None:
        raise click.UsageError("--by takes a column of the judgments, so --judgments is needed")
    return groups_of(judgments.frame, column, Path(file).parent / "pairs.csv")


def _score_by(
    judgments: Judgments, candidates: list[Candidate], groups: np.ndarray, options: ScoringOptions
) -> dict[str, ScoreResult]:
    from relstudy.analysis.scoring.groups import score_by
    from relstudy.analysis.scoring.judged import JudgedPairs

    return score_by(JudgedPairs.of(judgments), candidates, groups, options)


def _save(judgments: Judgments, candidates: list[Candidate], options: ScoringOptions, path: str) -> None:
    from relstudy.analysis.scoring.judged import JudgedPairs
    from relstudy.analysis.scoring.saved import save_comparison

    save_comparison(JudgedPairs.of(judgments), candidates, options, path)
    say(f"The comparison is kept in {path}.")


def _write_qrels(judgments: Judgments, path: str) -> None:
    from relstudy.analysis.scoring.trec import gains, gains_in_words, write_qrels

    values, scale = judgments.frame["judgment"].to_numpy(dtype=float), judgments.scale.scale
    write_qrels(judgments.frame, path, gains(values, scale))
    say(f"Qrels are in {path}: {gains_in_words(scale)}.")


def _write_tables(result: ScoreResult, folder: Path) -> None:
    import pandas as pd

    from relstudy.common.tables import write_table

    write_table(result.table(), folder / "scores.csv")
    write_table(result.per_query, folder / "per_query.csv")
    curves = [system.curve.assign(system=system.name) for system in result.systems]
    write_table(pd.concat(curves, ignore_index=True), folder / "precision_recall.csv")
    if result.comparisons:
        rows = [comparison.as_json() for comparison in result.comparisons]
        write_table(pd.json_normalize(rows), folder / "comparisons.csv")
    say(f"Tables are in {folder}.")


def _report(result: ScoreResult, path: str) -> None:
    from relstudy.analysis.report.page import score_page
    from relstudy.common.tables import write_text

    write_text(score_page(result), path)
    say(f"The report is in {path}.")


def _print(result: ScoreResult, new: list[str]) -> None:
    from relstudy.analysis.scoring.saved import place_among

    print_table([_row(system) for system in result.systems], ["system", *_columns(result), "coverage"])
    click.echo()
    numbers = result.pairs
    click.echo(
        f"{numbers['judged']} judged pairs of {numbers['queries']} queries, {numbers['relevant']:.6g} relevant "
        f"({result.conventions['relevant']}). Weights: {result.conventions['weights']}."
    )
    scale = result.conventions["scale"]
    click.echo(f"Scale: {scale['name']}, {scale['note']}.")
    if len(result.systems) > 1:
        click.echo(f"Compared by: {result.conventions['compared_by']}.")
        click.echo(f"Pairs were proposed by: {result.conventions['proposed']}.")
    click.echo(f"Intervals: {result.conventions['interval']}; {result.conventions['population']}.")
    for note in result.notes:
        click.echo(note)
    _print_measures(result)
    for name in new:
        for sentence in place_among(result, name):
            click.echo(sentence)
    _print_comparisons(result, new)


def _print_groups(by_group: dict[str, ScoreResult], column: str) -> None:
    if not by_group:
        return
    click.echo()
    header = [column, "pairs", "queries", "system", *_columns(next(iter(by_group.values())))]
    rows = []
    for name, result in by_group.items():
        for system in result.systems:
            numbers = [str(result.pairs["judged"]), str(result.pairs["queries"])]
            rows.append([name, *numbers, *_row(system)[:-1]])
    print_table(rows, header)
    for name, result in by_group.items():
        for note in result.notes:
            click.echo(f"{name}: {note}")


def _print_measures(result: ScoreResult) -> None:
    names = list(dict.fromkeys(name for system in result.systems for name in system.measures))
    if not names:
        return
    click.echo()
    rows = []
    for system in result.systems:
        row = [system.name]
        for name in names:
            figure = system.measures.get(name)
            row += ["–", ""] if figure is None else [_number(figure.value), _ends(figure)]
        rows.append(row)
    print_table(rows, ["system", *(text for name in names for text in (name, "interval"))])
    click.echo(f"Measures: {result.conventions['measures']}.")


def _ends(figure: Estimate) -> str:
    return "" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}"


def _columns(result: ScoreResult) -> list[str]:
    """The figures of `_row`; over the collection where systems are compared by that."""
    whole = ["collection r", "interval"] if result.collection else []
    return ["raw r", "mapped r", "interval", *whole, "AP", "interval", "norm. rank", "interval"]


def _row(system: SystemScore) -> list[str]:
    cells = [system.name, _number(system.raw.pearson.value)]
    whole = [] if system.collection is None else [system.collection.pearson]
    for figure in (system.mapped.pearson, *whole, system.average_precision, system.normalised_rank):
        cells += [_number(figure.value), _ends(figure)]
    return [*cells, f"{system.coverage.fraction:.1%}"]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _p(value: float | None) -> str:
    return "–" if value is None else "below 0.0001" if value < 0.0001 else f"{value:.4f}"


def _print_comparisons(result: ScoreResult, new: list[str]) -> None:
    chosen = [c for c in result.comparisons if not new or c.first in new or c.second in new]
    if not chosen:
        return
    certain = [c for c in chosen if c.p_holm is not None and c.p_holm < 0.05 and c.better is not None]
    click.echo()
    click.echo(f"{len(certain)} of {len(chosen)} differences are significant (Holm-corrected p below 0.05):")
    for comparison in certain[:20]:
        other = comparison.second if comparison.better == comparison.first else comparison.first
        click.echo(
            f"  {comparison.better} over {other} by {comparison.index.replace('_', ' ')}: "
            f"difference {abs(comparison.difference.value or 0):.4f}, p {_p(comparison.p_holm)}"
        )
    if len(certain) > 20:
        click.echo(f"  and {len(certain) - 20} more; all are in --json and in the tables (--out)")
