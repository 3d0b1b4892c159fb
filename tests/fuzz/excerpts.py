"""A few rows of real files, small enough that a command ends in hundredths of a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tests.places import EXAMPLE


@dataclass(frozen=True)
class Excerpt:
    """The beginning of a real file.

    Parameters
    ----------
    name : for messages, and as the file's name
    content : its bytes
    separator : between fields; a blank where the file has no header (TREC)
    titled : whether lines of a title stand above the header
    """

    name: str
    content: bytes = field(repr=False)
    separator: str = ","
    titled: bool = False

    @property
    def has_header(self) -> bool:
        """Whether the first line names the columns."""
        return self.separator != " "


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _excerpt(name: str, frame: pd.DataFrame) -> Excerpt:
    return Excerpt(f"{name}.csv", frame.to_csv(index=False).encode())


def _panel(path: Path, raters: int, pairs: int) -> pd.DataFrame:
    frame = _read(path)
    frame = frame[frame["rater_id"].isin(frame["rater_id"].unique()[:raters])]
    # as many queries as there are, with few pairs each: some figures need more than one query
    pair = frame[["query_id", "result_id"]].drop_duplicates().reset_index(drop=True)
    some = pair[pair.groupby("query_id").cumcount() < 3].head(pairs)
    return frame.merge(some, on=["query_id", "result_id"])


def ratings_of(shared: Path) -> list[Excerpt]:
    """Ratings of people: five scales, with and without a base block, repetitions and undecided answers."""
    example = _read(EXAMPLE / "ratings.csv")
    example = example[example["rater_id"].isin(example["rater_id"].unique()[:4])]
    return [
        _excerpt("chorus", _panel(shared / "chorus_3agents" / "ratings.csv", 3, 14)),
        _excerpt("agh", _panel(shared / "agh_video_99raters" / "ratings.csv", 5, 9)),
        _excerpt("diras", _panel(shared / "diras_chatreport" / "ratings.csv", 2, 20)),
        _excerpt("mos", _panel(shared / "video_mos" / "nflx_public_ratings.csv", 5, 8)),
        _excerpt("tifa", _panel(shared / "tifa160_likert" / "ratings.csv", 5, 10)),
        _excerpt("haystack", _panel(shared / "haystack_rating_party" / "ratings.csv", 3, 14)),
        _excerpt("example", example.groupby("rater_id", sort=False).head(11)),
    ]


def _of_queries(frame: pd.DataFrame, queries: Sequence[str]) -> pd.DataFrame:
    return frame[frame["query_id"].isin(queries)]


def scored_of(shared: Path) -> list[tuple[Excerpt, Excerpt]]:
    """Judgments, and scores of the same pairs: one value per pair, ratings, TREC qrels; long, wide, a run."""
    judgments = _read(EXAMPLE / "judgments.csv")
    queries = judgments["query_id"].unique()[:3]
    gift = _of_queries(_read(EXAMPLE / "scores" / "gift.csv"), queries)
    judged = judgments["query_id"] + "|" + judgments["result_id"]
    gift = gift[(gift["query_id"] + "|" + gift["result_id"]).isin(judged)]
    tifa = _read(shared / "tifa160_likert" / "ratings.csv")
    some = tifa["query_id"].unique()[:6]
    wide = _of_queries(_read(shared / "tifa160_likert" / "system_scores_dsg_release.csv"), some)
    party = _read(shared / "haystack_rating_party" / "ratings.csv")
    party = party[party["rating"] != ""]
    two = party["query_id"].unique()[:2]
    runs = _of_queries(_read(shared / "haystack_rating_party" / "system_runs.csv"), two)
    runs = runs[runs["system"].isin(["with-vector", "vector-2"])]
    trec = shared / "trec_eval_test"
    run = [line for line in (trec / "results.test").read_text().splitlines() if line.split()[0] in ("301", "302")]
    run = [line for number, line in enumerate(run) if number % 8 == 0]
    retrieved = {(line.split()[0], line.split()[2]) for line in run}
    qrels = [line for line in (trec / "qrels.test").read_text().splitlines() if line.split()[0] in ("301", "302")]
    qrels = [line for line in qrels if (line.split()[0], line.split()[2]) in retrieved or line.endswith(" 1")]
    return [
        (_excerpt("judged", _of_queries(judgments, queries)), _excerpt("gift", gift)),
        (_excerpt("tifa", _of_queries(tifa, some)), _excerpt("wide", wide[wide.columns[:4]])),
        (_excerpt("party", _of_queries(party, two)), _excerpt("runs", runs.groupby(["system", "query_id"]).head(16))),
        (
            Excerpt("qrels.txt", ("\n".join(qrels) + "\n").encode(), " "),
            Excerpt("results.run", ("\n".join(run) + "\n").encode(), " "),
        ),
    ]
