"""Measures, tests, coefficients and rater models that other libraries have too: ours, theirs, the difference, and why.

    python evidence/beside_peers.py                           makes an environment in a temporary folder, minutes
    python evidence/beside_peers.py --environment FOLDER      keeps it there for the next time
    python evidence/beside_peers.py --speed                   also reading and ten measures by query of 20 runs

The peers are installed from the package index, one by one; one that cannot be is named and left out. ranx compiles its
functions by numba when a process first calls them, which takes three quarters of a minute of a processor: they are kept
in that environment for the next process, and no speed below holds it.

Rater models: what a model gives of a file of ratings is yielded by `of_ratings` here and by one of `RATING` in
peers/theirs.py, under the same words.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import relstudy as rs
from relstudy.analysis.indices.measures import Evaluation, parsed_measure
from relstudy.calibration.methods.by_category import ByCategory
from relstudy.calibration.methods.by_name import fit_lines, fit_method
from relstudy.calibration.methods.itu import screened
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_noise import rater_noise
from relstudy.calibration.reliability.agreement import krippendorff_alpha
from relstudy.calibration.reliability.intraclass import intraclass

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("ir-measures", "pytrec-eval-terrier", "ranx", "scipy", "pingouin", "krippendorff", "crowd-kit", "cwl-eval")
BARE = ("sureal",)
"""Installed without what they ask for, which has no wheel everywhere."""
MEASURES = (
    "nDCG@10",
    "AP",
    "P@10",
    "RR",
    "R@100",
    "Rprec",
    "Bpref",
    "infAP",
    "ERR@10",
    "RBP(rel=1)",
    "Judged@10",
    "SetF",
)
SPEED = ("nDCG@10", "nDCG@5", "nDCG", "AP", "P@10", "P@5", "RR", "R@100", "R@10", "Rprec")
RATINGS = {
    "video": "video_mos/nflx_public_ratings.csv",
    "vqeg": "video_mos/vqeghd3_ratings.csv",
    "images": "tifa160_likert/ratings.csv",
    "agh": "agh_video_99raters/ratings.csv",
}
"""Ratings of people, in the folder of public data."""
MARGIN = 0.05
SAME = 1e-9
REASONS = (
    ("ranx", "RBP", "ranx adds grades up, so that a 2 counts twice; where scores tie, their order comes on top"),
    (
        "ranx, tests",
        "AP tukey",
        "ranx takes systems' queries for independent groups; here they are pairs (randomised Tukey)",
    ),
    ("ranx, tests", "AP signs", "1,000 random signs against all of them"),
    ("ranx", "", "ranx breaks ties of score in the order of the file, trec_eval by result descending"),
    ("ir_measures", "RBP", "ties of score in the order of the file; here as trec_eval sorts them"),
    (
        "sureal",
        "BT.500",
        "sureal counts ratings of a pair that are all equal as far out on both sides, which rejects nearly every "
        "rater, and none where it would be every one",
    ),
    ("sureal", "p910", "the projection ends where qualities move by less than 1e-8"),
    ("crowd-kit", "glad", "the search here ends where a step raises the posterior by less than 1e-13 of itself"),
    (
        "crowd-kit",
        "dawid-skene",
        "the steps here end where none moves a class by 1e-9; 1e-10 is the least rate here and the least count there",
    ),
    ("crowd-kit", "mace", "the steps here end where none moves a class by 1e-9; crowd-kit's go on"),
)
"""Why a figure of a library may differ."""


def environment(folder: Path) -> Path:
    """The Python of an environment that holds the peers; made where it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        for name in (*PEERS, *BARE):
            words = [python, "-m", "pip", "install", "-q", *(["--no-deps"] if name in BARE else []), name]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode:
                print(f"{name} cannot be installed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return python


def write_inputs(folder: Path, data: Path) -> dict[str, dict[str, list[float]]]:
    """Files of qrels, runs and ratings; and AP by query of each run, by the name of the qrels."""
    for name, qrels, run in (("trec", "qrels.test", "results.test"), ("trec302", "qrels-302.test", "results-302.test")):
        (folder / f"{name}.qrels").write_bytes((data / "trec_eval_test" / qrels).read_bytes())
        (folder / f"{name}.one.run").write_bytes((data / "trec_eval_test" / run).read_bytes())
    random = np.random.default_rng(34)
    for name, ties in (("made", False), ("ties", True)):
        queries, results = [str(100 + q) for q in range(11)], [f"d{d:03}" for d in range(150)]
        lines = ["# query, 0, result, grade; below 0 nobody judged"]
        for query in queries:
            for result in random.permutation(results)[:80]:
                lines.append(f"{query} 0 {result} {random.choice([-1, 0, 0, 0, 1, 2])}")
        (folder / f"{name}.qrels").write_text("\n".join(lines) + "\n")
        for system in ("first", "second", "third"):
            rows = ["# made"]
            for query in queries[: 11 if system != "second" else 10]:
                scores = random.integers(0, 12, 150) if ties else random.permutation(150) / 7
                rows += [
                    f"{query} Q0 {d} {k} {score} {system}"
                    for k, (d, score) in enumerate(zip(results, scores, strict=True), 1)
                ]
            (folder / f"{name}.{system}.run").write_text("\n".join(rows) + "\n")
    _other_forms(folder)
    for name, file in RATINGS.items():
        frame = pd.read_csv(data / file, dtype=str)
        frame["pair_id"] = frame["query_id"] + "|" + frame["result_id"]
        frame = frame.assign(rating=frame["rating"].astype(float)).drop_duplicates(["rater_id", "pair_id"])
        frame[["rater_id", "pair_id", "rating"]].to_csv(folder / f"{name}.ratings.csv", index=False)
        if name == "vqeg":
            good = frame.assign(rating=(frame["rating"] > 3) * 1)
            good[["rater_id", "pair_id", "rating"]].to_csv(folder / "good.ratings.csv", index=False)
    pairs = 400
    truth = random.normal(size=pairs)
    ids = {"query_id": [f"q{k // 8}" for k in range(pairs)], "result_id": [f"d{k}" for k in range(pairs)]}
    judged = pd.DataFrame(
        ids | {"judgment": np.clip(np.round(3 + truth), 1, 5), "score": truth + random.normal(size=pairs)}
    )
    judged.assign(tied=judged["score"].round()).to_csv(folder / "pairs.scored.csv", index=False)
    return {"made": by_query(folder, "made", "AP")}


def _other_forms(folder: Path) -> None:
    """The made qrels as prels and with five columns, every pair certain, which here are read as they are; the other
    side is given the plain ones."""
    rows = [line.split() for line in (folder / "made.qrels").read_text().splitlines() if not line.startswith("#")]
    plain = "".join(f"{q} 0 {d} {grade}\n" for q, _, d, grade in rows if int(grade) >= 0)
    forms = {"prels": "{q} {d} {grade} 1 1.0\n", "five": "{q} 0 {d} {grade} 1.0\n"}
    for name, form in forms.items():
        (folder / f"{name}.plain").write_text(plain)
        lines = (form.format(q=q, d=d, grade=grade) for q, _, d, grade in rows if int(grade) >= 0)
        (folder / f"{name}.qrels").write_text("".join(lines))
        for run in sorted(folder.glob("made.*.run")):
            (folder / run.name.replace("made", name, 1)).write_bytes(run.read_bytes())


def score(folder: Path, name: str, measures: tuple[str, ...]) -> rs.api.scores.Scores:
    runs = {file.name.split(".")[1]: file for file in sorted(folder.glob(f"{name}.*.run"))}
    chosen = {"measures": measures, "method": "none", "replicates": 20, "matters": MARGIN, "allow_low_coverage": True}
    return rs.score(runs, folder / f"{name}.qrels", **chosen)


def by_query(folder: Path, name: str, measure: str) -> dict[str, list[float]]:
    table = score(folder, name, (measure,)).per_query
    return {str(system): rows[measure].tolist() for system, rows in table.groupby("system", sort=False)}


def ours(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Input, figure and value, as the other side names them."""
    for qrels in sorted(folder.glob("*.qrels")):
        result = score(folder, qrels.stem, MEASURES)
        for system, row in result.table.set_index("system").iterrows():
            for measure in MEASURES:
                name = str(parsed_measure(measure))
                yield qrels.stem, f"{_short(folder, qrels.stem, str(system))} {name}", float(row[name])
        if qrels.stem == "made":
            tests = result.tests()
            for row in tests[tests["measure"] == "AP"].to_dict("records"):
                couple = f"{row['first']} {row['second']} AP"
                names = {"p": "p_t", "low": "difference_low", "high": "difference_high", "signs": "p_randomisation"}
                for name, column in (names | {"equal": "p_equivalent", "holm": "p_corrected"}).items():
                    yield "made", f"{couple} {name}", float(row[column])
            tukey = result.tests(correction="tukey")
            for row in tukey[tukey["measure"] == "AP"].to_dict("records"):
                yield "made", f"{row['first']} {row['second']} AP tukey", float(row["p_corrected"])
    yield from of_scores(folder / "pairs.scored.csv")
    for file in sorted(folder.glob("*.ratings.csv")):
        name = file.name.removesuffix(".ratings.csv")
        for figure, value in of_ratings(file):
            yield name, figure, value


def of_scores(file: Path) -> Iterator[tuple[str, str, float]]:
    """Correlations of scores, with and without ties, with judgments, all pairs alike."""
    frame = pd.read_csv(file)
    for name in ("score", "tied"):
        scores = frame[["query_id", "result_id", name]]
        judged = frame[["query_id", "result_id", "judgment"]]
        chosen = {"correlation": "judged", "weights": "equal", "method": "none", "replicates": 20, "scale": "1-5"}
        row = rs.score(scores, judged, measures=(), **chosen).table.iloc[0]
        for figure in ("pearson", "spearman", "kendall"):
            yield "pairs", f"{name} {figure}", float(row[f"raw_{figure}"])


def of_ratings(file: Path) -> Iterator[tuple[str, float]]:
    """Coefficients and rater models of a file of ratings."""
    frame = pd.read_csv(file, dtype={"rater_id": str, "pair_id": str}).sort_values(["pair_id", "rater_id"])
    panel = Panel.from_frame(frame)
    for level in ("nominal", "ordinal", "interval"):
        yield f"alpha, {level}", _value(krippendorff_alpha(panel, level).value)
    for kind, estimate in intraclass(panel).by_name().items():
        yield kind, _value(estimate.value)
    for method in ("p910", "p913"):
        lines = fit_lines(panel, method)
        calibrated = panel.with_rating(lines.calibrated(panel))
        weight = rater_noise(calibrated, lines, weighted=method == "p910").weight[calibrated.rater]
        quality = calibrated.by_pair(weight * calibrated.rating) / calibrated.by_pair(weight)
        for pair, value in zip(panel.pairs["pair_id"], quality, strict=True):
            yield f"{method} {pair}", float(value)
        for rater, offset in zip(panel.raters, lines.offset, strict=True):
            yield f"{method} bias {rater}", -float(offset)
    for rater, found in zip(panel.raters, screened(panel), strict=True):
        yield f"BT.500 {rater}", float(found)
    for method in ("dawid-skene", "glad", "mace"):
        fitted = fit_method(panel, method)
        assert isinstance(fitted, ByCategory)
        for pair, chance in zip(panel.pairs["pair_id"], fitted.of_pairs["consensus_probability"], strict=True):
            yield f"{method} {pair}", float(chance)


def _short(folder: Path, name: str, system: str) -> str:
    return "one" if (folder / f"{name}.one.run").exists() else system


def _value(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def family(figure: str) -> str:
    """What a figure is of, without its system, pair or rater.

    Examples
    --------
    >>> family("first nDCG@10"), family("first second AP p"), family("p910 bias r01"), family("p910 3|4")
    ('nDCG@10', 'AP p', 'p910 bias', 'p910 quality')
    """
    words = figure.split()
    if words[0] in ("p910", "p913"):
        return f"{words[0]} {'bias' if words[1] == 'bias' else 'quality'}"
    if words[0] in ("dawid-skene", "glad", "mace"):
        return words[0]
    if words[0] in ("BT.500", "alpha,") or len(words) == 1:
        return "BT.500" if words[0] == "BT.500" else figure
    return " ".join(words[-2:]) if len(words) > 3 else words[-1]


def write_speed(folder: Path) -> None:
    """Qrels of 50 queries and 20 runs of a thousand results each."""
    folder.mkdir()
    random = np.random.default_rng(1)
    queries = [str(q) for q in range(1, 51)]
    lines = [f"{q} 0 d{d} {random.integers(0, 3)}" for q in queries for d in random.choice(5000, 300, replace=False)]
    (folder / "speed.qrels").write_text("\n".join(lines) + "\n")
    for run in range(20):
        rows = []
        for query in queries:
            scores = np.sort(random.random(1000))[::-1]
            found = random.choice(5000, 1000, replace=False)
            rows += [
                f"{query} Q0 d{d} {k} {v:.6f} s{run}" for k, (d, v) in enumerate(zip(found, scores, strict=True), 1)
            ]
        (folder / f"{run:02}.run").write_text("\n".join(rows) + "\n")


def our_seconds(folder: Path) -> float:
    """Seconds of a processor for the same reading and measures by query."""
    from relstudy.calibration.tables.judgments import read_judgments
    from relstudy.mapping.scores.score_files import read_scores

    def once(files: list[Path]) -> None:
        frame = read_judgments(folder / "speed.qrels").frame
        qrels = pd.DataFrame({"query_id": frame["query_id"].astype(str), "doc_id": frame["result_id"].astype(str)})
        qrels["relevance"] = frame["judgment"].astype(int)
        evaluation, queries = Evaluation(SPEED, qrels), qrels["query_id"].unique()
        for file in files:
            evaluation.of_run(queries, evaluation.run(read_scores(file).frame, higher=True))

    files = sorted(folder.glob("*.run"))
    once(files[:1])
    start = time.process_time()
    once(files)
    return time.process_time() - start


def rows(mine: dict[tuple[str, str], float], theirs: dict[str, dict[str, dict[str, float]]]) -> Iterator[list[str]]:
    """A row a library, input and kind of figure: how many, one of them by both, the largest difference, and why."""
    for library, inputs in theirs.items():
        for name, figures in inputs.items():
            kinds: dict[str, list[tuple[float, float, float]]] = {}
            for figure, value in figures.items():
                own = mine.get((name, figure))
                if own is not None and np.isfinite([own, value]).all():
                    kinds.setdefault(family(figure), []).append((abs(own - value), own, value))
            for kind, each in kinds.items():
                worst = max(each)
                shown = [f"{worst[1]:.6f}", f"{worst[2]:.6f}", f"{worst[0]:.1e}"]
                yield [library, name, kind, str(len(each)), *shown, _reason(library, kind) if worst[0] >= SAME else ""]


def _reason(library: str, kind: str) -> str:
    known = (why for whose, what, why in REASONS if whose == library and kind.startswith(what))
    return next(known, "not explained")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", type=Path, help="folder of the peers' environment")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--speed", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "inputs"
        folder.mkdir()
        python = environment(chosen.environment or Path(place) / "peers")
        asked = {"measures": MEASURES, "by_query": write_inputs(folder, chosen.data), "margin": MARGIN}
        if chosen.speed:
            write_speed(folder / "speed")
        (folder / "asked.json").write_text(json.dumps(asked | ({"speed": SPEED} if chosen.speed else {})))
        output = Path(place) / "theirs.json"
        script = Path(__file__).parent / "peers" / "theirs.py"
        kept = {"NUMBA_CACHE_DIR": str(python.parent.parent / "numba"), "NUMBA_NUM_THREADS": "1"}
        subprocess.run(
            [python, script, folder, output], check=True, stdout=subprocess.DEVNULL, env={**os.environ, **kept}
        )
        theirs = json.loads(output.read_text())
        mine = {(name, figure): value for name, figure, value in ours(folder)}
        print("Versions: " + ", ".join(f"{name} {number}" for name, number in theirs["versions"].items()) + ".\n")
        print("| library | input | figure | how many | ours | theirs | largest difference | why |")
        print("|---|---|---|---|---|---|---|---|")
        for row in rows(mine, theirs["found"]):
            print("| " + " | ".join(row) + " |")
        for what, why in theirs["failed"].items():
            print(f"\nNot computed by the other side: {what}: {why}")
        if chosen.speed:
            seconds = {"relstudy": our_seconds(folder / "speed"), **theirs["seconds"]}
            print("\nReading 20 runs of 50,000 lines and ten measures by query, seconds of a processor: "
                  + ", ".join(f"{name} {each:.1f}" for name, each in seconds.items())
                  + f"; relstudy's is {seconds['relstudy'] / seconds['ranx']:.2f} of ranx'.")  # fmt: skip


if __name__ == "__main__":
    main()
