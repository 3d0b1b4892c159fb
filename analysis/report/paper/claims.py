"""The paper's claims: whether its own printed numbers bear them out, and whether this study does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp, ttest_ind

from relstudy.analysis.indices.normalised_rank import random_assignment
from relstudy.analysis.indices.registry import AVERAGE_PRECISION, NORMALISED_RANK, PEARSON, index_of
from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.paper import printed
from relstudy.analysis.report.paper.correlations import best_method
from relstudy.analysis.report.paper.fits import ALL, Fits
from relstudy.analysis.report.paper.indices import feature_sets, precision_by_ranks, relevant_pairs
from relstudy.analysis.report.paper.people import ByPerson
from relstudy.analysis.report.paper.printed import no_figure
from relstudy.analysis.report.paper.rules import (
    FAILS,
    HOLDS,
    NEAR,
    UNTOLD,
    Evidence,
    Finding,
    Rule,
    above,
    alike,
    at_random,
    by_most,
    judged,
    near,
    varied,
    within_errors,
)
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.paper.text_queries import PRINTED
from relstudy.analysis.report.raters_sections import scale_values
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, query_counts
from relstudy.analysis.scoring.comparison import order_agreement
from relstudy.calibration.interfaces import rating_times
from relstudy.calibration.reliability.scale_use import nearest_category, uniformity_table
from relstudy.calibration.reliability.within_pair_variance import pair_variances
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import count_of, listed, percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import NO_SYSTEM, one_row_per_source

FEWEST = 5
"""Pairs of either kind without which their variances are not compared."""
NAMES = {"Keywords": "keywords", "SIMPLIcity": "simplicity", "GIFT": "gift"}
"""The paper's systems by their names here; those not named are alike but for their letters' size."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and what comes of it.

    Parameters
    ----------
    text : the claim, in a sentence
    where : section or table
    printed : on the paper's own numbers
    here : in this study
    """

    text: str
    where: str
    printed: Finding
    here: Finding

    def cells(self) -> list[Cell]:
        """A row of the table of claims."""
        figure = self.here.figure or Estimate.missing("")
        sides = (f"{finding.verdict}: {finding.why}" for finding in (self.printed, self.here))
        return [f"{self.text} ({self.where})", *sides, figure]


def here_name(system: str) -> str:
    """The paper's system by its name here.

    Examples
    --------
    >>> here_name("Keywords"), here_name("RWMM-ALL")
    ('keywords', 'rwmm-all')
    """
    return NAMES.get(system, system.lower())


@dataclass(frozen=True)
class Here:
    """This study, asked what the paper claims.

    Parameters
    ----------
    study : queries by image, or all
    fits, text_fits : fits to its pairs, and to those of queries by text
    parted : one person's ratings beside the others', as `by_person`; None without ratings
    """

    study: PaperStudy
    fits: Fits
    text_fits: Fits
    parted: ByPerson | None

    @property
    def level(self) -> float:
        return self.study.result.options.level

    @cached_property
    def strengths(self) -> dict[str, BootstrapStatistic]:
        """Correlation out of fold of each system by its best method, as in table 5.7."""
        return _strengths(self.study, self.fits)

    def lacks(self, *names: str) -> Evidence | None:
        """That some systems are not scored here; None where all are."""
        absent = [name for name in names if name not in self.strengths]
        return Evidence(f"this study has no {listed(absent)}") if absent else None

    def better(self, *pairs: tuple[str, str]) -> Evidence:
        """The correlation of the first of each pair minus the second's, mean over the pairs."""
        lacking = self.lacks(*dict.fromkeys(name for pair in pairs for name in pair))
        if lacking is not None:
            return lacking
        what = f"correlation of {' and of '.join(f'{a} minus {b}' for a, b in pairs)}"
        each = [self.strengths[a] - self.strengths[b] for a, b in pairs]
        return Evidence(what + (", mean" if len(pairs) > 1 else ""), (_mean(each).estimate(self.level),))

    def keywords_first(self) -> Evidence:
        lacking = self.lacks("keywords")
        others = {name: each.value for name, each in self.strengths.items() if name != "keywords"}
        if lacking is not None or not others:
            return lacking or Evidence("this study has no other system")
        return self.better(("keywords", max(others, key=lambda name: others[name])))

    def order(self) -> Evidence:
        """The order of section 5.9."""
        names = [here_name(better) for better, _, _ in printed.ORDER] + [here_name(printed.ORDER[-1][2])]
        lacking = self.lacks(*names)
        if lacking is not None:
            return lacking
        steps = [(self.strengths[a] - self.strengths[b]).estimate(self.level) for a, b in pairwise(names)]
        turned = [
            f"{a} is below {b}" for (a, b), step in zip(pairwise(names), steps, strict=True) if (step.high or 0) < 0
        ]
        return Evidence("; ".join(["correlations, each minus the next one's", *turned]), tuple(steps))

    def _tau(self, one: Sequence[BootstrapStatistic], other: Sequence[BootstrapStatistic]) -> Estimate:
        """Kendall's tau between two orders of the same systems, over the draws."""
        values = [np.array([[each.value] for each in side]) for side in (one, other)]
        draws = [np.array([each.replicates for each in side]) for side in (one, other)]
        value = float(order_agreement(*values)[0])
        return BootstrapStatistic(value, order_agreement(*draws)).estimate(self.level)

    def indices(self, *papers: str) -> Evidence:
        """The least tau between the orders by two of these indices."""
        comparable = [
            each
            for each in self.study.result.agreement
            if each.tau.value is not None and {each.first, each.second} <= set(papers)
        ]
        if not comparable:
            return Evidence("this study has too few systems")
        least = min(comparable, key=lambda each: each.tau.value or 0.0)
        which = "the least tau between two orders:" if len(papers) > 2 else "tau between the orders"
        names = [index_of(name).term for name in (least.first, least.second)]
        return Evidence(f"{which} by {listed(names)}", (least.tau,))

    def curves(self) -> Evidence:
        """Tau between the orders by correlation and by precision with the paper's weights."""
        by_ranks = precision_by_ranks(self.study)
        names = [name for name in self.strengths if name in by_ranks]
        if len(names) < 2:
            return Evidence("this study has too few systems")
        strengths = [self.strengths[name] for name in names]
        fixed = [
            BootstrapStatistic(by_ranks[name], np.full_like(strengths[0].replicates, by_ranks[name])) for name in names
        ]
        what = "tau between the orders by correlation and by average precision with the paper's weights"
        return Evidence(what, (self._tau(strengths, fixed),))

    def correlation_above_least_squares(self) -> Evidence:
        """Correlation out of fold by 4.2 minus by 4.1, mean of the systems."""
        differences = []
        for by_method in self.fits.values():
            second = next((name for name in ("correlation", "local-bagged") if name in by_method), None)
            if second is not None and "bagged" in by_method:
                most, least = (by_method[name][ALL].honest(self.study) for name in (second, "bagged"))
                differences.append(most - least)
        if not differences:
            return Evidence("the methods were not fitted")
        what = f"correlation out of fold by 4.2 minus by 4.1, mean of {count_of(len(differences), 'system')}"
        return Evidence(what, (_mean(differences).estimate(self.level),))

    def simplicity_above_gift(self) -> Evidence:
        """Correlation of simplicity minus gift's, mean over methods and selections."""
        lacking = self.lacks("simplicity", "gift")
        if lacking is not None:
            return lacking
        differences = [
            fit.honest(self.study) - self.fits["gift"][method][selection].honest(self.study)
            for method, by_selection in self.fits["simplicity"].items()
            for selection, fit in by_selection.items()
            if selection in self.fits["gift"].get(method, {})
        ]
        cells = count_of(len(differences), "method and selection", "methods and selections")
        what = f"correlation of simplicity minus gift, mean over {cells}"
        return Evidence(what, (_mean(differences).estimate(self.level),))

    def selections(self) -> Evidence:
        """Correlations of gift and simplicity on the pairs of romm-calib and keywords minus on their own."""
        chosen = ("gift", "simplicity", "romm-calib", "keywords")
        differences = []
        for name in chosen[:2]:
            for by_selection in self.fits.get(name, {}).values():
                if set(chosen) <= set(by_selection):
                    each = [by_selection[selection].honest(self.study) for selection in chosen]
                    differences.append(_mean(each[2:]) - _mean(each[:2]))
        if not differences:
            return Evidence(f"pairs here were not chosen by {listed(chosen)}")
        what = "correlations of gift and simplicity on pairs by romm-calib and keywords minus by gift and simplicity"
        return Evidence(what, (_mean(differences).estimate(self.level),))

    def orders_by_selection(self) -> Evidence:
        """Tau between the orders on each selection and on all pairs of the systems that chose pairs, by each method."""
        names = [name for name in self.study.selecting if name in self.fits]
        parts = [name for name in self.study.selections if name not in NO_SYSTEM]
        taus = {}
        for method in self.fits[names[0]] if len(names) > 1 else ():
            fits = [self.fits[name].get(method, {}) for name in names]
            for part in (part for part in parts if all({part, ALL} <= set(fit) for fit in fits)):
                one, whole = ([fit[each].honest(self.study) for fit in fits] for each in (part, ALL))
                taus[part, method] = self._tau(one, whole)
        if not taus:
            return Evidence("it is not known who chose the pairs")
        (part, method), _ = min(taus.items(), key=lambda item: item[1].value or 0.0)
        return Evidence(f"the least tau with all pairs' is that of pairs by {part}, {method}", tuple(taus.values()))

    def calibration(self) -> Evidence:
        """The variance that calibration takes away, over the pairs of the base block, on each interface."""
        what = "variance of a base pair's ratings before calibration minus after"
        return self._base_variances(what, lambda raw, calibrated: raw - calibrated)

    def variance_left(self) -> Evidence:
        """The variance that is left after calibration, over the pairs of the base block, on each interface."""
        return self._base_variances("variance of a base pair's calibrated ratings", lambda raw, calibrated: calibrated)

    def _base_variances(self, what: str, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Evidence:
        figures = []
        for raw, calibrated in self.study.interface_panels.values():
            if calibrated is None:
                continue
            each = of(pair_variances(raw), pair_variances(calibrated))[raw.base]
            each = each[np.isfinite(each)]
            if len(each) >= FEWEST:
                interval = ttest_1samp(each, 0.0).confidence_interval(self.level)
                figures.append(Estimate(float(each.mean()), float(interval.low), float(interval.high)))
        return Evidence(what if figures else "there is no base block with calibrated ratings", tuple(figures))

    def seconds(self) -> Evidence:
        """The extra time of a rating on 1-9 over a binary one, by those who gave both."""
        binary, nine = self._interface(2), self._interface(9)
        if binary is None or nine is None:
            return Evidence("pairs were not rated both binary and on 1-9")
        return _longer({"binary": binary.frame, "1-9": nine.frame}, "a rating on 1-9 over those of a binary one")

    def text_takes_longer(self) -> Evidence:
        """The extra time of a rating of a query by text over one by image, by those who gave both."""
        text, both = self.study.by_text, [self.study.ratings]
        both += [] if text is None else [text.ratings]
        frames = [each.frame for each in both if each is not None]
        if len(frames) < 2:
            return Evidence("this study has no ratings of queries by image and by text")
        parts = dict(zip(("image", "text"), frames, strict=True))
        return _longer(parts, "a rating of a query by text over those by image")

    def interfaces(self) -> Evidence:
        """Correlation of mean answers to the same pairs, binary and graded."""
        binary = self._interface(2)
        graded = self._interface(9) or next(
            (each for each in self.study.interfaces.values() if len(each.scale.scale.values) > 2), None
        )
        if binary is None or graded is None:
            return Evidence("pairs were not rated both binary and graded")
        one, other = (each.frame.dropna(subset="rating").groupby(PAIR)["rating"].mean() for each in (binary, graded))
        both = pd.concat([one, other], axis=1, join="inner").to_numpy()
        if len(both) < FEWEST or (np.ptp(both, axis=0) == 0).any():
            return Evidence("too few pairs were rated on both")
        r = float(np.corrcoef(both.T)[0, 1])
        reach = 1.96 / np.sqrt(len(both) - 3)  # Fisher's z
        centre = float(np.arctanh(min(r, 1 - 1e-12)))
        figure = Estimate(r, float(np.tanh(centre - reach)), float(np.tanh(centre + reach)))
        return Evidence(f"correlation of mean answers on both to the same {len(both)} pairs", (figure,))

    def _interface(self, values: int) -> Ratings | None:
        return next((each for each in self.study.interfaces.values() if len(each.scale.scale.values) == values), None)

    def two_words(self) -> Evidence:
        """Variance among raters on queries of two words or more, minus that on queries of one."""
        text = self.study if self.study.paradigm == "text" else self.study.by_text
        both, items = (None, None) if text is None else (text.panels, text.tables.items)
        if both is None or items is None or "keywords" not in items.table:
            return Evidence("this study has no queries by text with keywords")
        raw, calibrated = both
        panel = raw if calibrated is None else calibrated
        said = items.table["keywords"].reindex(panel.pairs["query_id"].astype(str)).fillna("")
        words = said.str.split(";").map(lambda parts: sum(bool(part.strip()) for part in parts)).to_numpy()
        variance = pair_variances(panel)
        several, single = (variance[np.isfinite(variance) & mask] for mask in (words > 1, words == 1))
        if min(len(several), len(single)) < FEWEST:
            return Evidence("there are too few pairs with queries of one word, or of two")
        interval = ttest_ind(several, single, equal_var=False).confidence_interval(self.level)
        figure = Estimate(float(several.mean() - single.mean()), float(interval.low), float(interval.high))
        return Evidence("variance among raters, queries of two words or more minus of one", (figure,))

    def more_even(self) -> Evidence:
        """Eq. 5.4 in the first round minus in the later ones."""

        def parts(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
            return frame["round"] == 1, frame["round"] > 1

        return self._uneven(parts, "the first round minus later ones", "there was one round of pairs")

    def keywords_most_even(self) -> Evidence:
        """Eq. 5.4 of the next system's pairs minus that of keywords' pairs, in the first round."""
        names = [name for name in self.study.selections if name not in NO_SYSTEM]
        if "keywords" not in names or len(names) < 2:
            return Evidence("keywords and another system did not choose pairs")
        errors = self._errors_in_first_round()
        next_best = min((name for name in names if name != "keywords"), key=lambda name: errors.get(name, np.nan))

        def parts(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
            first = frame["round"] == frame["round"].min()
            return first & (frame["source"] == next_best), first & (frame["source"] == "keywords")

        what = f"pairs by {next_best} minus by keywords, first round"
        return self._uneven(parts, what, "no such pairs", by_source=True)

    def _answers(self) -> tuple[pd.DataFrame, list[float]] | None:
        """The decided ratings with the source and round of their pair, and the values of the scale."""
        ratings, frame = self.study.ratings, self.study.answers
        if ratings is None or frame is None:
            return None
        return frame.dropna(subset="rating").reset_index(drop=True), scale_values(ratings)

    def _errors_in_first_round(self) -> dict[str, float]:
        """Error of Eq. 5.4 over the pairs that each system chose in the first round; empty without ratings of any."""
        answers = self._answers()
        if answers is None:
            return {}
        frame, values = answers
        rows = one_row_per_source(frame[["round", "rating", "source"]])
        if rows.empty:
            return {}
        table = uniformity_table(rows[rows["round"] == rows["round"].min()], values, by=("source",))
        return dict(zip(table["source"].astype(str), table["error"], strict=True))

    def _uneven(
        self,
        parts: Callable[[pd.DataFrame], tuple[pd.Series, pd.Series]],
        what: str,
        lacking: str,
        by_source: bool = False,
    ) -> Evidence:
        """Error of Eq. 5.4 of the one part minus that of the other.

        Parameters
        ----------
        parts : the rows of either part, bool, from rows with the columns query_id, result_id, round, rating, source
        what : the difference, in words
        lacking : why there is none where either part is empty
        by_source : a pair that several systems chose has a row for each
        """
        answers = self._answers()
        if answers is None:
            return Evidence("ratings or the draw of their pairs are not known")
        frame, values = answers
        columns = [*PAIR, "round", "rating", "source"]
        rows = one_row_per_source(frame[columns]) if by_source else frame
        masks = parts(rows)
        if not all(mask.any() for mask in masks):
            return Evidence(lacking)
        query, names = pd.factorize(rows["query_id"])
        level = nearest_category(rows["rating"].to_numpy(), values)
        times = query_counts(len(names), self.study.result.options.replicates, self.study.result.options.seed)
        errors = []
        for mask in masks:
            counts = np.zeros((len(names), len(values)))
            np.add.at(counts, (query[mask], level[mask]), 1)
            drawn = np.c_[counts.sum(axis=0), counts.T @ times]
            with np.errstate(invalid="ignore"):
                errors.append(np.abs(drawn / drawn.sum(axis=0) - 1 / len(values)).mean(axis=0))
        difference = errors[0] - errors[1]
        figure = BootstrapStatistic(float(difference[0]), difference[1:]).estimate(self.level)
        return Evidence(f"error of Eq. 5.4, {what}", (figure,))

    def random(self) -> Evidence:
        """Eq. 5.5 at random in this study."""
        relevant = relevant_pairs(self.study, np.ones(len(self.study.pairs), bool))
        chance = random_assignment(relevant)["fifth_power"]
        what = f"Eq. 5.5 expected at random, where {percent(relevant.mean())} of the pairs are good"
        return Evidence(what, (Estimate.of(chance, chance, chance, reason="all pairs are equal"),))

    def better_than_random(self) -> Evidence:
        """How far each system's normalised rank is below one half, which it is at random; the least certain first."""
        ranks = {each.name: each.estimate(NORMALISED_RANK) for each in self.study.systems}
        ahead = {name: each.negated().through(lambda end: 0.5 + end) for name, each in ranks.items() if each.ends}
        if not ahead:
            return Evidence("no normalised rank has an interval")
        names = sorted(ahead, key=lambda name: ahead[name].low or 0.0)
        what = f"one half, which is random, minus the weighted normalised rank of {names[0]}, the least certain"
        return Evidence(what, tuple(ahead[name] for name in names))

    def colour(self) -> Evidence:
        """Nine tenths of what gift reaches with both features."""
        parts = feature_sets([name for name in self.strengths if name.split("-")[0] == "gift"])
        if parts is None:
            return Evidence("this study has no gift with colour, texture and both")
        colour, both = (self.strengths[parts[name]] for name in ("Colour only", "Texture and colour"))
        nine_tenths = BootstrapStatistic(0.9 * both.value, 0.9 * both.replicates)
        what = f"correlation of {parts['Colour only']} minus nine tenths of {parts['Texture and colour']}'s"
        return Evidence(what, ((colour - nine_tenths).estimate(self.level),))

    def one_person(self) -> Evidence:
        """Table 5.9's differences."""
        if self.parted is None:
            return Evidence("the ratings are not known")
        sides, found = ("one person", "the others", "all"), {}
        for name, figures in self.parted.figures.items():
            for (one, first), (other, second) in combinations(zip(sides, figures, strict=True), 2):
                difference = (first - second).estimate(self.level)
                if difference.ends is not None:
                    found[f"{name}, {one} and {other}"] = difference
        if not found:
            return Evidence("too few ratings of one person")
        beyond = [which for which, each in found.items() if each.excludes_zero]
        what = f"differences of correlations; beyond their intervals are {'; '.join(beyond) or 'none'}"
        return Evidence(what, tuple(found.values()))

    def by_text(self) -> Evidence:
        """Keywords on queries by text, minus the median of the systems on queries by image."""
        text = self.study.by_text
        found = {} if text is None else _strengths(text, self.text_fits)
        if "keywords" not in found or not self.strengths:
            return Evidence("this study has no queries by text that keywords answers")
        middle = np.median([each.value for each in self.strengths.values()])
        nearest = min(self.strengths, key=lambda name: abs(self.strengths[name].value - middle))
        more = (found["keywords"] - self.strengths[nearest]).estimate(self.level)
        return Evidence(f"correlation of keywords by text minus {nearest}'s by image, the middle system", (more,))


def _strengths(study: PaperStudy, fits: Fits) -> dict[str, BootstrapStatistic]:
    found = {}
    for name, by_method in fits.items():
        honest = {method: fit[ALL].honest(study) for method, fit in by_method.items() if ALL in fit}
        if honest and np.isfinite([each.value for each in honest.values()]).any():
            found[name] = honest[best_method({method: each.value for method, each in honest.items()})]
    return found


def _longer(parts: Mapping[str, pd.DataFrame], what: str) -> Evidence:
    """Seconds of the second part over the first's, above once or not, by those who rated both."""
    times = rating_times(parts)
    ratio = None if times is None else times[list(parts)[1]].ratio
    if ratio is None:
        return Evidence("the ratings' seconds are not known")
    return Evidence(f"seconds of {what}, above 1 or not", (ratio.through(lambda end: end - 1),))


def _mean(figures: Sequence[BootstrapStatistic]) -> BootstrapStatistic:
    value = float(np.mean([each.value for each in figures]))
    return BootstrapStatistic(value, np.mean([each.replicates for each in figures], axis=0))


def claims_of(here: Here) -> list[Claim]:
    """Every claim of the paper's that figures could bear out, in its order, each by one rule on either side."""
    none = no_figure
    correlation, precision, rank = PEARSON.name, AVERAGE_PRECISION.name, NORMALISED_RANK.name
    counted = Evidence(f"a count of theirs; here {count_of(len(here.study.pairs), 'pair')} were judged")
    in_order = [above if sign == ">" else near for _, sign, _ in printed.ORDER]
    words = (("RWMM-ALL", "ROMM-ALL"), ("RWMM-TEST", "ROMM-TEST"))
    seen = (("RWMM-ALL", "RWMM-TEST"), ("ROMM-ALL", "ROMM-TEST"))

    def of(text: str, where: str, rules: Rule | Sequence[Rule], on_print: Evidence, in_study: Evidence) -> Claim:
        return Claim(text, where, judged(rules, on_print), judged(rules, in_study))

    def ahead(text: str, where: str, rule: Rule, *pairs: tuple[str, str]) -> Claim:
        ours = [(here_name(a), here_name(b)) for a, b in pairs]
        return of(text, where, rule, printed.better(*pairs), here.better(*ours))

    orders = (printed.orders_by_selection(), here.orders_by_selection())
    return [
        of("About 16,000 pairs were rated", "2.2, 6", within_errors, printed.number_of_pairs(), counted),
        of("32 people took part", "2.1", within_errors, printed.number_of_people(), Evidence("a count of theirs")),
        of(
            "Maximising correlation gives more correspondence than least squares", "4.2", above,
            printed.correlation_above_least_squares(), here.correlation_above_least_squares(),
        ),
        of("Calibration reduces the variance among people", "5.2", above, printed.less_variance(), here.calibration()),
        of("Calibrated ratings still vary", "5.2", above, printed.variance_left(), here.variance_left()),
        of(
            "The more abstract a pair, the more people vary", "5.2", above,
            none("figure 5.1 shows pairs, no measure of it"), Evidence("which pairs are abstract is unknown"),
        ),
        of("1-9 takes longer than binary", "5.3", above, none("people said so; no times are printed"), here.seconds()),
        of(
            "Queries by text are more taxing than queries by image", "5.3", above,
            none("people said so; no figures"), here.text_takes_longer(),
        ),
        of("Queries of two words confuse", "5.3", above, none("people said so; no figures"), here.two_words()),
        of("Answers on 1-9 and binary correspond", "5.3", above, none("figure 5.2 has no number"), here.interfaces()),
        of("Pairs drawn with the mappings are more even", "5.4", above, printed.more_even(), here.more_even()),
        of(
            "Keywords choose the most even pairs", "5.4", above,
            printed.keywords_most_even(), here.keywords_most_even(),
        ),
        of(
            "SIMPLIcity correlates more than GIFT", "5.5.1", above,
            printed.simplicity_above_gift(), here.simplicity_above_gift(),
        ),
        of(
            "GIFT and SIMPLIcity correlate more on pairs by ROMM-CALIB and Keywords", "5.5.1", above,
            printed.higher_on_two_selections(), here.selections(),
        ),
        Claim("The order of systems varies with data and mapping method", "5.9", *map(varied, orders)),
        Claim("Who chose the pairs makes little difference to the order of systems", "6", *map(by_most, orders)),
        of(
            "Keywords > RWMM-ALL > RWMM-TEST > ROMM-ALL > SIMPLIcity = ROMM-TEST > GIFT", "5.9", in_order,
            printed.order_of_systems(), here.order(),
        ),
        of("Curves of precision and recall concur", "5.9", alike, none("figure 5.3 has no number"), here.curves()),
        of(
            "Normalised rank follows the curves", "5.9", alike,
            none("figure 5.3 has no number"), here.indices(precision, rank),
        ),
        of(
            "All indices concur in the order of systems", "6", alike,
            printed.indices_concur(), here.indices(correlation, precision, rank),
        ),
        of(
            "Normalised rank is .51 to .53 at random", "table 5.8", at_random, printed.random_is_half(), here.random()
        ),
        of(
            "Every system is better than random", "5.5.4", above,
            printed.better_than_random(), here.better_than_random(),
        ),
        of(
            "One person's ratings, the others' and all agree within their errors", "5.6", within_errors,
            printed.within_standard_errors(), here.one_person(),
        ),
        of(
            "Keywords on queries by text do better than most systems on pictures", "5.7", above,
            printed.text_above_pictures(f"{PRINTED:g}"), here.by_text(),
        ),
        of(
            "Colour alone does almost as well as both features", "5.8", above,
            printed.colour_nearly_both(), here.colour(),
        ),
        of("Keywords outperform all methods of pictures", "6", above, printed.keywords_first(), here.keywords_first()),
        ahead("Words in training help: RWMM before ROMM", "6", above, *words),
        ahead("Models do better on pictures that they were trained on: ALL before TEST", "6", above, *seen),
        ahead("RWMM-TEST is comparable to RWMM-ALL", "6", near, ("RWMM-ALL", "RWMM-TEST")),
        ahead("ROMM-ALL is a bit better than SIMPLIcity", "6", above, ("ROMM-ALL", "SIMPLIcity")),
        ahead("ROMM-TEST is worse than SIMPLIcity", "6", above, ("SIMPLIcity", "ROMM-TEST")),
        ahead("ROMM-TEST is the same as GIFT", "6", near, ("ROMM-TEST", "GIFT")),
    ]  # fmt: skip


def claims_table(claims: Sequence[Claim]) -> list[Block]:
    """The table that the page ends with, and what it comes to."""
    table = Table(
        "claims",
        "The paper's claims: which hold on its printed numbers, and which in this study.",
        [Column("Claim"), Column("On its own numbers"), Column("Here"), Column("Figure here")],
        [claim.cells() for claim in claims],
        note="Each claim has one rule on both sides: it holds, or does not, where the whole interval of its figure is "
        f"on one side; two systems are comparable where they certainly differ by less than {NEAR}. A printed figure's "
        f"interval is the rounding of its digits, and {printed.BEYOND} standard errors where table 5.9 has one. Here "
        "correlations are out of fold, each system by its best method, with intervals over queries.",
        number=True,
        prose=True,
    )
    return [Paragraph(summary(table)), table]


def summary(table: Table) -> str:
    """The number of claims that hold, on the printed numbers and here, as a sentence."""
    on_print, computed = (Counter(_verdict(row[column])[0] for row in table.rows) for column in (1, 2))
    counts = [
        f"{each[HOLDS]} hold, {each[FAILS]} do not and {each[UNTOLD]} are undecided" for each in (on_print, computed)
    ]
    return f"Of {len(table.rows)} claims {counts[0]} on the paper's own numbers; here {counts[1]}."


def as_json(table: Table) -> list[dict[str, object]]:
    """The table of claims as plain JSON, an entry a claim."""
    entries: list[dict[str, object]] = []
    for claim, on_print, here, figure in table.rows:
        text, _, where = str(claim).rstrip(")").rpartition(" (")
        sides = [dict(zip(("verdict", "why"), _verdict(side), strict=True)) for side in (on_print, here)]
        printed_figure = figure.as_json() if isinstance(figure, Estimate) else None
        entries.append(
            {"claim": text, "where": where, "on_its_own_numbers": sides[0], "here": sides[1], "figure": printed_figure}
        )
    return entries


def _verdict(cell: Cell) -> tuple[str, str]:
    verdict, _, why = str(cell).partition(": ")
    return verdict, why
