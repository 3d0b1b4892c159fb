"""What other libraries give for some inputs; run by evidence/beside_peers.py in an environment that holds them.

    python theirs.py INPUTS OUTPUT

INPUTS is a folder with qrels and runs (NAME.qrels, NAME.SYSTEM.run; NAME.plain where the qrels have another form),
ratings (NAME.ratings.csv) and judged pairs with scores (pairs.scored.csv); OUTPUT a JSON file: by library, then input,
then figure. A library that is not there is left out.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd


def by_query(file: Path, value: int) -> dict[str, dict[str, float]]:
    """Qrels (value 3) or a run (value 4) as nested dicts, comments left out."""
    found: dict[str, dict[str, float]] = {}
    for line in file.read_text().splitlines():
        fields = line.split()
        if fields and not line.startswith("#"):
            number = float(fields[value]) if value == 4 else int(fields[value])
            found.setdefault(fields[0], {})[fields[2]] = number
    return found


def ir_measures_gives(qrels: Path, runs: dict[str, Path], measures: list[str]) -> dict[str, float]:
    import ir_measures

    judged = by_query(qrels, 3)
    parsed = [ir_measures.parse_measure(name) for name in measures]
    found = {}
    for system, file in runs.items():
        values = ir_measures.calc_aggregate(parsed, judged, by_query(file, 4))
        found |= {f"{system} {measure}": float(values[measure]) for measure in parsed}
    return found


def pytrec_eval_gives(qrels: Path, runs: dict[str, Path], measures: list[str]) -> dict[str, float]:
    import pytrec_eval

    names = {
        "nDCG@10": "ndcg_cut_10", "AP": "map", "P@10": "P_10", "RR": "recip_rank", "R@100": "recall_100",
        "Rprec": "Rprec", "Bpref": "bpref", "infAP": "infAP",
    }  # fmt: skip
    judged = by_query(qrels, 3)
    asked = {theirs.rsplit("_", 1)[0] + "." + theirs.rsplit("_", 1)[1] if theirs[-1].isdigit() else theirs
             for theirs in names.values()}  # fmt: skip
    found = {}
    for system, file in runs.items():
        values = pytrec_eval.RelevanceEvaluator(judged, asked).evaluate(by_query(file, 4))
        for ours, theirs in names.items():
            found[f"{system} {ours}"] = float(np.sum([each[theirs] for each in values.values()]) / len(judged))
    return found


def ranx_gives(qrels: Path, runs: dict[str, Path], measures: list[str]) -> dict[str, float]:
    from ranx import Qrels, Run, evaluate

    names = {"nDCG@10": "ndcg@10", "AP": "map", "P@10": "precision@10", "RR": "mrr", "R@100": "recall@100"}
    names |= {"Rprec": "r-precision", "RBP(rel=1)": "rbp.80"}
    judged = {query: {d: max(grade, 0) for d, grade in each.items()} for query, each in by_query(qrels, 3).items()}
    found = {}
    for system, file in runs.items():
        run = by_query(file, 4)
        run = {query: run.get(query, {"none": 0.0}) for query in judged}
        values = evaluate(Qrels(judged), Run(run, name=system), list(names.values()))
        found |= {f"{system} {ours}": float(values[theirs]) for ours, theirs in names.items()}
    return found


MEASURING = {"ir_measures": ir_measures_gives, "pytrec_eval": pytrec_eval_gives, "ranx": ranx_gives}


def scipy_gives(tables: dict[str, list[float]]) -> dict[str, float]:
    from scipy import stats

    found = {}
    names = list(tables)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            test = stats.ttest_rel(tables[first], tables[second])
            ends = test.confidence_interval()
            found[f"{first} {second} AP p"] = float(test.pvalue)
            found[f"{first} {second} AP low"], found[f"{first} {second} AP high"] = float(ends.low), float(ends.high)
            differences = np.subtract(tables[first], tables[second])
            if len(differences) <= 12:
                whole = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
                found[f"{first} {second} AP signs"] = float(whole.pvalue)
    return found


def scipy_correlations(file: Path) -> dict[str, float]:
    from scipy import stats

    frame = pd.read_csv(file)
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return {
        f"{name} {figure}": float(test(frame[name], frame["judgment"]).statistic)
        for name in ("score", "tied")
        for figure, test in tests.items()
    }


def ranx_tests(tables: dict[str, list[float]]) -> dict[str, float]:
    from ranx.statistical_tests import compute_statistical_significance

    values = {name: {"map": np.array(each)} for name, each in tables.items()}
    found = {}
    for figure, test in (("p", "student"), ("signs", "fisher"), ("tukey", "tukey")):
        given = compute_statistical_significance(list(values), values, stat_test=test, random_seed=42)
        names = list(tables)
        for place, first in enumerate(names):
            for second in names[place + 1 :]:
                p = given[frozenset([first, second])]["map"]["p_value"]
                found[f"{first} {second} AP {figure}"] = float(p)
    return found


def pingouin_gives(tables: dict[str, list[float]], margin: float) -> dict[str, float]:
    import pingouin

    names = list(tables)
    couples = [(first, second) for place, first in enumerate(names) for second in names[place + 1 :]]
    p = [float(pingouin.ttest(tables[a], tables[b], paired=True).iloc[0][_p_column(pingouin)]) for a, b in couples]
    corrected = pingouin.multicomp(p, method="holm")[1]
    return {f"{a} {b} AP holm": float(each) for (a, b), each in zip(couples, corrected, strict=True)} | {
        f"{first} {second} AP equal": float(
            pingouin.tost(np.array(tables[first]), np.array(tables[second]), bound=margin, paired=True)["pval"].iloc[0]
        )
        for place, first in enumerate(names)
        for second in names[place + 1 :]
    }


def _p_column(pingouin) -> str:  # type: ignore[no-untyped-def]
    """Its name before and since version 0.6."""
    names = pingouin.ttest([1.0, 2.0, 4.0], [2.0, 2.0, 3.0], paired=True).columns
    return next(name for name in names if name.replace("-", "_") in ("p_val", "p_value"))


def matrix(file: Path) -> pd.DataFrame:
    """Ratings as pairs by raters."""
    frame = pd.read_csv(file, dtype={"rater_id": str, "pair_id": str})
    return frame.pivot(index="pair_id", columns="rater_id", values="rating")


def krippendorff_gives(file: Path) -> dict[str, float]:
    import krippendorff

    table = matrix(file).T.to_numpy()
    levels = ("nominal", "ordinal", "interval")
    return {f"alpha, {level}": float(krippendorff.alpha(table, level_of_measurement=level)) for level in levels}


def pingouin_iccs(file: Path) -> dict[str, float]:
    import pingouin

    table = matrix(file)
    if table.isna().any(axis=None):
        return {}
    long = table.reset_index().melt(id_vars="pair_id", value_name="rating")
    found = pingouin.intraclass_corr(long, targets="pair_id", raters="rater_id", ratings="rating")
    names = dict(zip(("icc1", "icc2", "iccc1", "icc1k", "icc2k", "iccck"), found["ICC"], strict=True))
    return {name: float(value) for name, value in names.items()}


def sureal_gives(file: Path) -> dict[str, float]:
    from sureal.dataset_reader import MissingDataRawDatasetReader
    from sureal.subjective_model import BiasremvMosModel, SubjectMLEModelProjectionSolver2, SubjrejMosModel

    class Set:
        pass

    table = matrix(file)
    data = Set()
    data.ref_videos = [{"content_id": 0, "content_name": "all", "path": ""}]
    data.dis_videos = [
        {"content_id": 0, "asset_id": number, "os": [float(v) for v in row], "path": ""}
        for number, row in enumerate(table.to_numpy())
    ]
    data.dataset_name, data.yuv_fmt, data.width, data.height, data.ref_score = "made", "yuv420p", 1, 1, 5
    reader = MissingDataRawDatasetReader(data, input_dict={"missing_probability": 0})
    found = {}
    for name, model in (("p910", SubjectMLEModelProjectionSolver2), ("p913", BiasremvMosModel)):
        result = model(reader).run_modeling()
        found |= {f"{name} {pair}": float(v) for pair, v in zip(table.index, result["quality_scores"], strict=True)}
        found |= {f"{name} bias {r}": float(v) for r, v in zip(table.columns, result["observer_bias"], strict=True)}
    rejected = SubjrejMosModel(reader).run_modeling()["observer_rejected"]
    return found | {f"BT.500 {rater}": float(v) for rater, v in zip(table.columns, rejected, strict=True)}


def crowd_kit_gives(file: Path) -> dict[str, float]:
    """The probability of each pair's likeliest class, by EM that goes on until nothing moves.

    No tolerance, which is what -1 says: what crowd-kit compares is the likelihood to expect under the classes of the
    round before; that may fall while the likelihood rises, and a fall ends it (GLAD after two rounds).
    MACE takes raters and classes for one another where they don't come in the order of their names, so they are made
    to.
    """
    from crowdkit.aggregation import GLAD, MACE, DawidSkene

    frame = pd.read_csv(file, dtype={"rater_id": str, "pair_id": str}).sort_values("rating", kind="stable")
    votes = pd.DataFrame({"task": frame["pair_id"], "worker": pd.factorize(frame["rater_id"])[0]})
    votes["label"] = frame["rating"].to_numpy()
    models = {"dawid-skene": DawidSkene(n_iter=600, tol=-1.0)}
    if votes["label"].nunique() == 2:  # of grades the searches take many minutes
        models["glad"] = GLAD(n_iter=40, tol=-1.0, m_step_max_iter=25, m_step_tol=1e-6)
        models["mace"] = MACE(n_restarts=1, n_iter=1500)
    found = {}
    for name, model in models.items():
        chances = model.fit_predict_proba(votes).max(axis=1)
        found |= {f"{name} {pair}": float(value) for pair, value in chances.items()}
    return found


RATING = (
    ("krippendorff", krippendorff_gives),
    ("pingouin", pingouin_iccs),
    ("sureal", sureal_gives),
    ("crowd-kit", crowd_kit_gives),
)
"""Coefficients and rater models, each of a file of ratings."""


def timed(name: str, qrels: Path, runs: list[Path], measures: list[str]) -> float:
    """Seconds of a processor for reading runs and taking measures by query."""
    start = time.process_time()
    if name == "ir_measures":
        import ir_measures

        parsed = [ir_measures.parse_measure(each) for each in measures]
        judged = list(ir_measures.read_trec_qrels(str(qrels)))
        for file in runs:
            list(ir_measures.iter_calc(parsed, judged, ir_measures.read_trec_run(str(file))))
    else:
        from ranx import Qrels, Run, evaluate

        names = {"nDCG@10": "ndcg@10", "AP": "map", "P@10": "precision@10", "RR": "mrr", "R@100": "recall@100"}
        names |= {"nDCG@5": "ndcg@5", "P@5": "precision@5", "R@10": "recall@10", "Rprec": "r-precision", "nDCG": "ndcg"}
        judged = Qrels.from_file(str(qrels), kind="trec")
        for file in runs:
            run = Run.from_file(str(file), kind="trec")
            evaluate(judged, run, [names[each] for each in measures], return_mean=False, make_comparable=True)
    return time.process_time() - start


def main() -> None:
    folder, output = map(Path, sys.argv[1:3])
    asked = json.loads((folder / "asked.json").read_text())
    found: dict[str, dict[str, dict[str, float]]] = {}
    failed: dict[str, str] = {}

    def add(library: str, name: str, make) -> None:  # type: ignore[no-untyped-def]
        print(f"{library}, {name}", file=sys.stderr, flush=True)
        try:
            found.setdefault(library, {})[name] = make()
        except Exception as error:
            failed[f"{library}, {name}"] = f"{type(error).__name__}: {error}"[:200]

    for file in sorted(folder.glob("*.qrels")):
        plain = file.with_suffix(".plain")
        qrels = plain if plain.exists() else file
        runs = {file.name.split(".")[1]: file for file in sorted(folder.glob(f"{qrels.stem}.*.run"))}
        for library, give in (
            ("ir_measures", ir_measures_gives),
            ("pytrec_eval", pytrec_eval_gives),
            ("ranx", ranx_gives),
        ):
            add(library, qrels.stem, lambda give=give, qrels=qrels, runs=runs: give(qrels, runs, asked["measures"]))
    for name, tables in asked["by_query"].items():
        add("scipy", name, lambda tables=tables: scipy_gives(tables))
        add("pingouin", name, lambda tables=tables: pingouin_gives(tables, asked["margin"]))
        add("ranx, tests", name, lambda tables=tables: ranx_tests(tables))
    add("scipy", "pairs", lambda: scipy_correlations(folder / "pairs.scored.csv"))
    for file in sorted(folder.glob("*.ratings.csv")):
        name = file.name.removesuffix(".ratings.csv")
        for library, give in RATING:
            add(library, name, lambda give=give, file=file: give(file))
    seconds = {}
    if asked.get("speed"):
        runs = sorted((folder / "speed").glob("*.run"))
        for library in ("ir_measures", "ranx"):
            try:
                timed(library, folder / "speed" / "speed.qrels", runs[:1], asked["speed"])  # imports and compiles
                seconds[library] = timed(library, folder / "speed" / "speed.qrels", runs, asked["speed"])
            except Exception as error:
                failed[f"{library}, speed"] = f"{type(error).__name__}: {error}"[:200]
    packages = (
        "ir-measures",
        "pytrec-eval-terrier",
        "ranx",
        "scipy",
        "pingouin",
        "krippendorff",
        "sureal",
        "crowd-kit",
    )
    versions = {}
    for each in packages:
        try:
            versions[each] = metadata.version(each)
        except metadata.PackageNotFoundError:
            continue
    output.write_text(json.dumps({"found": found, "failed": failed, "versions": versions, "seconds": seconds}))


if __name__ == "__main__":
    main()
