"""Meanings of all columns of a study's tables: the one owner, for the archive's dictionary and docs/columns.md."""

from __future__ import annotations

import re
from collections.abc import Mapping

RATERS_CODE = "the rater's code; not a name, not the platform's id"
_PAIR = {
    "pair_id": "the pair's id, as in the table of pairs",
    "query_id": "id of the query in the collection",
    "result_id": "id of the result in the collection",
}
_OTHER = "id of the second result, or list, of a couple; empty for a pair"
_SCALE = {
    "scale_low": "lowest value of the scale",
    "scale_high": "highest value of the scale",
    "scale_step": "step of the scale; empty where its values are spaced unevenly, and of a slider",
}
_DRAWN = {
    "inclusion_probability": "of being drawn and judged: as in the table of pairs, times the share of each round that "
    "is judged",
    "query_probability": "of the pair's query being drawn at all",
    "source": "the systems that proposed the pair, joined by a semicolon; random: none did",
    "rank": "the pair's rank in the ranking that brought it in, from 1",
    "pool": "inside or outside the pool of what systems rank highest, where results are drawn from one",
    "design_reach": "what the design of the pairs can estimate, where it has limits",
    "pairs_drawn": "how many pairs were drawn, where not all of them are judged",
}
_RATINGS = {
    "rater_id": RATERS_CODE,
    **_PAIR,
    "scale": "the scale's name; a table with several scales is split by `--scale` before calibration",
    "rating": "the number, or empty for undecided; of a couple -1 (the left one is better), 0 (neither) or 1 (the "
    "right one)",
    "seconds": "time on the page divided by its results, summed over changes",
    "block": "`base` or `unique`; `check` (with its fillers), `repeat` and `practice` for ratings that calibration "
    "leaves aside",
    "rated_at": "when it was given, UTC; not in an archive",
    "study_block": "the block's name in study.toml",
    "surplus": "1 for a late answer beyond `ratings_per_pair`",
    "passed": "for checks and practice: `yes` when the answer was one of those expected, else `no`; empty for fillers",
    "revisions": "how often the rating was given; `--history` writes them all",
    "position": "the page's place in the rater's sequence",
    "place": "the result's place on the page as its rater saw it, from 1; the order is random",
    "handed_out": "`random` on unique pairs (`fixed` where groups draw from different blocks); empty on the base block",
    **_DRAWN,
    "version": "number of the study's version that asked",
    "group": "the rater's group, where the study has groups; `calibrate --compare group=NAME` and `score --by group` "
    "compare them",
    "screening_ID, question_ID": "what the rater chose in the questionnaire before or at the end, where a question has "
    "given choices; like `group`; never in an archive",
    "set_aside": "1 for ratings of an excluded rater, or of one who withdrew; calibration leaves them out unless asked",
    "not_shown": "1 where the rater said that the result could not be shown; neither rated nor undecided",
    "other_id": _OTHER,
    "left": "of a couple: the result on the left, at random for each rater",
    "words": "the answer in words, to a question without a scale",
    **_SCALE,
}

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "ratings": _RATINGS,
    "calibrated": {
        **_RATINGS,
        "calibrated": "the rating's value on the common scale",
        "weight": "what the rating weighs in its pair's judgment",
        "care": "how far the rating counts, by the chance that its rater looked",
    },
    "judgments": {
        **_PAIR,
        "judgment": "the calibrated mean of the pair's ratings, on the scale below",
        "n_ratings": "how many ratings it is made of",
        "standard_error": "of the judgment",
        "judgment_low": "lower end of the judgment's 95 % interval",
        "judgment_high": "upper end of the judgment's 95 % interval",
        "relevant_share": "share of the pair's calibrated ratings above `relevance_cut`, 0 to 1",
        "relevance_cut": "the cut between relevant and not",
        **_DRAWN,
        "consensus": "with methods of classes: the pair's likeliest rating by all of its ratings",
        "consensus_probability": "of that rating",
        "difficulty": "with `--method glad`: less the log of the pair's ease",
        "worth": "with `--method rasch`: the pair's worth by all its ratings, in logits",
        "worth_error": "its standard error",
        "paradigm": "image or text: what the query is asked by",
        "block": "`base` or `unique`",
        "scale": "the scale's name",
        **_SCALE,
    },
    "raters": {
        "rater_id": RATERS_CODE,
        "n_base": "how many pairs of the base block the rater decided",
        "mean": "mean of the rater's ratings of the base block; of all ratings without a base block",
        "spread": "standard deviation of these ratings",
        "slope": "what a rating is multiplied by in calibration",
        "offset": "what is then added",
        "agreement": "correlation of the calibrated ratings with the other raters' mean",
        "flags": "reasons to look at the rater's answers",
        "n_ratings": "how many pairs the rater decided in all",
        "undecided": "how many ratings are undecided",
        "noise": "standard deviation of a calibrated rating; empty where no pair has two",
        "weight": "what each of the rater's ratings weighs",
        "care": "the chance that the rater looked at the pairs",
        "severity": "with `--method rasch`: in logits, mean 0; a rater who rates lower is more severe",
        "severity_error": "its standard error",
        "infit": "mean square of what the others' ratings leave unexplained, over what is to be expected: 1",
        "outfit": "the same with every rating counted once, so that single odd ones show",
        "accuracy": "with `--method dawid-skene` or `glad`: how often the rater names a pair's class",
        "ability": "with `--method glad`: 0 for a rater who guesses, below 0 for one who is mostly wrong",
        "competence": "with `--method mace`: how often the rater knows, instead of guessing",
        "median_seconds": "median time of a rating",
        "kind": "person, or judge for an automatic judge",
    },
    "pairs": {
        **_PAIR,
        "paradigm": "image or text: what the query is asked by",
        "source": _DRAWN["source"],
        "rank": _DRAWN["rank"],
        "inclusion_probability": "of the pair being drawn, in (0, 1]",
        "block": "`base` (everyone rates it) or `unique` (assigned)",
        "round": "the round of sampling that drew it, from 1",
        "query_probability": _DRAWN["query_probability"],
        "pool": _DRAWN["pool"],
        "design_reach": _DRAWN["design_reach"],
        "other_id": _OTHER,
        "page": "which of its query's pages the pair is shown on, where the draw decides that",
        "round_N_probability": "probability that the pair was first drawn in round N, with several rounds",
    },
    "pool": {
        "query_id": _PAIR["query_id"],
        "result_id": _PAIR["result_id"],
        "depth": "how many first results of each system the pool is made of",
    },
    "looks": {
        "at": "when the answer was computed while ratings came in",
        "state": "a hash of the judged pairs and of how many rated each",
        "ratings": "how many ratings there were",
        "fraction": "with planned looks: the share of the answers that the study wants",
        "bound": "with planned looks: the bound of the statistic, in standard errors",
    },
    "lists": {
        "list_id": "the list, as result_id and other_id of a couple of lists name it",
        "query_id": _PAIR["query_id"],
        "system": "the system whose first results these are",
        "rank": "the result's place in the list, from 1",
        "result_id": _PAIR["result_id"],
    },
    "scores": {
        "system": "the system's name",
        "query_id": _PAIR["query_id"],
        "result_id": _PAIR["result_id"],
        "score": "the system's score of the pair",
        "rank": "the result's place in the system's ranking, from 1",
        "direction": "higher or lower: which scores are better",
    },
}
"""Table -> column -> meaning. What a study adds of its own has none here."""

_ROUND = re.compile(r"round_\d+_probability")


def meaning_of(table: str, column: str) -> str | None:
    """Meaning of a column, or None for one that is not described.

    Examples
    --------
    >>> meaning_of("pairs", "round"), meaning_of("pairs", "shop")
    ('the round of sampling that drew it, from 1', None)
    """
    if table == "pairs" and _ROUND.fullmatch(column):
        return MEANINGS[table]["round_N_probability"]
    return MEANINGS[table].get(column)


def as_markdown() -> str:
    """The page docs/columns.md."""
    lines = [
        "# The columns of every table",
        "",
        "What `relstudy` writes, column by column. An archive has the same in its columns.csv.",
        "`python scripts/columns.py` prints this page.",
    ]
    described: set[tuple[str, str]] = set()
    for table, columns in MEANINGS.items():
        lines += ["", f"## {table}", ""]
        if known := [f"`{column}`" for column, meaning in columns.items() if (column, meaning) in described]:
            whole = MEANINGS["ratings"].keys() < columns.keys()
            lines += ["All columns of [ratings](#ratings), and" if whole else f"As above: {', '.join(known)}. And", ""]
        lines += ["| column | holds |", "|---|---|"]
        lines += [f"| `{name}` | {meaning} |" for name, meaning in columns.items() if (name, meaning) not in described]
        described |= set(columns.items())
    return "\n".join(lines) + "\n"
