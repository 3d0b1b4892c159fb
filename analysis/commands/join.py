"""`relstudy calibrate join`: judgments on several scales, put on one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.options.command_options import options_of
from relstudy.common.options.declaration import fields_given
from relstudy.common.runtime.console import print_json, print_table, progress, say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import number, span
from relstudy.common.tables.formats.overwriting import with_overwrite
from relstudy.mapping.options import FitOptions

if TYPE_CHECKING:
    from relstudy.analysis.linking.link import ScaleLink
    from relstudy.common.results.estimates import Estimate


@click.command()
@click.argument("tables", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", "-o", "output", required=True, type=click.Path(path_type=Path), help="Folder to write to.")
@click.option("--pairs", type=click.Path(path_type=Path), help="The pairs table that all of them were drawn by.")
@options_of(FitOptions, only=("folds", "seed"))
@with_overwrite
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def join(tables: tuple[Path, ...], output: Path, pairs: Path | None, as_json: bool, **choices: Any) -> None:
    """Put judgments given on different scales on the scale of the first of TABLES.

    TABLES are judgments (tables, or folders that `relstudy calibrate` wrote), NAME=PATH to name one. The map of each
    scale is fitted to the pairs judged on both, and checked on queries it has not seen. Writes judgments.csv, whose
    column interface says where a judgment is from, and each map as NAME.json.

    \b
    relstudy calibrate ratings.csv -o study --by scale
    relstudy calibrate join study/1-5 study/1-9 study/binary -o joined --pairs pairs.csv
    """
    from relstudy.analysis.linking.joined import join_judgments, map_files
    from relstudy.calibration.tables.judgments import read_judgments
    from relstudy.common.runtime.files import refuse_over_inputs
    from relstudy.mapping.scored_pairs import FitSettings

    if output.is_file():
        raise RelstudyError(f"{output}: this is a file; -o needs a folder")
    options = FitOptions(**fields_given(FitOptions, choices))
    named = _named(tables)
    maps = map_files(output, list(named)[1:])
    refuse_over_inputs([output / "judgments.csv", *maps.values()], [*named.values(), pairs])
    read = {name: read_judgments(path) for name, path in named.items()}
    joined = join_judgments(
        read,
        pairs,
        FitSettings(options.folds, options.seed, "higher"),
        lambda names: progress(names, "scales", len(names)),
    )
    files = joined.write(output)
    if as_json:
        print_json(joined.as_json())
        return
    _print(joined.links)
    for note in joined.notes:
        click.echo(note)
    say(f"wrote {', '.join(map(str, files))}")


def _named(tables: tuple[Path, ...]) -> dict[str, Path]:
    """Each table under its name: that stated, else the folder's, else the file's."""
    named: dict[str, Path] = {}
    for given in tables:
        name, equals, path = str(given).partition("=")
        file = Path(path) if equals and not given.exists() else given
        if file is given:
            name = file.name if file.is_dir() else file.parent.name if file.stem == "judgments" else file.stem
        if name in named:
            raise RelstudyError(f"two tables are called {name!r}; NAME=PATH names them")
        named[name] = file / "judgments.csv" if file.is_dir() else file
    return named


def _print(links: dict[str, ScaleLink]) -> None:
    def cells(figure: Estimate) -> list[str]:
        return [number(figure.value), span(figure.low, figure.high)]

    rows = [
        [
            *(name, str(link.pairs), str(link.queries)),
            *(cell for figure in (link.pearson, link.spearman, link.without_noise) for cell in cells(figure)),
        ]
        for name, link in links.items()
    ]
    onto = next(iter(links.values())).onto
    header = [f"judged as {onto} too", "pairs", "queries", "Pearson", "95 %", "Spearman", "95 %"]
    print_table(rows, [*header, "without noise", "95 %"])
    click.echo()
    rows = [
        [name, link.choice.best, *cells(link.out_of_fold), *cells(link.error), *cells(link.stretched)]
        for name, link in links.items()
    ]
    header = [f"mapped to {onto}", "by", "correlation", "95 %", "RMSE", "95 %", "RMSE if only stretched", "95 %"]
    print_table(rows, header)
    click.echo(f"Maps are checked out of fold, folds by query; errors are on the scale of {onto}.")
