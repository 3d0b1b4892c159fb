"""Additions of the demo for the paper's tables: a second round of pairs, and the base pairs on other scales."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from relstudy.common.pairs_table import read_pairs
from relstudy.common.scales import SCALES
from relstudy.common.tables import write_table
from relstudy.studyapp.demo.panel import SimulatedPanel
from relstudy.studyapp.demo.show import Stages, run_command
from relstudy.studyapp.demo.sizes import Size

INTERFACES = {"binary": 6, "1-9": 5}
"""Raters of each scale beside 1-5, as many as in the paper's table 5.1."""


def sample_again(folder: Path, size: Size, seed: int, show: Stages) -> None:
    """Draw a further round, shaped by what the mappings predict (section 5.4)."""
    arguments = [str(folder), "--from-mappings", "--queries", str(size.queries), "--results", str(size.results)]
    arguments += ["--seed", str(seed)]
    with show.stage("Choose pairs for even answers", command=" ".join(["relstudy sample", *arguments])) as stage:
        run_command("sample", *arguments, show=show)
        pairs = read_pairs(folder / "pairs.csv")
        stage.outcome = f"{int((pairs['round'] > 1).sum()):,} further pairs"


def other_interfaces(folder: Path, panel: SimulatedPanel, show: Stages) -> list[Path]:
    """Raters of the panel rate base pairs on other scales, without pages; the folders of their calibrations.

    These are the base pairs of queries by text where there are any, as in the paper, else all.
    """
    pairs = read_pairs(folder / "pairs.csv")
    base = pairs[pairs["block"] == "base"]
    by_text = base["paradigm"] == "text"
    base = base[by_text] if by_text.any() else base
    folders = [folder / "interfaces" / name for name in INTERFACES]
    command = f"relstudy calibrate {folder}/interfaces/SCALE/ratings.csv -o {folder}/interfaces/SCALE"
    with show.stage("Rate the base pairs on other scales", command=command, units=len(folders)) as stage:
        asked = raters_asked(panel)
        for target, (name, raters) in zip(folders, asked.items(), strict=True):
            file = target / "ratings.csv"
            write_table(ratings_on(panel, base, name, raters), file)
            run_command("calibrate", str(file), "-o", str(target), show=show)
            stage.advance(1)
        stage.outcome = ", ".join(f"{name}: {raters} raters" for name, raters in asked.items())
    return folders


def raters_asked(panel: SimulatedPanel) -> dict[str, int]:
    """Number of the panel's raters who answer on each scale: as many as in the paper, or all where there are fewer."""
    return {name: min(raters, len(panel.raters)) for name, raters in INTERFACES.items()}


def ratings_on(panel: SimulatedPanel, pairs: pd.DataFrame, scale: str, raters: int) -> pd.DataFrame:
    """The first raters' answers to all these pairs on a scale of SCALES."""
    rows = [
        (
            panel.raters[rater].name,
            query,
            result,
            scale,
            panel.answer(rater, query, result, SCALES[scale].values),
            "base",
        )
        for rater in range(raters)
        for query, result in zip(pairs["query_id"], pairs["result_id"], strict=True)
    ]
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "scale", "rating", "block"])
