"""The paper's claims: whether its own printed numbers bear them out, and whether this study does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, ttest_1samp, ttest_ind

from relstudy.analysis.indices.normalised_rank import random_assignment
from relstudy.analysis.indices.registry import AVERAGE_PRECISION, NORMALISED_RANK, PEARSON
from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.paper import printed
from relstudy.analysis.report.paper.correlations import best_method
from relstudy.analysis.report.paper.fits import ALL, Fits
from relstudy.analysis.report.paper.indices import feature_sets, precision_by_ranks, relevant_pairs
from relstudy.analysis.report.paper.people import ByPerson
from relstudy.analysis.report.paper.printed import FAILS, HOLDS, UNTOLD, Finding, no_figure
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

NEAR = 0.05
"""Correlations whose difference certainly is below this are comparable."""
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


def above(figure: Estimate, what: str, than: float = 0.0) -> Finding:
    """A claim that a figure is above a number: it holds, or does not, where the whole interval is on one side.

    Examples
    --------
    >>> above(Estimate(0.2, 0.1, 0.3), "a minus b").verdict, above(Estimate(0.2, -0.1, 0.5), "a minus b").verdict
    ('holds', 'cannot be told')
    """
    if figure.ends is None:
        return Finding(UNTOLD, f"{what}: {figure.reason or 'no interval'}", figure)
    low, high = figure.ends
    return Finding(HOLDS if low > than else FAILS if high < than else UNTOLD, what, figure)


def near(figure: Estimate, what: str) -> Finding:
    """A claim that two figures are comparable, by their difference: it holds where that certainly is below NEAR."""
    if figure.ends is None:
        return Finding(UNTOLD, f"{what}: {figure.reason or 'no interval'}", figure)
    if figure.ends[0] > -NEAR and figure.ends[1] < NEAR:
        return Finding(HOLDS, what, figure)
    return Finding(FAILS if figure.excludes_zero else UNTOLD, what, figure)


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

    def lacks(self, *names: str) -> Finding | None:
        """That some systems are not scored here; None where all are."""
        absent = [name for name in names if name not in self.strengths]
        return Finding(UNTOLD, f"this study has no {listed(absent)}") if absent else None

    def better(self, *pairs: tuple[str, str]) -> Finding:
        """True where the first of each pair correlates more than the second, on average over the pairs."""
        lacking = self.lacks(*dict.fromkeys(name for pair in pairs for name in pair))
        if lacking is not None:
            return lacking
        what = f"correlation of {' and of '.join(f'{a} minus {b}' for a, b in pairs)}"
        each = [self.strengths[a] - self.strengths[b] for a, b in pairs]
        return above(_mean(each).estimate(self.level), what + (", mean" if len(pairs) > 1 else ""))

    def keywords_first(self) -> Finding:
        lacking = self.lacks("keywords")
        others = {name: each.value for name, each in self.strengths.items() if name != "keywords"}
        if lacking is not None or not others:
            return lacking or Finding(UNTOLD, "this study has no other system")
        return self.better(("keywords", max(others, key=lambda name: others[name])))

    def comparable(self, one: str, other: str) -> Finding:
        lacking = self.lacks(one, other)
        if lacking is not None:
            return lacking
        difference = self.strengths[one] - self.strengths[other]
        return near(difference.estimate(self.level), f"correlation of {one} minus {other}, within {NEAR:g} or not")

    def order(self) -> Finding:
        """The order of section 5.9."""
        names = [here_name(better) for better, _, _ in printed.ORDER] + [here_name(printed.ORDER[-1][2])]
        lacking = self.lacks(*names)
        if lacking is not None:
            return lacking
        places = np.array([-1.0, -2.0, -3.0, -4.0, -5.0, -5.0, -6.0])  # SIMPLIcity and ROMM-TEST are level there
        tau = self._tau(names, places)
        strict = [(a, b) for (a, b), (_, sign, _) in zip(pairwise(names), printed.ORDER, strict=True) if sign == ">"]
        differences = {pair: self.better(pair).verdict for pair in strict}
        turned = [f"{a} is below {b}" for (a, b), verdict in differences.items() if verdict == FAILS]
        verdict = FAILS if turned else HOLDS if set(differences.values()) == {HOLDS} else UNTOLD
        return Finding(verdict, "; ".join(["tau with that order", *turned]), tau)

    def _tau(self, names: Sequence[str], places: np.ndarray) -> Estimate:
        """Kendall's tau of the systems' correlations with places in an order (greater: earlier)."""
        values = np.array([self.strengths[name].value for name in names])
        draws = np.array([self.strengths[name].replicates for name in names])
        value = float(order_agreement(values[:, None], places[:, None])[0])
        replicates = order_agreement(draws, np.repeat(places[:, None], draws.shape[1], axis=1))
        return BootstrapStatistic(value, replicates).estimate(self.level)

    def indices(self) -> Finding:
        """True where the indices order the systems alike."""
        papers = {PEARSON.name, AVERAGE_PRECISION.name, NORMALISED_RANK.name}
        comparable = [
            each
            for each in self.study.result.agreement
            if each.tau.value is not None and {each.first, each.second} <= papers
        ]
        if not comparable:
            return Finding(UNTOLD, "this study has too few systems")
        least = min(comparable, key=lambda each: each.tau.value or 0.0)
        what = f"the least tau between orders by two indices ({least.first}, {least.second})"
        if least.tau.value is not None and least.tau.value > 1 - 1e-9:
            return Finding(HOLDS, what, least.tau)
        return Finding(FAILS if least.tau.high is not None and least.tau.high < 1 else UNTOLD, what, least.tau)

    def curves(self) -> Finding:
        """True where precision by the paper's weights orders the systems as correlation does."""
        by_ranks = precision_by_ranks(self.study)
        names = [name for name in self.strengths if name in by_ranks]
        if len(names) < 2:
            return Finding(UNTOLD, "this study has too few systems")
        tau = self._tau(names, np.array([by_ranks[name] for name in names]))
        what = "tau between the orders by correlation and by average precision with the paper's weights"
        if tau.value is not None and tau.value > 1 - 1e-9:
            return Finding(HOLDS, what, tau)
        return Finding(FAILS if tau.high is not None and tau.high < 1 else UNTOLD, what, tau)

    def correlation_above_least_squares(self) -> Finding:
        """True where the methods of 4.2 correlate more than those of 4.1, out of fold."""
        differences = []
        for by_method in self.fits.values():
            second = next((name for name in ("correlation", "local-bagged") if name in by_method), None)
            if second is not None and "bagged" in by_method:
                most, least = (by_method[name][ALL].honest(self.study) for name in (second, "bagged"))
                differences.append(most - least)
        if not differences:
            return Finding(UNTOLD, "the methods were not fitted")
        what = f"correlation out of fold by 4.2 minus by 4.1, mean of {count_of(len(differences), 'system')}"
        return above(_mean(differences).estimate(self.level), what)

    def selections(self) -> Finding:
        """True where correlations of gift and simplicity are higher on the pairs of romm-calib and keywords."""
        chosen = ("gift", "simplicity", "romm-calib", "keywords")
        differences = []
        for name in chosen[:2]:
            for by_selection in self.fits.get(name, {}).values():
                if set(chosen) <= set(by_selection):
                    each = [by_selection[selection].honest(self.study) for selection in chosen]
                    differences.append(_mean(each[2:]) - _mean(each[:2]))
        if not differences:
            return Finding(UNTOLD, f"pairs here were not chosen by {listed(chosen)}")
        what = "correlations of gift and simplicity on pairs by romm-calib and keywords minus by gift and simplicity"
        return above(_mean(differences).estimate(self.level), what)

    def order_whoever_chose(self) -> Finding:
        """In how many selections the order of the systems that chose pairs is that on all pairs."""
        names = [name for name in self.study.selecting if name in self.fits]
        parts = [name for name in self.study.selections if name not in NO_SYSTEM]
        best = {name: best_method({m: fit[ALL].honest(self.study).value for m, fit in self.fits[name].items()})
                for name in names}  # fmt: skip
        parts = [part for part in parts if all(part in self.fits[name][best[name]] for name in names)]
        if len(names) < 2 or not parts:
            return Finding(UNTOLD, "it is not known who chose the pairs")
        whole = [self.fits[name][best[name]][ALL].honest(self.study).value for name in names]
        taus = {}
        for part in parts:
            of_part = [self.fits[name][best[name]][part].honest(self.study).value for name in names]
            taus[part] = float(kendalltau(whole, of_part).statistic)
        same = sum(tau > 1 - 1e-9 for tau in taus.values())
        least = min(taus, key=lambda part: taus[part])
        what = f"the order is that of all pairs in {same} of {len(taus)} selections; the least tau (pairs by {least})"
        return Finding(HOLDS if same > len(taus) / 2 else FAILS, what, Estimate.of(taus[least], reason="none"))

    def calibration(self) -> Finding:
        """The variance that calibration takes away, over the pairs of the base block."""
        raw, calibrated = next(iter(self.study.interface_panels.values()), (None, None))
        if raw is None or calibrated is None:
            return Finding(UNTOLD, "the calibrated ratings are not known")
        less = (pair_variances(raw) - pair_variances(calibrated))[raw.base]
        less = less[np.isfinite(less)]
        if len(less) < FEWEST:
            return Finding(UNTOLD, "there is no base block")
        interval = ttest_1samp(less, 0.0).confidence_interval(self.level)
        figure = Estimate(float(less.mean()), float(interval.low), float(interval.high))
        return above(figure, "variance of a base pair's ratings before calibration minus after")

    def seconds(self) -> Finding:
        """The extra time of a rating on 1-9 over a binary one, by those who gave both."""
        binary, nine = self._interface(2), self._interface(9)
        if binary is None or nine is None:
            return Finding(UNTOLD, "pairs were not rated both binary and on 1-9")
        times = rating_times({"binary": binary.frame, "1-9": nine.frame})
        ratio = None if times is None else times["1-9"].ratio
        if ratio is None:
            return Finding(UNTOLD, "the ratings' seconds are not known")
        return above(ratio, "seconds of a rating on 1-9 over those of a binary one", 1.0)

    def interfaces(self) -> Finding:
        """Correlation of mean answers to the same pairs, binary and graded."""
        binary = self._interface(2)
        graded = self._interface(9) or next(
            (each for each in self.study.interfaces.values() if len(each.scale.scale.values) > 2), None
        )
        if binary is None or graded is None:
            return Finding(UNTOLD, "pairs were not rated both binary and graded")
        one, other = (each.frame.dropna(subset="rating").groupby(PAIR)["rating"].mean() for each in (binary, graded))
        both = pd.concat([one, other], axis=1, join="inner").to_numpy()
        if len(both) < FEWEST or (np.ptp(both, axis=0) == 0).any():
            return Finding(UNTOLD, "too few pairs were rated on both")
        r = float(np.corrcoef(both.T)[0, 1])
        reach = 1.96 / np.sqrt(len(both) - 3)  # Fisher's z
        centre = float(np.arctanh(min(r, 1 - 1e-12)))
        figure = Estimate(r, float(np.tanh(centre - reach)), float(np.tanh(centre + reach)))
        return above(figure, f"correlation of mean answers on both to the same {len(both)} pairs")

    def _interface(self, values: int) -> Ratings | None:
        return next((each for each in self.study.interfaces.values() if len(each.scale.scale.values) == values), None)

    def two_words(self) -> Finding:
        """Variance among raters on queries of two words or more, minus that on queries of one."""
        text = self.study if self.study.paradigm == "text" else self.study.by_text
        both, items = (None, None) if text is None else (text.panels, text.tables.items)
        if both is None or items is None or "keywords" not in items.table:
            return Finding(UNTOLD, "this study has no queries by text with keywords")
        raw, calibrated = both
        panel = raw if calibrated is None else calibrated
        said = items.table["keywords"].reindex(panel.pairs["query_id"].astype(str)).fillna("")
        words = said.str.split(";").map(lambda parts: sum(bool(part.strip()) for part in parts)).to_numpy()
        variance = pair_variances(panel)
        several, single = (variance[np.isfinite(variance) & mask] for mask in (words > 1, words == 1))
        if min(len(several), len(single)) < FEWEST:
            return Finding(UNTOLD, "there are too few pairs with queries of one word, or of two")
        interval = ttest_ind(several, single, equal_var=False).confidence_interval(self.level)
        figure = Estimate(float(several.mean() - single.mean()), float(interval.low), float(interval.high))
        return above(figure, "variance among raters, queries of two words or more minus of one")

    def more_even(self) -> Finding:
        """Eq. 5.4 in the first round minus in the later ones."""

        def parts(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
            return frame["round"] == 1, frame["round"] > 1

        return self._uneven(parts, "the first round minus later ones", "there was one round of pairs")

    def keywords_most_even(self) -> Finding:
        """Eq. 5.4 of the next system's pairs minus that of keywords' pairs, in the first round."""
        names = [name for name in self.study.selections if name not in NO_SYSTEM]
        if "keywords" not in names or len(names) < 2:
            return Finding(UNTOLD, "keywords and another system did not choose pairs")
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
    ) -> Finding:
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
            return Finding(UNTOLD, "ratings or the draw of their pairs are not known")
        frame, values = answers
        columns = [*PAIR, "round", "rating", "source"]
        rows = one_row_per_source(frame[columns]) if by_source else frame
        masks = parts(rows)
        if not all(mask.any() for mask in masks):
            return Finding(UNTOLD, lacking)
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
        return above(figure, f"error of Eq. 5.4, {what}")

    def random(self) -> Finding:
        """Eq. 5.5 at random in this study."""
        relevant = relevant_pairs(self.study, np.ones(len(self.study.pairs), bool))
        chance = random_assignment(relevant)["fifth_power"]
        what = f"Eq. 5.5 expected at random, where {percent(relevant.mean())} of the pairs are good"
        verdict = HOLDS if 0.505 <= chance < 0.535 else FAILS
        return Finding(verdict, what, Estimate.of(chance, reason="all pairs are alike"))

    def better_than_random(self) -> Finding:
        """The last system's normalised rank, which is one half at random."""
        ranks = {each.name: each.estimate(NORMALISED_RANK) for each in self.study.systems}
        with_range = {name: each for name, each in ranks.items() if each.high is not None}
        if not with_range:
            return Finding(UNTOLD, "no normalised rank has an interval")
        last = max(with_range, key=lambda name: with_range[name].high or 0.0)
        figure = with_range[last]
        verdict = HOLDS if (figure.high or 1) < 0.5 else FAILS if (figure.low or 0) > 0.5 else UNTOLD
        return Finding(verdict, f"weighted normalised rank of {last}, the least certain; .5 at random", figure)

    def colour(self) -> Finding:
        """Nine tenths of what gift reaches with both features."""
        parts = feature_sets([name for name in self.strengths if name.split("-")[0] == "gift"])
        if parts is None:
            return Finding(UNTOLD, "this study has no gift with colour, texture and both")
        colour, both = (self.strengths[parts[name]] for name in ("Colour only", "Texture and colour"))
        nine_tenths = BootstrapStatistic(0.9 * both.value, 0.9 * both.replicates)
        what = f"correlation of {parts['Colour only']} minus nine tenths of {parts['Texture and colour']}'s"
        return above((colour - nine_tenths).estimate(self.level), what)

    def one_person(self) -> Finding:
        """Table 5.9's greatest difference in its standard errors."""
        if self.parted is None:
            return Finding(UNTOLD, "the ratings are not known")
        found = {}
        for name, (one, others, _) in self.parted.figures.items():
            difference = (one - others).estimate(self.level)
            if difference.ends is not None:
                found[name] = difference
        if not found:
            return Finding(UNTOLD, "too few ratings of one person")
        beyond = [name for name, each in found.items() if each.excludes_zero]
        widest = max(found, key=lambda name: abs(found[name].value or 0.0))
        what = f"correlation on one person's ratings minus on the others', {widest}, the widest"
        what += f"; beyond their intervals are {listed(beyond)}" if beyond else "; all intervals hold 0"
        return Finding(FAILS if beyond else HOLDS, what, found[widest])

    def by_text(self) -> Finding:
        """Keywords on queries by text, minus the median of the systems on queries by image."""
        text = self.study.by_text
        found = {} if text is None else _strengths(text, self.text_fits)
        if "keywords" not in found or not self.strengths:
            return Finding(UNTOLD, "this study has no queries by text that keywords answers")
        middle = np.median([each.value for each in self.strengths.values()])
        nearest = min(self.strengths, key=lambda name: abs(self.strengths[name].value - middle))
        figure = (found["keywords"] - self.strengths[nearest]).estimate(self.level)
        return above(figure, f"correlation of keywords by text minus {nearest}'s by image, the middle system")


def _strengths(study: PaperStudy, fits: Fits) -> dict[str, BootstrapStatistic]:
    found = {}
    for name, by_method in fits.items():
        honest = {method: fit[ALL].honest(study) for method, fit in by_method.items() if ALL in fit}
        if honest and np.isfinite([each.value for each in honest.values()]).any():
            found[name] = honest[best_method({method: each.value for method, each in honest.items()})]
    return found


def _mean(figures: Sequence[BootstrapStatistic]) -> BootstrapStatistic:
    value = float(np.mean([each.value for each in figures]))
    return BootstrapStatistic(value, np.mean([each.replicates for each in figures], axis=0))


def claims_of(here: Here) -> list[Claim]:
    """Every claim of the paper's that figures could bear out, in its order."""
    none = no_figure
    counted = Finding(UNTOLD, f"a count of theirs; here {count_of(len(here.study.pairs), 'pair')} were judged")
    return [
        Claim("About 16,000 pairs were rated", "2.2, 6", printed.number_of_pairs(), counted),
        Claim("32 people took part", "2.1", printed.number_of_people(), Finding(UNTOLD, "a count of theirs")),
        Claim(
            "Maximising correlation gives more correspondence than least squares", "4.2",
            printed.correlation_above_least_squares(), here.correlation_above_least_squares(),
        ),
        Claim("Calibration reduces the variance among people", "5.2", printed.less_variance(), here.calibration()),
        Claim(
            "The more abstract a pair, the more people vary", "5.2",
            none("figure 5.1 shows pairs, no measure of it"), Finding(UNTOLD, "nobody says which pairs are abstract"),
        ),
        Claim("1-9 takes longer than binary", "5.3", none("people said so; no times are printed"), here.seconds()),
        Claim("Queries of two words confuse", "5.3", none("people said so; no figure is printed"), here.two_words()),
        Claim("Answers on 1-9 and binary correspond", "5.3", none("figure 5.2 has no number"), here.interfaces()),
        Claim("Pairs drawn with the mappings are more even", "5.4", printed.more_even(), here.more_even()),
        Claim("Keywords choose the most even pairs", "5.4", printed.keywords_most_even(), here.keywords_most_even()),
        Claim(
            "SIMPLIcity correlates more than GIFT", "5.5.1",
            printed.simplicity_above_gift(), here.better(("simplicity", "gift")),
        ),
        Claim(
            "GIFT and SIMPLIcity correlate more on pairs by ROMM-CALIB and Keywords", "5.5.1",
            printed.higher_on_two_selections(), here.selections(),
        ),
        Claim(
            "Who chose the pairs makes little difference to the order of systems", "5.9, 6",
            printed.order_whoever_chose(), here.order_whoever_chose(),
        ),
        Claim(
            "Keywords > RWMM-ALL > RWMM-TEST > ROMM-ALL > SIMPLIcity = ROMM-TEST > GIFT", "5.9",
            printed.order_of_systems(), here.order(),
        ),
        Claim("Curves of precision and recall concur", "5.9", none("figure 5.3 has no number"), here.curves()),
        Claim("All indices concur in the order of systems", "5.9, 6", printed.indices_concur(), here.indices()),
        Claim("Normalised rank is .51 to .53 at random", "table 5.8", printed.random_is_half(), here.random()),
        Claim("Every system is better than random", "5.5.4", printed.better_than_random(), here.better_than_random()),
        Claim(
            "One person's ratings, the others' and all agree within their errors", "5.6",
            printed.within_standard_errors(), here.one_person(),
        ),
        Claim(
            "Keywords on queries by text do better than most systems on pictures", "5.7",
            printed.text_above_pictures(PRINTED), here.by_text(),
        ),
        Claim("Colour alone does almost as well as both features", "5.8", printed.colour_nearly_both(), here.colour()),
        Claim("Keywords outperform all methods of pictures", "6", printed.keywords_first(), here.keywords_first()),
        Claim(
            "Words in training help: RWMM before ROMM", "6",
            printed.words_help(), here.better(("rwmm-all", "romm-all"), ("rwmm-test", "romm-test")),
        ),
        Claim(
            "Models do better on pictures that they were trained on: ALL before TEST", "6",
            printed.all_before_test(), here.better(("rwmm-all", "rwmm-test"), ("romm-all", "romm-test")),
        ),
        Claim(
            "RWMM-TEST is comparable to RWMM-ALL", "6",
            printed.unseen_near_seen(), here.comparable("rwmm-all", "rwmm-test"),
        ),
        Claim(
            "ROMM-ALL is a bit better than SIMPLIcity", "6",
            printed.romm_above_simplicity(), here.better(("romm-all", "simplicity")),
        ),
        Claim(
            "ROMM-TEST is worse than SIMPLIcity", "6",
            printed.romm_test_below_simplicity(), here.better(("simplicity", "romm-test")),
        ),
    ]  # fmt: skip


def claims_table(claims: Sequence[Claim]) -> list[Block]:
    """The table that the page ends with, and what it comes to."""
    table = Table(
        "claims",
        "The paper's claims: which hold on its own printed numbers, and which in this study.",
        [Column("Claim"), Column("On its own numbers"), Column("Here"), Column("Figure here")],
        [claim.cells() for claim in claims],
        note="On the paper's own numbers a claim does not hold where its tables contradict it: figures of table 5.9 "
        f"differ from {printed.BEYOND} standard errors on. Here a claim holds, or does not, where the whole interval "
        f"of its figure is on one side; two systems are comparable where they certainly differ by less than {NEAR}. "
        "Correlations are out of fold, each system by its best method, with intervals over queries.",
        number=True,
        prose=True,
    )
    return [Paragraph(summary(table)), table]


def summary(table: Table) -> str:
    """The number of claims that hold, on the printed numbers and here, as a sentence."""
    on_print, computed = (Counter(_verdict(row[column])[0] for row in table.rows) for column in (1, 2))
    counts = [
        f"{each[HOLDS]} hold, {each[FAILS]} do not and {each[UNTOLD]} cannot be told" for each in (on_print, computed)
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
