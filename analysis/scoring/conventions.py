"""The text beside the numbers: numbers of pairs, every choice made, and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from relstudy.analysis.indices import ties
from relstudy.analysis.indices.judged_coverage import covered_name
from relstudy.analysis.indices.measures import RANKED_BY_NAME, parsed_measure, takes_relevant_or_not
from relstudy.analysis.indices.precision_recall import RARE, TIED
from relstudy.analysis.indices.registry import index_of, own_indices
from relstudy.analysis.indices.sample_estimators import depth_looked_at, is_estimable
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs, Weighting
from relstudy.analysis.scoring.known_directions import runs_against
from relstudy.analysis.scoring.mapping_used import MappingOrigin
from relstudy.analysis.scoring.relevance import RelevanceRule
from relstudy.analysis.scoring.results import SystemScore
from relstudy.analysis.scoring.run_measures import withheld
from relstudy.analysis.scoring.trec import gains_in_words
from relstudy.common.runtime.wording import AGAINST, count_of, listed, listed_some, percent

FEW_QUERIES = 10
NO_INTERVAL = "no interval: "


def numbers(context: ScoringContext) -> dict[str, Any]:
    """Judged pairs, queries, relevant pairs (shares added up), and the fingerprint of the judgments."""
    pairs, total = context.pairs, context.relevance.total
    return {
        "judged": len(pairs),
        "queries": len(pairs.queries),
        "relevant": int(total) if total.is_integer() else total,
        "fingerprint": pairs.fingerprint,
    }


def conventions_of(context: ScoringContext, system: SystemScore) -> dict[str, Any]:
    """Every choice behind the numbers of some systems, of which `system` is the first, in words and values."""
    pairs, options, relevance, collection = context.pairs, context.options, context.relevance, context.collection
    weighting = {
        Weighting.DESIGN: "design: 1 / inclusion probability, scaled to mean 1 (Hajek)",
        Weighting.EQUAL: "equal, by request",
        Weighting.RANK_POWER: (
            f"rank-power: the rank in the pooled order to the power {options.power:g} (Shirahatti and Barnard 2005, "
            "section 5.5.3)"
        ),
    }[pairs.weighting(options.weights)]
    if options.weights == Weighting.DESIGN and not pairs.probability_given:
        weighting = "equal: the judgments carry no inclusion probability"
    return {
        "threshold": relevance.cut,
        "relevance": relevance.rule.value,
        "relevant": relevance.sentence(),
        "scale": pairs.scale.as_json(),
        "weights": weighting,
        "coverage_policy": options.policy,
        "correlation": (
            "raw and mapped: over the judged pairs of all queries pooled, every pair counted equally; tau is tau-b"
        ),
        "compared_by": (
            "the collection's correlation, for which each pair counts as one over its inclusion probability; of mapped "
            "scores, else of scores in the direction in which they rank"
            if collection
            else "the correlation over the judged pairs, every pair counted equally, which depends on who proposed "
            "them; of mapped scores, else of scores in the direction in which they rank"
        ),
        "proposed": _proposed(pairs),
        "ordering": "pairs of all queries pooled and sorted by score; equal scores are taken together",
        **{index.name: index.definition for index in own_indices()},
        "interval": (
            f"bootstrap over queries (clusters), level {options.level:g}, {options.replicates} replicates, seed "
            f"{options.seed}; {_interval(context)}; "
            "mappings are not refitted within replicates; precision and recall that rest on fewer than "
            f"{RARE} hits or misses are widened to Korn and Graubard's interval; measures, and figures of exactly 0 or "
            "1, take percentiles of the replicates; the interval of a mapped correlation reaches 0 from below"
        ),
        "precision_recall": (
            "at shares of the collection, whose cut the judged pairs estimate, so intervals let it vary; where more "
            "than "
            f"{percent(TIED)} of what is retrieved ties at the cut, at that score (`tied`)"
        ),
        "population": context.population.sentence(),
        "raters": context.rater_population.sentence(),
        "comparison": (
            "first minus second on the pairs both score (measures: of what each has for every query), same replicates; "
            "interval and p from one standard error, the "
            "larger of the bootstrap's, times sqrt(n / (n - 1)) for n queries, and the jackknife's, and Student's t "
            "with that error's degrees of freedom; of measures, which are means over queries, the paired t test; "
            "p_family is corrected together, by the largest statistic in the same replicates, over the pairs of "
            "systems in the primary index, over those in all other indices, and over those of all groups"
        ),
        "measures": _measures(context),
        "level": options.level,
        "replicates": options.replicates,
        "seed": options.seed,
        "explained": _explained(system),
    }


def _explained(system: SystemScore) -> str:
    """The shares explained and of what is reachable in words, or the reason why the second is left out."""
    of_reachable = system.explained.of_reachable
    if of_reachable.value is None:
        return f"the squared correlation; its share of what is reachable is left out: {of_reachable.reason}"
    return (
        "the squared correlation; reachable is one minus the judgments' mean squared standard error over their "
        "variance, of the same pairs with the same weights; of reachable is the first over the second"
    )


def _interval(context: ScoringContext) -> str:
    most = context.draws.queries - 1
    if context.raters is None:
        return (
            "the larger of the bootstrap's and the jackknife's standard error; Student's t with at most "
            f"{most} degrees of freedom, fewer where few queries decide (Satterthwaite 1946), on Fisher's scale "
            "for correlations and the logit scale for all else"
        )
    drawn, single = context.raters.drawn.replicates, context.raters.both.replicates
    return (
        "the larger of the bootstrap's and the jackknife's standard error over queries; raters vary too, each variance "
        f"counted once (Cameron, Gelbach and Miller 2011) from {drawn} replicates of raters and {single} of single "
        "ratings, with lines moved to the average of the raters drawn; Student's t with the degrees of freedom of "
        f"both (Satterthwaite 1946): {most} where queries decide, {context.raters.raters - 1} where raters do, and "
        "fewer where few queries decide; on "
        "Fisher's scale for correlations and the logit scale for all else; measures vary by queries alone"
    )


def _proposed(pairs: JudgedPairs) -> str:
    if pairs.proposers is None:
        return "not known: neither the judgments nor a pairs.csv beside them name sources"
    return ", ".join(pairs.proposers)


def _measures(context: ScoringContext) -> str:
    pairs, relevance, measures = context.pairs, context.relevance, context.measures
    if pairs.qrels:
        words = (
            "condensed: ir-measures on what of a system's results somebody judged"
            if context.unjudged == "skip"
            else "ir-measures on everything that a system retrieved, unjudged results counting as poor"
        )
        words += ", by the whole qrels as they are; mean over the qrels' queries, one without results counting 0; "
        words += "equal scores by result_id, descending, as trec_eval sorts them"
        ascending = [name for name in measures if parsed_measure(name).NAME in RANKED_BY_NAME]
        words += f", but ascending in {listed(ascending)}, as in ir-measures" if ascending else ""
        from_one = [name for name in measures if takes_relevant_or_not(name)]
        if not from_one or not ((pairs.judgment >= 1) != (pairs.judgment > relevance.cut)).any():
            return words
        stricter = max(1, int(np.floor(relevance.cut)) + 1)
        return (
            f"{words}; {listed(from_one)} {'takes' if len(from_one) == 1 else 'take'} grades from 1 as relevant, as "
            f"trec_eval does, whatever the threshold: {_from_grade(from_one[0], stricter)} takes those from {stricter}"
        )
    shares = relevance.rule is RelevanceRule.SHARE
    taken = "pairs that more than half of their ratings call relevant" if shares else "the threshold"
    words = ""
    if context.unjudged == "weigh":
        words = (
            "estimated: of everything that a system scored, each judged pair standing for one over its probability of "
            "the results like it (AP as statAP, nDCG by estimated numbers of each gain); mean over the queries that "
            "have a value; relevant by the share of people who call it so; gains: "
            f"{gains_in_words(pairs.scale.scale, pairs.gain)}"
        )
        if all(map(is_estimable, measures)):
            return words
        words += "; others "
    empty = withheld(context)
    if empty is not None:
        return f"{words}left empty: {empty}"
    return words + (
        "condensed: ir-measures on the judged pairs of each query alone, every pair counted equally, mean over "
        f"queries; measures of relevant or not take {taken}, all others gains: "
        f"{gains_in_words(pairs.scale.scale, pairs.gain)}"
    )


def _from_grade(measure: str, grade: int) -> str:
    """The measure's name with the grade from which pairs are relevant, as P(rel=2)@10."""
    return str(parsed_measure(measure)(rel=grade))


def notes_on(context: ScoringContext, candidates: list[Candidate]) -> list[str]:
    """Notes on these figures, one sentence each."""
    pairs, options, relevance, collection = context.pairs, context.options, context.relevance, context.collection
    notes = []
    if options.weights == Weighting.DESIGN and not pairs.probability_given:
        notes.append("The judgments carry no inclusion probability, so all pairs have equal weight.")
    notes.extend(pairs.design.notes())
    reason = pairs.weights_missing(options.weights)
    if reason is not None:
        notes.append(f"Weighted indices are left empty: {reason}.")
    at_the_cut = relevance.cut_note()
    if at_the_cut is not None:
        notes.append(at_the_cut)
    uncorrected = int(np.sum((context.draws.step == 1) & (pairs.fraction > 0)))
    if uncorrected and context.population.finite:
        notes.append(
            f"Intervals are not corrected for the part of {count_of(uncorrected, 'query', 'queries')} in the "
            "collection: all but one of their pairs were certain to be drawn, which does not show how others would "
            "differ."
        )
    if relevance.total in (0, len(pairs)):
        notes.append(
            f"{'No' if relevance.total == 0 else 'Every'} judged pair is relevant ({relevance.sentence()}; judgments "
            f"run from {pairs.judgment.min():g} to {pairs.judgment.max():g}), so figures that need both kinds are left "
            "empty."
        )
    if pairs.ratings is None and options.raters == "auto" and np.isfinite(pairs.standard_error).any():
        notes.append(
            "The judgments come without who gave which rating, so intervals hold for these raters alone; "
            "what calibrate gave, or its folder, has the ratings."
        )
    if len(pairs.queries) < FEW_QUERIES:
        few = count_of(len(pairs.queries), "query", "queries")
        notes.append(f"Only {few}: intervals from so few clusters are too short.")
    for candidate in candidates:
        coverage = candidate.coverage
        if coverage.scored < coverage.judged:
            done = "left out" if coverage.policy == "drop" else "ranked below all others"
            if coverage.policy == "drop" and options.measures:
                done += f", but count as not retrieved in {listed(options.measures)}"
            if candidate.run and coverage.policy == "worst":
                done = "ranked below it, as not retrieved" + (", in its mapping too" if candidate.mapped else "")
            notes.append(
                f"{candidate.name} {'holds' if candidate.run else 'scores'} {coverage.scored} of {coverage.judged} "
                "judged pairs "
                f"({percent(coverage.fraction, 1)}){_whole_queries(pairs, candidate)}; the others are {done}."
            )
        direction = candidate.direction
        if not direction.higher:
            notes.append(f"{candidate.name} is ranked by ascending score: {direction.sentence()}.")
        if direction.binds and runs_against(pairs, candidate.given, direction.higher, options):
            side = "below" if direction.higher else "above"
            notes.append(
                f"{candidate.name} {AGAINST}: {direction.sentence()}, yet Spearman's correlation "
                "with them is "
                f"{side} zero, interval included. It is not turned: a bad system, or a direction stated wrongly."
            )
    for candidate in candidates:
        if candidate.ties is not None and candidate.measures is not None:
            notes.append(ties.in_words(candidate.name, candidate.ties, candidate.measures))
        if candidate.in_single and candidate.measures is not None:
            notes.append(ties.single_precision_in_words(candidate.name, candidate.in_single, candidate.measures))
        if candidate.spelt is not None:
            notes.append(f"{candidate.name} lacks scores of judged pairs: {candidate.spelt}.")
        notes.extend(_uncovered(candidate, context.measures))
    if pairs.proposers is not None and len(candidates) > 1:
        newcomers = [candidate.name for candidate in candidates if candidate.name not in pairs.proposers]
        if newcomers and len(newcomers) < len(candidates):
            fair = "sampling weights correct for this in the collection's correlation"
            unfair = "correlations over the judged pairs favour the systems that proposed them"
            notes.append(f"The pairs were chosen without {listed(newcomers)}; {fair if collection else unfair}.")
    single = [each.name for each in candidates if each.mapped is None and context.queries_of(each.used) < 2]
    if single and options.method != "none":
        notes.append(f"{listed(single)} cannot be mapped out of fold: the pairs scored are of a single query.")
    again: dict[str, list[str]] = {}
    for candidate in candidates:
        if candidate.mapped is not None and candidate.mapped.mapping.origin is MappingOrigin.ANEW:
            again.setdefault(candidate.mapped.mapping.why_anew, []).append(candidate.name)
    for reason, names in again.items():
        notes.append(f"Refitted the mapping{'' if len(names) == 1 else 's'} of {listed(names)}: {reason}.")
    return notes


def _uncovered(candidate: Candidate, measures: Sequence[str]) -> Iterator[str]:
    """The shares of a system's first results of which nothing judged speaks, and the measures that look at them."""
    values = candidate.measures or {}
    looked: dict[int, list[str]] = {}
    for name in measures:
        if str(parsed_measure(name)) in values:
            looked.setdefault(depth_looked_at(name), []).append(name)
    for depth, names in looked.items():
        covered = values.get(covered_name(depth))
        share = 0.0 if covered is None else 1 - float(covered.total())
        if share > 0:
            count = "counts" if len(names) == 1 else "count"
            yield (
                f"Nothing judged speaks of {percent(share)} of {candidate.name}'s first {depth} results "
                f"({covered_name(depth)} is the rest): they had no chance of being judged, or are of a stratum of "
                f"which none was judged there. {listed(names)} {count} them as poor, and may be too low."
            )


def _whole_queries(pairs: JudgedPairs, candidate: Candidate) -> str:
    """The number of queries of which a system scores no judged pair, as a part of a sentence."""
    scored = np.isfinite(candidate.given)
    without = len(pairs.queries) - len(np.unique(pairs.query[scored]))
    return f", nothing for {count_of(without, 'query', 'queries')}" if without else ""


def notes_on_figures(systems: Sequence[SystemScore], said: Sequence[str] = ()) -> list[str]:
    """Notes on figures that are missing or stand on another rule than the others, one sentence each.

    Parameters
    ----------
    said : notes there are already; a reason that stands in one of them is not said again
    """
    tied = [_tied(system) for system in systems]
    return [*_missing(systems, said), *(note for note in tied if note is not None)]


def _missing(systems: Iterable[SystemScore], said: Sequence[str]) -> Iterator[str]:
    """Figures without a value or an interval, by reason."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for system in systems:
        for name, figure in system.indices.items():
            if figure.reason is not None and not any(figure.reason.removeprefix(NO_INTERVAL) in note for note in said):
                by_reason.setdefault(figure.reason, {}).setdefault(index_of(name).term, []).append(system.name)
    for reason, figures in by_reason.items():
        what = "without an interval" if reason.startswith(NO_INTERVAL) else "left empty"
        where = "; ".join(f"{name} of {listed_some(names)}" for name, names in figures.items())
        yield f"Some figures are {what}, since {reason.removeprefix(NO_INTERVAL)}: {where}."


def _tied(system: SystemScore) -> str | None:
    """At which shares precision and recall stay at a score, since many scores are equal; None where at none."""
    tied = [point for point in system.points if point.tied]
    if not tied:
        return None
    shares = [f"{100 * point.share:g} %" for point in tied]
    if len(shares) > 4:
        shares = [f"{len(shares)} shares from {shares[0]} to {shares[-1]}"]
    farthest = max(tied, key=lambda point: point.retrieved - point.share)
    return (
        f"{system.name} gives many pairs the same score, as ranks do, and equal scores are retrieved together: its "
        f"precision and recall at {listed(shares)} of the collection are of more than that, at most "
        f"{100 * farthest.retrieved:.3g} % in place of {100 * farthest.share:g} %."
    )
