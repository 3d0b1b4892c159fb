"""Figures 4 to 7 of Jiang, Li and Li 2019."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evidence.dispersion.runs import SHOWN, Data, Sizes, balanced, claim, effort, measured
from relstudy.analysis.hashing.encoders.deep.encoders import MDSH
from relstudy.common.runtime.console import print_table

SHIFTS = (0, 4, 8, 12)


def figures_4_to_7(data: Data, sizes: Sizes, work: Path) -> None:
    folder = work / f"mdsh-{sizes.items}-{sizes.training_mdsh}-{sizes.epochs_mdsh}{sizes.said()}"
    everything = np.arange(len(data.classes))
    print(f"\nJiang, Li and Li 2019, figures 4 to 7: {sizes.training_mdsh:,} training items, 1,000 queries, the other "
          f"{len(everything) - 1000:,} as database, at most {sizes.epochs_mdsh} epochs, {sizes.seeds} seeds, "
          f"learned from {sizes.items}")  # fmt: skip
    drawn = {}
    for bits in (48, 64):
        means, spreads = {}, {}
        for shift in SHIFTS:
            runs = []
            for seed in range(sizes.seeds):
                rng = np.random.default_rng(seed)
                queries = balanced(everything, data.classes, 1000, rng)
                database = np.setdiff1d(everything, queries)
                training = balanced(database, data.classes, sizes.training_mdsh, rng)
                encoder = MDSH(
                    bits, seed, epochs=sizes.epochs_mdsh, shift=shift, hidden=sizes.hidden, **sizes.pace(MDSH)
                )
                runs.append(measured(encoder, data, training, queries, database, folder))
            names = ("map", "ramap", "precision", "empty", "look_up_ms", "epochs", "seconds", "processor_seconds")
            means[shift] = {name: np.mean([run[name] for run in runs], axis=0) for name in names}
            spreads[shift] = {n: np.std([run[n] for run in runs], axis=0, ddof=min(1, len(runs) - 1)) for n in names}
        drawn[bits] = means
        mdsh_tables(bits, means, spreads)
    draw_figures_4_to_7(drawn, work / "figures_4_to_7.png")


def mdsh_tables(bits: int, means: dict[int, dict[str, Any]], spreads: dict[int, dict[str, Any]]) -> None:
    print(f"\n{bits} bits; m = 0 is that paper's DSH; means over the seeds, standard deviations in brackets")
    radii = [str(r) for r in SHOWN]
    efforts = [effort(run) for run in means.values()]
    for name, title, form in (
        ("ramap", "RAMAP@R (figure 4)", "{:.2e}"),
        ("empty", "queries with empty bins (figure 5)", "{:.0f}"),
        ("precision", "precision within R (figure 6)", "{:.4f}"),
    ):
        rows = [
            [
                f"m={m}",
                f"{run['map']:.4f} ({spreads[m]['map']:.4f})",
                *map(f"{form} ({form})".format, run[name], spreads[m][name]),
            ]
            for m, run in means.items()
        ]
        print_table(rows, [title, "mAP", *radii])
    rows = [[f"m={m}", *(f"{t:.3f}" for t in run["look_up_ms"])] for m, run in means.items()]
    print_table(rows, ["processor ms a query (figure 7)", "R=0", "1", "2", "3"])
    print(
        "epochs, minutes and CPU minutes: "
        + "; ".join(f"m={m}: {', '.join(e)}" for m, e in zip(means, efforts, strict=True))
    )
    maps = [run["map"] for run in means.values()]
    claim(f"{bits} bits: mAP within .05 for all m (the paper: very close)", max(maps) - min(maps) < 0.05)
    for position, radius in enumerate(SHOWN[:3]):
        values = [run["ramap"][position] for run in means.values()]
        claim(f"{bits} bits: RAMAP@{radius} falls from DSH over 4 and 8 to 12", values == sorted(values, reverse=True))
        empty = [run["empty"][position] for run in means.values()]
        claim(f"{bits} bits: empty bins at R = {radius} rise from DSH over 4 and 8 to 12", empty == sorted(empty))


def draw_figures_4_to_7(drawn: dict[int, dict[int, dict[str, Any]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels: list[tuple[str, str, Callable[[dict[str, Any]], Any]]] = [
        ("RAMAP@R", "figure 4", lambda run: run["ramap"]),
        ("queries with empty bins", "figure 5", lambda run: run["empty"]),
        ("precision within R", "figure 6", lambda run: run["precision"]),
        ("processor ms a query", "figure 7", lambda run: run["look_up_ms"]),
    ]
    figure, axes = plt.subplots(len(drawn), 4, figsize=(14, 6), layout="constrained")
    for line, (bits, means) in zip(axes, drawn.items(), strict=True):
        for axis, (title, number, values) in zip(line, panels, strict=True):
            for shift, run in means.items():
                label = ("DSH" if shift == 0 else f"{shift}-DSH") + f", mAP {run['map']:.3f}"
                shown = values(run)
                axis.plot(SHOWN if len(shown) == len(SHOWN) else range(len(shown)), shown, marker="o", label=label)
            axis.set(xlabel="R")
            axis.set_title(f"{number}, {bits} bits: {title}", fontsize=9)
            if number in ("figure 4", "figure 7"):
                axis.set_yscale("log")
        line[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)
