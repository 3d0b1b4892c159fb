"""Can predicted words, or keywords, stand in for people? (Shirahatti and Barnard 2005, section 5.7 and appendix A.1)

Takes a study of pictures with keywords, scores and judgments, such as a demo's folder. Each proxy takes the place of
the judgments of the judged pairs, and what it says of the systems is set beside what people say.

    relstudy demo demo --no-serve && python evidence/annotation_proxy.py demo
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, spearmanr

from relstudy.calibration.tables.judgments import read_judgments
from relstudy.mapping.scores.score_files import read_scores
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.systems import fit
from relstudy.studyapp.systems.base import silent

PROXIES = ("annotation-test", "annotation-all", "keywords")
PAIR = ["query_id", "result_id"]


def proxy_scores(name: str, collection: Collection, folder: Path, judged: pd.DataFrame) -> np.ndarray:
    """The proxy's score of each judged pair, float [pairs], NaN where it has none."""
    system = fit(name, collection, folder, silent)
    values = np.full(len(judged), np.nan)
    for query, rows in judged.groupby("query_id"):
        scores = system.score(collection[str(query)])
        if scores is not None:
            values[rows.index] = scores[[collection.position(item) for item in rows["result_id"]]]
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    collection = Collection.load(folder)
    judged = read_judgments(folder / "judgments.csv").frame.reset_index(drop=True)
    standards = {"people": judged["judgment"].to_numpy(float)}
    standards |= {name: proxy_scores(name, collection, folder, judged) for name in PROXIES}
    table: dict[str, dict[str, float]] = {}
    for path in sorted([*(folder / "scores").glob("*.csv"), *(folder / "scores").glob("*.parquet")]):
        for system, rows in read_scores(path).by_system():
            scores = judged[PAIR].merge(rows, on=PAIR, how="left")["score"].to_numpy(float)
            table[system] = {
                name: float(spearmanr(scores, values, nan_policy="omit").statistic)
                for name, values in standards.items()
                # a system that is itself the standard agrees with itself, which says nothing
                if name != system
            }
    frame = pd.DataFrame(table).T[list(standards)]
    print("Spearman correlation of each system's scores with the judgments, and with what stands in for them")
    print(frame.round(3).to_string(na_rep=""))
    for name in PROXIES:
        both = frame[["people", name]].dropna()
        agreement = spearmanr(standards["people"], standards[name], nan_policy="omit").statistic
        tau = kendalltau(both["people"], both[name]).statistic
        print(f"{name}: correlation with people {agreement:.3f}; orders {len(both)} systems with tau {tau:.2f}")


if __name__ == "__main__":
    main()
