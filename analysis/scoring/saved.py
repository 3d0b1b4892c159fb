"""A comparison kept in one file, so that a new system is placed among the old ones without their score files.

What is kept are the judged pairs, every system's scores for them (raw and mapped) and the options. From these the same
code computes the same numbers again, with the new system in the same bootstrap draws.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.measures import QueryValues
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.scoring.candidate import Candidate, candidate_from
from relstudy.analysis.scoring.design_limits import DesignLimits
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.known_directions import DirectionSource, SystemDirection
from relstudy.analysis.scoring.mapping_used import MappedScores, MappingUsed
from relstudy.analysis.scoring.options import ScoringOptions, options_over
from relstudy.analysis.scoring.relevance import RelevanceRule, relevance_of
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.trec import gains
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.pair_ratings import PairRatings
from relstudy.calibration.tables.study_tables import Pool, StudyTables
from relstudy.common.results.serialization import COMPARISON, checksum
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, write_json
from relstudy.common.runtime.wording import share_of_draws
from relstudy.common.tables.formats.study_archive import in_archive
from relstudy.common.tables.formats.table_files import pair_keys
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.scales import KnownScale

VERSION = 3
SHARES = ["relevant_share", "relevance_cut"]
AGAIN = "`relstudy score --save` writes one"
READ = (2, VERSION)
"""Versions that are read; the second knew neither shares nor their rule: it cut judgments."""


@dataclass(frozen=True, eq=False)
class SavedComparison:
    """Judgments with the pool that they were drawn from where there was one, the systems already scored against them,
    and the options they were scored with."""

    judgments: Judgments
    candidates: list[Candidate]
    options: ScoringOptions
    file: str
    pool: Pool | None = None

    @property
    def pairs(self) -> JudgedPairs:
        return JudgedPairs.of(self.judgments, self.pool)

    @property
    def study(self) -> StudyTables:
        """The judgments and the pool, without the files that they came from."""
        return StudyTables(self.judgments, pool=self.pool)

    def options_with(self, given: Mapping[str, Any]) -> ScoringOptions:
        """Its options with those given, which may not contradict them."""
        free = ("measures", "primary", "matters", "directions", "low_coverage", "method", "folds", "pool_depth")
        differing = [name for name, value in given.items() if name not in free and value != getattr(self.options, name)]
        if differing:
            made_with = ", ".join(f"{name} {getattr(self.options, name)}" for name in differing)
            raise RelstudyError(
                f"the saved comparison was made with {made_with}; "
                "to compare, the same is needed (leave the option out), or score all systems again"
            )
        return options_over(self.options, given)

    def maps_as(self, options: ScoringOptions) -> bool:
        """True where `options` would map its systems alike."""
        names = ("method", "folds", "seed", "policy")
        return all(getattr(self.options, name) == getattr(options, name) for name in names)

    def is_of(self, judgments: Judgments) -> bool:
        """True where it was made with these judgments, in any order."""
        return self.pairs.fingerprint == JudgedPairs.of(judgments).fingerprint

    def complete(self, judgments: Judgments) -> Judgments:
        """Its own judgments as they were read again, in its order, in which its systems' scores stand.

        They have what it holds besides: shares, their cut, ratings, who proposed pairs.

        Raises
        ------
        RelstudyError
            where the judgments are others
        """
        if "query_weight" in self.judgments.frame and "query_weight" not in judgments.frame:
            counted = self.judgments.frame.drop_duplicates("query_id").set_index("query_id")["query_weight"]
            of_pairs = judgments.frame["query_id"].astype("str").map(counted)
            judgments = replace(judgments, frame=judgments.frame.assign(query_weight=of_pairs))
        given = JudgedPairs.of(judgments)
        if given.fingerprint != self.pairs.fingerprint:
            raise RelstudyError(
                f"{self.file}: the comparison was made with other judgments ({len(self.pairs)} pairs, "
                f"{self.pairs.fingerprint}) than those given ({len(given)} pairs, {given.fingerprint})"
            )
        keys = pair_keys(judgments.frame.astype(dict.fromkeys(PAIR, "str")))
        order = keys.get_indexer(pair_keys(self.judgments.frame))
        judgments = replace(judgments, frame=judgments.frame.iloc[order].reset_index(drop=True))
        ratings = self.judgments.ratings if judgments.ratings is None else judgments.ratings
        judgments = replace(judgments, proposers=self.judgments.proposers, ratings=ratings)
        saved_shares = self.judgments.frame.set_index(PAIR)[SHARES]
        shares = saved_shares.reindex(pd.MultiIndex.from_frame(judgments.frame[PAIR].astype("str")))
        if shares["relevant_share"].isna().any():
            return judgments
        return replace(judgments, frame=judgments.frame.assign(**{name: shares[name].to_numpy() for name in SHARES}))

    def beside(self, new: Sequence[Candidate]) -> list[Candidate]:
        """Its systems and then the new ones, whose names must be others."""
        names = {candidate.name for candidate in self.candidates}
        twice = [candidate.name for candidate in new if candidate.name in names]
        if twice:
            raise RelstudyError(
                f"{self.file}: the comparison already holds a system named {twice[0]!r}; rename the new one"
            )
        return [*self.candidates, *new]


def save_comparison(
    pairs: JudgedPairs, candidates: list[Candidate], options: ScoringOptions, path: str | os.PathLike[str]
) -> None:
    """Write what a later `--against` needs, with a checksum that tells whether it was changed since."""
    content = comparison_json(pairs, candidates, options)
    write_json({**content, "checksum": checksum(content)}, path)


def is_saved_as(
    pairs: JudgedPairs, candidates: Sequence[Candidate], options: ScoringOptions, path: str | os.PathLike[str]
) -> bool:
    """True where a file holds what `save_comparison` would write of these systems."""
    try:
        there = read_json(path)
    except RelstudyError:
        return False
    if not isinstance(there, dict) or there.get("fingerprint") != pairs.fingerprint:
        return False
    return bool(there.get("checksum") == checksum(comparison_json(pairs, list(candidates), options)))


def comparison_json(pairs: JudgedPairs, candidates: list[Candidate], options: ScoringOptions) -> dict[str, Any]:
    """The saved form, plain JSON."""
    relevance = relevance_of(pairs, options.relevance, options.threshold)
    shares = relevance.rule is RelevanceRule.SHARE
    return {
        "kind": COMPARISON,
        "version": VERSION,
        "fingerprint": pairs.fingerprint,
        "options": _options_json(options, relevance.cut),
        "judgments": {
            "query_id": pairs.query_id.tolist(),
            "result_id": pairs.result_id.tolist(),
            "judgment": pairs.judgment.tolist(),
            "inclusion_probability": _numbers(pairs.probability) if pairs.probability_given else None,
            "query_probability": _numbers(pairs.query_probability) if pairs.query_probability_given else None,
            "relevant_share": _numbers(relevance.values if shares else pairs.relevant_share),
            "relevance_cut": relevance.cut if shares else pairs.share_cut,
            "standard_error": _numbers(pairs.standard_error),
            "gain": _numbers(pairs.gain),
            "query_weight": _numbers(pairs.query_weight),
            "stratum": None if pairs.stratum is None else pairs.stratum.tolist(),
            "scale": pairs.scale.as_json(),
            "qrels": pairs.qrels,
            "unjudged": None if pairs.unjudged is None else pairs.unjudged.to_dict("list"),
            "design": pairs.design.as_json(),
            "proposers": None if pairs.proposers is None else list(pairs.proposers),
            "ratings": None if pairs.ratings is None else pairs.ratings.as_json(),
            "pool": None if pairs.pool is None else _pool_json(pairs.pool),
        },
        "systems": [_system_json(candidate) for candidate in candidates],
    }


def _pool_json(pool: Pool) -> dict[str, Any]:
    """The results of each query in the pool, by query, and its depth."""
    results: dict[str, list[str]] = {}
    for query, result in pool.pairs:
        results.setdefault(query, []).append(result)
    return {"depth": pool.depth, "results": results}


def _pool_of(content: dict[str, Any]) -> Pool:
    results = content["results"]
    pairs = [(query, result) for query, of_query in results.items() for result in of_query]
    return Pool(pd.MultiIndex.from_tuples(pairs, names=PAIR), int(content["depth"]))


def _system_json(candidate: Candidate) -> dict[str, Any]:
    content: dict[str, Any] = {
        "system": candidate.name,
        "higher_is_better": candidate.direction.higher,
        "direction": candidate.direction.source.value,
        "score": _numbers(candidate.given),
        "run": candidate.run,
    }
    if candidate.measures is not None:
        content["measures"] = {
            name: {"by_query": _numbers(each.values), "summed": each.summed}
            | ({} if each.errors is None else {"errors": _numbers(each.errors)})
            | {name: why for name in ("missing", "withheld") if (why := getattr(each, name)) is not None}
            for name, each in candidate.measures.items()
        }
    if candidate.mapped is not None:
        content["mapping"] = candidate.mapped.mapping.as_json()
        content["mapped"] = _numbers(candidate.mapped.values)
        content["in_sample"] = _numbers(candidate.mapped.in_sample)
    return content


def _numbers(values: np.ndarray | None) -> list[float | None] | None:
    """Numbers as JSON has them, a NaN as null, or None."""
    return None if values is None else [float(value) if np.isfinite(value) else None for value in values]


def _array(numbers: list[float | None]) -> np.ndarray:
    return np.array([np.nan if number is None else number for number in numbers], dtype=float)


def _array_or_none(numbers: list[float | None] | None) -> np.ndarray | None:
    return None if numbers is None else _array(numbers)


def read_comparison(path: str | os.PathLike[str]) -> SavedComparison:
    """Read what `save_comparison` wrote: a file, or the archive of a study that holds it.

    Raises
    ------
    RelstudyError
        when the file is something else, of another version, or its lists do not fit together
    """
    file = os.fspath(path)
    content = read_json(in_archive(path, "comparison.json"))
    if not isinstance(content, dict) or content.get("kind") != COMPARISON:
        raise RelstudyError(f'{file}: this is not a saved comparison ("kind": "{COMPARISON}" is needed); {AGAIN}')
    if content.get("version") not in READ:
        raise RelstudyError(f"{file}: version {content.get('version')!r} of a saved comparison is not known; {AGAIN}")
    if content.get("checksum", checksum(content)) != checksum(content):
        raise RelstudyError(f"{file}: the saved comparison was changed since it was written; {AGAIN}")
    try:
        return _saved(content, file)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise RelstudyError(f"{file}: the saved comparison is damaged ({error!r}); write it again") from None


def _options_json(options: ScoringOptions, cut: float) -> dict[str, Any]:
    """The options as the file has them: the threshold is the cut that was used."""
    values = asdict(options) | {"directions": dict(options.directions), "threshold": cut}
    # the field was called graded when the first files were written, and these stay readable
    return {("graded" if name == "measures" else name): value for name, value in values.items()}


def _options_of(content: dict[str, Any]) -> ScoringOptions:
    named = {("measures" if name == "graded" else name): value for name, value in content.items()}
    return ScoringOptions(**{"relevance": RelevanceRule.MEAN.value, "correlation": "judged"} | named)


def _saved(content: dict[str, Any], file: str) -> SavedComparison:
    table = content["judgments"]

    def known(values: list[float | None] | None) -> np.ndarray | float:
        return np.nan if values is None else _array(values)

    frame = pd.DataFrame(
        {
            "query_id": pd.Series(table["query_id"], dtype="str"),
            "result_id": pd.Series(table["result_id"], dtype="str"),
            "judgment": _array(table["judgment"]),
            "inclusion_probability": known(table["inclusion_probability"]),
            "query_probability": known(table.get("query_probability")),
            "relevant_share": known(table.get("relevant_share")),
            "relevance_cut": table.get("relevance_cut", np.nan),
            "standard_error": known(table.get("standard_error")),
        }
    )
    scale = KnownScale.from_json(table["scale"])
    gain = table.get("gain")
    if table.get("query_weight") is not None:
        frame["query_weight"] = _array(table["query_weight"])
    if table.get("stratum") is not None:
        frame["stratum"] = pd.Series(table["stratum"], dtype="str")
    frame["gain"] = gains(frame["judgment"].to_numpy(dtype=float), scale.scale) if gain is None else _array(gain)
    design = DesignLimits.from_json(table.get("design"))
    named, ratings = table.get("proposers"), table.get("ratings")
    judgments = Judgments(
        frame.assign(**design.columns()),
        scale,
        outside_pool=max(design.judged - len(frame), 0),
        qrels=bool(table["qrels"]),
        unjudged=None if table.get("unjudged") is None else pd.DataFrame(table["unjudged"]),
        ratings=None if ratings is None else PairRatings.from_json(ratings).frame(frame),
        proposers=None if named is None else tuple(map(str, named)),
    )
    pool = None if table.get("pool") is None else _pool_of(table["pool"])
    pairs = JudgedPairs.of(judgments, pool)
    if pairs.fingerprint != content["fingerprint"]:
        raise RelstudyError(f"{file}: the judgments in the saved comparison are not those it was made with")
    options = _options_of(content["options"])
    candidates = []
    for entry in content["systems"]:
        aligned = _array(entry["score"])
        if len(aligned) != len(pairs):
            raise ValueError(f"{len(aligned)} scores for {len(pairs)} pairs")
        direction = SystemDirection(bool(entry["higher_is_better"]), DirectionSource(entry["direction"]))
        candidate = candidate_from(pairs, entry["system"], aligned, options, direction, bool(entry["run"]))
        if "measures" in entry:
            measures = {
                name: QueryValues(
                    _array(each["by_query"]),
                    bool(each["summed"]),
                    errors=_array_or_none(each.get("errors")),
                    missing=each.get("missing"),
                    withheld=each.get("withheld"),
                )
                for name, each in entry["measures"].items()
            }
            if any(len(each.values) != len(pairs.queries) for each in measures.values()):
                raise ValueError("a measure needs a value for each query")
            candidate = replace(candidate, measures=measures)
        if "mapped" in entry:
            in_sample, used = _array_or_none(entry["in_sample"]), MappingUsed.from_json(entry["mapping"])
            candidate = replace(candidate, mapped=MappedScores(_array(entry["mapped"]), used, in_sample))
        candidates.append(candidate)
    return SavedComparison(judgments, candidates, options, file, pool)


def place_among(result: ScoreResult, name: str) -> list[str]:
    """Where a system stands among the others by the primary index, as a sentence; empty where it has no value."""
    sentences = []
    for ordering in result.orderings:
        if ordering.index != result.primary.name or name not in ordering.systems:
            continue
        position = ordering.systems.index(name) + 1
        text = f"{name} is {position} of {len(ordering.systems)} by {index_of(ordering.index).term}"
        if name in ordering.first:
            text += f", and comes first in {share_of_draws(ordering.first[name])} of the replicates"
        sentences.append(text + ".")
    return sentences
