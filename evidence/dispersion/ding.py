"""Table 1 and figure 8 of Ding, Li and Li 2018."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evidence.dispersion.runs import RADIUS, Data, Sizes, balanced, claim, effort, measured
from relstudy.analysis.hashing.encoders.deep.encoders import DSH, DispersedDSH
from relstudy.common.runtime.console import print_table

TABLE_1 = {(12, "dsh"): (0.2633, 0.6012), (24, "dsh"): (0.2889, 0.6407),
           (12, "dispersed"): (0.2796, 0.3008), (24, "dispersed"): (0.3461, 0.3124)}  # fmt: skip
"""(mLGAP, mAP) as printed."""


def table_1(data: Data, sizes: Sizes, work: Path) -> None:
    rng = np.random.default_rng(0)
    official, testing = np.flatnonzero(~data.testing), np.flatnonzero(data.testing)
    training = balanced(official, data.classes, sizes.training, rng)
    queries = balanced(testing, data.classes, sizes.queries, rng)
    lengths = (12,) if sizes.shortest else (12, 24)
    folder = work / f"table1-{sizes.items}-{len(training)}-{len(queries)}-{sizes.epochs}{sizes.said()}"
    print(f"Ding, Li and Li 2018, table 1: {len(training):,} training items, which are the database too, "
          f"{len(queries):,} queries, at most {sizes.epochs} epochs, learned from {sizes.items}")  # fmt: skip
    rows, runs = [], {}
    for bits in lengths:
        for name, kind, own in (("dsh", DSH, {}), ("dsh, L1", DSH, {"norm": "l1"}), ("dispersed", DispersedDSH, {})):
            run = measured(
                kind(bits, epochs=sizes.epochs, hidden=sizes.hidden, **sizes.pace(kind), **own),
                data,
                training,
                queries,
                training,
                folder,
            )
            runs[bits, name] = run
            mlgap, average = (f"{value:.4f}" for value in TABLE_1[bits, name]) if (bits, name) in TABLE_1 else "--"
            cells = [average, f"{run['map']:.4f}", mlgap, f"{run['mlgap']:.4f}"]
            health = run["health"]
            rows.append([str(bits), name, *cells, str(health["distinct"]), f"{health['entropy']:.2f}", *effort(run)])
    header = ["bits", "objective", "mAP, paper", "mAP", "mLGAP, paper", f"mLGAP@{RADIUS}", "codes used", "entropy"]
    print_table(rows, [*header, "epochs", "minutes", "CPU minutes"])
    for bits in lengths:
        first, second = runs[bits, "dsh"], runs[bits, "dispersed"]
        claim(f"{bits} bits: L1 in place of L2 raises mAP (section 5.2)", runs[bits, "dsh, L1"]["map"] > first["map"])
        claim(f"{bits} bits: dispersing lowers mAP", second["map"] < first["map"])
        claim(f"{bits} bits: dispersing raises mLGAP", second["mlgap"] > first["mlgap"])
    claim(
        "12 bits: dispersing uses more of the 4,096 codes (figure 8)",
        runs[12, "dispersed"]["health"]["distinct"] > runs[12, "dsh"]["health"]["distinct"],
    )
    draw_figure_8({name: runs[12, name]["use"] for name in ("dsh", "dispersed")}, folder / "figure_8.png")


def draw_figure_8(uses: dict[str, list[int]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
    for axis, (name, counts) in zip(axes, uses.items(), strict=True):
        axis.fill_between(np.arange(len(counts)), counts, step="post")
        axis.set(
            title=f"{name}: {len(counts):,} of 4,096 codes",
            xlabel="codes, the fullest first",
            yscale="log",
            xlim=(0, 4096),
        )
    axes[0].set_ylabel("pictures in a code")
    figure.savefig(path, dpi=120)
