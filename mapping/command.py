"""`relstudy fit`: from score table and judgments to one mapping per system."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.console import print_json, print_table, progress, say
from relstudy.common.errors import RelstudyError

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("isotonic", "bagged", "correlation", "bayes", "best")


@click.command(
    epilog="""\b
Examples:
  relstudy fit scores.csv --judgments judgments.csv -o mappings
  relstudy fit run.trec --judgments judgments.csv -o mappings --method isotonic --json
"""
)
@click.argument("scores", type=click.Path())
@click.option(
    "--judgments", "-j", required=True, type=click.Path(), help="Judgments table: query_id, result_id, judgment."
)
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="Folder for NAME.json per system.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="best",
    show_default=True,
    help="One method, or the one of greatest out-of-fold correlation.",
)
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True, help="Folds, whole queries each.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of folds and random methods.")
@click.option(
    "--weights",
    type=click.Choice(["equal", "design"]),
    default="equal",
    show_default=True,
    help="Weight of a pair in the fits: equal, or 1 / inclusion_probability.",
)
@click.option("--leave-out", multiple=True, metavar="SYSTEM", help="A system or column not to fit; may be repeated.")
@click.option("--only", multiple=True, metavar="SYSTEM", help="Fit this system only; may be repeated.")
@click.option("--figures", is_flag=True, help="Also write NAME.svg per system: pairs, mapping and band.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def fit(
    scores: str,
    judgments: str,
    output: Path,
    method: str,
    folds: int,
    seed: int,
    weights: str,
    leave_out: tuple[str, ...],
    only: tuple[str, ...],
    figures: bool,
    as_json: bool,
) -> None:
    """Map each system's SCORES to the judgments by a monotone function.

    SCORES is a table (long or wide, CSV or Parquet) or a TREC run. Methods are compared out of fold, folds by query;
    the in-sample correlation stands beside it only to show how much it flatters.
    """
    from relstudy.calibration.judgments import read_judgments
    from relstudy.mapping.scores import read_scores
    from relstudy.mapping.selection import METHODS as ALL
    from relstudy.mapping.selection import choose

    table = read_scores(scores, leave_out=leave_out, only=only or None)
    for note in table.attrs["notes"]:
        say(note)
    judged = read_judgments(judgments)
    pairs = join(table, judged.frame, scores, judgments)
    pair_weights = _weights(pairs, weights, judgments)
    systems = {name: rows.index for name, rows in pairs.groupby("system", sort=False)}
    files = file_names([str(name) for name in systems])
    results: dict[str, Any] = {}
    fitted = []
    for name, rows in progress(systems.items(), "systems", total=len(systems)):
        part = pairs.loc[rows]
        choice = choose(
            part["score"],
            part["judgment"],
            part["query_id"],
            methods=ALL if method == "best" else (method,),
            folds=folds,
            seed=seed,
            weights=None if pair_weights is None else pair_weights[rows],
            system=str(name),
        )
        results[str(name)] = choice.as_json()
        fitted.append((files[str(name)], choice, part))
    for file, choice, part in fitted:
        choice.mapping.write(output / f"{file}.json")
        if figures:
            from relstudy.common.tables import write_text
            from relstudy.mapping.plots import mapping_figure

            picture = mapping_figure(choice.mapping, part["score"], part["judgment"], alone=True)
            write_text(picture, output / f"{file}.svg")
    if as_json:
        print_json({"systems": results})
    else:
        _print(results, output)


def join(table: pd.DataFrame, judged: pd.DataFrame, scores: str, judgments: str) -> pd.DataFrame:
    """Scored pairs that are judged; says how many were not, and refuses where a system has none."""
    pairs = table.merge(judged, on=["query_id", "result_id"], how="inner", suffixes=("", "_judged"))
    if pairs.empty:
        raise RelstudyError(
            f"{scores}: no scored pair is judged in {judgments}; query_id and result_id must be written alike in both"
        )
    counts = pairs.groupby("system").size()
    without = [str(name) for name in table["system"].unique() if name not in counts.index]
    if without:
        raise RelstudyError(f"{scores}: no pair of system {without[0]!r} is judged in {judgments}; leave it out")
    total = len(judged)
    short = [f"{name} ({count})" for name, count in counts.items() if count < total]
    if short:
        say(f"{judgments}: of {total} judged pairs not all are scored by: {', '.join(short)}")
    return pairs.reset_index(drop=True)


def file_names(systems: list[str]) -> dict[str, str]:
    """A file name per system, safe on every file system; numbered where two would be the same.

    Examples
    --------
    >>> file_names(["bm25", "dsg|pali 17b", "dsg:pali 17b"])
    {'bm25': 'bm25', 'dsg|pali 17b': 'dsg_pali_17b', 'dsg:pali 17b': 'dsg_pali_17b-2'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for system in systems:
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", system).strip("._")[:100] or "system"
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        names[system] = name
    return names


def _weights(pairs: pd.DataFrame, weights: str, judgments: str) -> Any:
    if weights == "equal":
        return None
    unknown = int(pairs["inclusion_probability"].isna().sum())
    if unknown:
        raise RelstudyError(
            f"{judgments}: --weights design needs an inclusion_probability for every pair; {unknown} have none"
        )
    return (1.0 / pairs["inclusion_probability"]).to_numpy()


def _print(results: dict[str, Any], output: Path) -> None:
    rows = []
    for system, scored in results.items():
        for method, figures in scored.items():
            if method == "best":
                continue
            mark = "best" if method == scored["best"] else ""
            rows.append([system, method, *(_text(figures[k]) for k in ("out_of_fold", "rmse", "in_sample")), mark])
    print_table(rows, ["system", "method", "out of fold [95 %]", "RMSE [95 %]", "in sample", ""])
    reasons = {
        f["reason"] for s in results.values() for m in s.values() if m != s["best"] for f in m.values() if "reason" in f
    }
    for reason in sorted(reasons):
        say(f"– or 0: {reason}")
    say(f"{len(results)} mappings written to {output}")


def _text(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "–"
    if figure["low"] is None:
        return f"{figure['value']:.4f}"
    return f"{figure['value']:.4f} [{figure['low']:.4f}, {figure['high']:.4f}]"
