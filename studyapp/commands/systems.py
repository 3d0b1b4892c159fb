"""relstudy systems: score a study's queries with the built-in retrieval systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, print_table, progress, say

if TYPE_CHECKING:
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.sampling.sources import BuiltInSource


@dataclass(frozen=True, kw_only=True)
class SystemsOptions(CommandOptions):
    """Options of `relstudy systems`."""

    all_queries: bool = option(False, "Score every item as a query, not only those in pairs.csv.")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False)
@click.argument("names", nargs=-1)
@taking(SystemsOptions)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def systems(folder: Path | None, names: tuple[str, ...], options: SystemsOptions, as_json: bool) -> None:
    """Score the queries of the study in FOLDER with the built-in systems NAMES; without NAMES, list them.

    Writes FOLDER/scores/NAME.csv (or .parquet from 250,000 rows), for `relstudy fit` and `relstudy score`. The pairs
    stay as they are, so a system that took no part in choosing them can be compared with those that did.

    \b
    Examples:
      relstudy systems
      relstudy systems my-study gift gift-colour gift-texture
      relstudy systems my-study vectors:embeddings.npy:dot
    """
    from relstudy.studyapp.systems import SYSTEMS

    if folder is None or not names:
        rows = [[name, what] for name, (_, what) in SYSTEMS.items()]
        rows.append(["vectors:FILE.npy", "cosine (or :dot, :l2, :hamming) of vectors, ids in FILE.ids.txt"])
        if as_json:
            print_json(dict(rows))
        else:
            print_table(rows, ["system", "scores by"])
        return
    written = score_collection(folder, names, options.all_queries)
    if as_json:
        print_json({name: str(path) for name, path in written.items()})
        return
    for path in written.values():
        say(f"Wrote {path}.")


def score_collection(folder: Path, names: Iterable[str], all_queries: bool = False) -> dict[str, Path]:
    """Score and write; the files by system."""
    import numpy as np

    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.common.tables.meaning.pairs_table import read_pairs
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.sampling.population import Eligible
    from relstudy.studyapp.sampling.saved_scores import ScoreTableWriter

    shown = Collection.load(folder)
    drawn: dict[str, list[str]] = {}
    if all_queries:
        drawn = {item.id: [] for kind in shown.paradigms() for item in shown.queries(kind)}
    else:
        pairs = read_pairs(folder / "pairs.csv", items=shown)
        drawn = {str(name): list(group) for name, group in pairs.groupby("query_id", sort=False)["result_id"]}
    written = {}
    for name in names:
        source = _fitted(name, folder, shown)
        for note in source.notes:
            say(note)
        collection = source.collection
        kept = ScoreTableWriter(collection.ids, len(drawn))
        ids = list(drawn)
        for step in progress(range(len(ids)), f"Scoring with {name}", len(ids)):
            query = collection[ids[step]]
            said = source.scored(query)
            if said is not None:
                positions = np.array([collection.position(item) for item in drawn[query.id]], dtype=np.int64)
                kept.add(query.id, {source.name: said}, Eligible.of(query, collection), positions)
        if not kept.systems:
            raise RelstudyError(f"system {name} answers none of the study's queries")
        written[source.name] = kept.write(folder, [source.name])[0]
    return written


def _fitted(name: str, folder: Path, shown: Collection) -> BuiltInSource:
    """A system as `relstudy sample` fits it, to the collection that the items shown were drawn from, where its scores
    depend on that; else to those items.

    Where the collection cannot be had they depend on the items drawn, and a line says so.
    """
    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.common.tables.meaning.study_folder import ITEMS
    from relstudy.studyapp.collection.large_collection import open_collection
    from relstudy.studyapp.sampling.sources import BuiltInSource
    from relstudy.studyapp.systems import fit, make

    unfitted = make(name, folder)
    if getattr(unfitted, "by_all_items", False) and (folder / ITEMS).is_file():
        try:
            whole = open_collection(folder)
            system = fit(name, whole, folder, progress)
        except RelstudyError as error:
            kept = unfitted.kept(shown) if hasattr(unfitted, "kept") else None
            if kept is not None:
                say(
                    f"{name} weighs by all items of the collection, by the index that relstudy sample kept; the "
                    f"collection itself is not there ({error})."
                )
                return BuiltInSource(kept.name, "", kept, shown)
            say(
                f"{name} weighs by all items of a collection, and has the {len(shown):,} that were drawn alone: its "
                f"scores are other than those of relstudy sample ({error})."
            )
        else:
            say(f"{name} weighs by all {len(whole):,} items of the collection, as relstudy sample does.")
            return BuiltInSource(system.name, "", system, whole)
    system = fit(name, shown, folder, progress)
    return BuiltInSource(system.name, "", system, shown)
