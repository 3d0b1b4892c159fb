"""Models compared by the answers they gave: people's mean judgment per question, with intervals over questions.

Each question has one answer a model, so there is no ranking to score: a model's figure is the mean of its answers'
judgments. Differences are paired by question (Student's t), and whether a model may be the best is decided by one
corrected comparison with its rivals, as for systems (`relstudy.analysis.resampling.best_set`).

Where chance does not explain that more answers of one model than of another are unjudged, the excess counts against
what is claimed of the two: as the lowest judgment if the model is to be better, as the highest if it is to be worse.
Equally many unjudged answers of both pass for chance, however they were chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.resampling.best_set import PairedStatistics, ranks_of
from relstudy.analysis.resampling.spread import ROUNDING, error_where_alike
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed, span
from relstudy.common.tables.formats.table_files import read_table

REPLICATES = 1_000
BY_CHANCE = 0.125
"""More unjudged answers of one model than of another are put down to chance if it leaves that one so many more in over
this share of studies: 2 to 0, but not 3 to 0. Among several models it is this share over the number of rivals."""
ALL_THE_SAME, NO_DIFFERENCE = "all judgments are the same", "the two differ in no question"


@dataclass(frozen=True, eq=False)
class AnswerComparison:
    """Models by the mean judgment of their answers.

    Parameters
    ----------
    names : models, those that may be the best first, by their paired differences
    means : mean judgment of each, with its interval over questions
    behind : each model's mean minus the first's, over the questions that both answered; empty of the first
    questions : judged answers of each model
    best : models that may be the best
    ahead : models that each is ahead of, by the paired interval of the two alone
    common : questions judged for both the first and each other model
    unjudged : answers that nobody judged, and all answers, of each model with unjudged ones
    doubtful : of several models that may be the best, those of which more is unjudged than chance explains
    """

    names: tuple[str, ...]
    means: tuple[Estimate, ...]
    behind: tuple[Estimate, ...]
    questions: tuple[int, ...]
    best: tuple[str, ...]
    ahead: dict[str, tuple[str, ...]]
    common: tuple[int, ...]
    unjudged: dict[str, tuple[int, int]]
    doubtful: tuple[str, ...]

    @property
    def headline(self) -> str:
        """Which model to use, in a sentence."""
        if len(self.names) == 1:
            others = set(self.unjudged) - set(self.names)
            if others:
                judged = self.questions[0]
                given = judged + self.unjudged.get(self.names[0], (0, 0))[0]
                return f"Only {self.names[0]} has judged answers ({judged:,} of {given:,}), so nothing is compared."
            return f"{self.names[0]}: people's mean judgment is {self.means[0].value:.2f}."
        lead, out = self.names[0], [name for name in self.names if name not in self.best]
        open_yet = [name for name in self.best if name != lead]
        further = zip(self.names[1:], self.behind[1:], self.common, strict=True)
        ahead = [each for each in further if each[0] in self.doubtful and (each[1].value or 0.0) >= 0.005]
        if not out:
            said = f"These answers do not show which model is better: {listed(self.best)}."
        elif ahead:
            said = f"These answers do not yet show which model is better: {listed(self.best)}."
            said += f" {listed(out)} can be ruled out."
        elif open_yet:
            said = f"Use {lead}. {listed(open_yet)} cannot quite be ruled out as equally good; {listed(out)} can."
        elif set(out) <= set(self.ahead[lead]):
            said = f"Use {lead}: its answers are better than those of {listed(out)}."
        else:
            said = f"Use {lead}. {listed(out)} can be ruled out as equally good."
        absent = [name for name in self.unjudged if name not in self.names]
        if absent:
            said += f" Nobody judged an answer of {listed(absent)}."
        if self.doubtful:
            said += f" Nobody judged {self.gaps(self.doubtful)}; they may decide it."
        for name, gap, common in ahead if out else ():
            over = count_of(common, "question")
            said += f" Over the {over} judged for both, {name}'s mean is {gap.value:.2f} above {lead}'s."
        return said

    def gaps(self, names: Iterable[str]) -> str:
        """How many answers of models are unjudged, in words."""
        counts = [(name, *self.unjudged[name]) for name in names]
        return listed([f"{count:,} of {name}'s {count_of(given, 'answer')}" for name, count, given in counts])

    def rows(self) -> list[list[Any]]:
        """Model, mean judgment, difference from the first, and questions, for a table."""
        return [list(each) for each in zip(self.names, self.means, self.behind, self.questions, strict=True)]

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        in_common = (self.questions[0], *self.common)
        return {
            "systems": {
                name: {
                    "mean_judgment": mean.as_json(),
                    "difference_from_first": gap.as_json(),
                    "questions": number,
                    "questions_in_common_with_first": common,
                }
                for (name, mean, gap, number), common in zip(self.rows(), in_common, strict=True)
            },
            "verdict": {
                "headline": self.headline,
                "primary": "mean judgment per question",
                "best": list(self.best),
                "doubtful": list(self.doubtful),
                "ranks": [{"system": name, "ahead_of": list(self.ahead[name])} for name in self.names],
            },
            "unjudged": sum(count for count, _ in self.unjudged.values()),
            "unjudged_by_system": {name: count for name, (count, _) in self.unjudged.items()},
        }


def compare_answers(
    judgments: pd.DataFrame, answers: pd.DataFrame, level: float = 0.95, seed: int = 0
) -> AnswerComparison:
    """Compare models by the judgments of their answers.

    Parameters
    ----------
    judgments : query_id, result_id, judgment (float), one row a judged pair
    answers : system, query_id, result_id; two models may have given the same answer
    level : of intervals, between 0 and 1
    seed : of the bootstrap over questions, which only the correction for several models uses

    Raises
    ------
    RelstudyError
        where no answer is judged

    Examples
    --------
    >>> pairs = {"query_id": list("aabbcc"), "result_id": list("123456")}
    >>> judgments = pd.DataFrame({**pairs, "judgment": [4, 2, 5, 3, 4, 1]})
    >>> answers = pd.DataFrame({"system": ["x", "y"] * 3, **pairs})
    >>> found = compare_answers(judgments, answers)
    >>> found.names, round(found.means[0].value, 2), found.headline
    (('x', 'y'), 4.33, 'Use x: its answers are better than those of y.')
    """
    merged = answers.merge(judgments[["query_id", "result_id", "judgment"]], on=["query_id", "result_id"], how="left")
    table = merged.pivot_table(index="query_id", columns="system", values="judgment", aggfunc="mean")
    if table.empty:
        raise RelstudyError("no answer is judged yet: the judgments and answers.csv have no pair in common")
    table = table[table.mean().sort_values(ascending=False, kind="stable").index]
    names, values = tuple(map(str, table)), table.to_numpy(dtype=float)
    first, second = np.triu_indices(len(names), 1)
    gaps = values[:, first] - values[:, second]
    mean, error, number = _mean(gaps)
    draws = np.random.default_rng(seed).multinomial(len(values), np.full(len(values), 1 / len(values)), REPLICATES)
    known = np.isfinite(gaps)
    with np.errstate(invalid="ignore", divide="ignore"):
        replicates = (draws @ np.where(known, gaps, 0.0) / (draws @ known)).T
    best: list[str] = list(names)
    ahead: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    doubtful: set[str] = set()
    if len(names) > 1:
        freedom = np.maximum(number - 1, 1.0)
        paired = PairedStatistics.of(mean, error, freedom, replicates, len(values))
        each_one = merged.assign(judged=merged["judgment"].notna()).groupby(["query_id", "system"], observed=True)[
            "judged"
        ]
        given, judged = (each.unstack().reindex_like(table).fillna(0) for each in (each_one.size(), each_one.sum()))
        excess = _excess(given.to_numpy(dtype=int), judged.to_numpy(dtype=int))
        ranks = ranks_of(paired, level)
        above, better = ranks.p < 1 - level, ranks.better
        if excess.any():
            # The more cautious of the two for each couple, so that a model's gaps never rule out another model.
            means, errors = np.nanmean(values, axis=0)[:, None], np.full(excess.shape, np.inf)
            errors[first, second] = errors[second, first] = np.maximum(error, ROUNDING)
            worst = (excess * (means - np.nanmin(values))).T + excess * (np.nanmax(values) - means)
            at_worst = ranks_of(replace(paired, statistic=paired.statistic - worst / errors), level)
            above, better = above & (at_worst.p < 1 - level), better & at_worst.better
        may = ~above.any(axis=1)
        if may.sum() > 1:
            doubtful = set(np.array(names)[may & (excess[:, may] > 0).any(axis=1)].tolist())
        best = np.array(names)[may].tolist() or best
        ahead = {name: tuple(np.array(names)[better[:, k]].tolist()) for k, name in enumerate(names)}
    # by questions that both answered: a model that answered only easy ones, or one question, may have a high mean
    each = np.nan_to_num(mean)
    lead = np.round(np.bincount(first, each, len(names)) - np.bincount(second, each, len(names)), 12)
    count = np.isfinite(values).sum(axis=0)
    recommends = len(best) < len(names)  # not a model whose unjudged answers may decide it, if another may be the best
    order = sorted(
        range(len(names)),
        key=lambda k: (
            names[k] not in best, recommends and names[k] in doubtful, 2 * count[k] < count.max(), -lead[k],
        ),
    )  # fmt: skip
    names, values = tuple(names[k] for k in order), values[:, order]
    behind = [
        Estimate.missing(""),
        *(_estimate(gap, level) for gap in (values[:, k] - values[:, 0] for k in range(1, len(names)))),
    ]
    counts = merged["judgment"].isna().groupby(merged["system"].astype("str")).agg(["sum", "size"])
    open_yet = counts.reindex([*names, *counts.index.difference(list(names))]).query("sum > 0")
    return AnswerComparison(
        names,
        tuple(_estimate(column, level, paired=False) for column in values.T),
        tuple(behind),
        tuple(int(each) for each in np.isfinite(values).sum(axis=0)),
        tuple(name for name in names if name in best),
        ahead,
        tuple(int((np.isfinite(values[:, k]) & np.isfinite(values[:, 0])).sum()) for k in range(1, len(names))),
        {name: (count, given) for name, count, given in open_yet.itertuples()},
        tuple(name for name in names if name in doubtful),
    )


def answers_of_study(answers: Path, judgments: str | Path) -> AnswerComparison:
    """`compare_answers` of a study's tables: answers.csv, and judgments as `relstudy calibrate` wrote them."""
    table = read_table(answers, "system", "query_id", "result_id").frame
    return compare_answers(read_judgments(judgments).frame, table)


def _excess(given: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Share of the row's answers that are unjudged in excess of the column's, 0 if by chance: float [models, models].

    It is not by chance where the row has too many beside the column, or beside all models. Questions on which neither
    was judged have no part: often nobody was asked about them.

    Parameters
    ----------
    given, judged : answers, and judged answers, int [questions, models]
    """
    unjudged, is_judged = given - judged, (judged > 0).astype(int)
    open_yet = unjudged.T @ is_judged
    beside_one = special.bdtr(np.minimum(open_yet, open_yet.T), open_yet + open_yet.T, 0.5)
    asked = is_judged.any(axis=1)
    of_each = unjudged[asked].sum(axis=0)
    beside_all = special.bdtrc(of_each - 1, of_each.sum(), given[asked].sum(axis=0) / given[asked].sum())
    chance = np.minimum(beside_one, beside_all[:, None])
    more = np.where(chance <= BY_CHANCE / max(len(of_each) - 1, 1), np.maximum(open_yet - open_yet.T, 0), 0)
    return more / np.maximum(judged.T @ is_judged + open_yet, 1)


def _mean(values: np.ndarray, paired: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard error and number of the finite values of each column; NaN with fewer than two.

    Differences of two models (`paired`) that are the same for every question have the error of random signs.
    """
    known = np.isfinite(values)
    number = known.sum(axis=0).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / number
        spread = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0) / (number - 1)
        error = np.where(number > 1, np.sqrt(spread / number), np.nan)
    for k in np.flatnonzero((error <= ROUNDING) & (np.abs(mean) > ROUNDING)) if paired else ():
        error[k] = error_where_alike(mean[k], int(number[k]), number[k] - 1)
    return mean, error, number


def _estimate(values: np.ndarray, level: float, paired: bool = True) -> Estimate:
    mean, error, number = (each[0] for each in _mean(values[:, None], paired))
    if not np.isfinite(mean):
        return Estimate.missing("no question in common")
    if not np.isfinite(error):
        return Estimate.of(float(mean), reason="no interval: one question")
    if error <= ROUNDING:
        return Estimate.of(float(mean), reason=f"no interval: {NO_DIFFERENCE if paired else ALL_THE_SAME}")
    reach = float(special.stdtrit(number - 1, (1 + level) / 2)) * error
    return Estimate.of(float(mean), float(mean - reach), float(mean + reach))


def sentences(found: AnswerComparison) -> list[str]:
    """The answer and what it rests on."""
    said = [found.headline, _basis(found)]
    if found.unjudged:
        said.append(
            f"Not judged: {found.gaps(found.unjudged)}. Gaps that chance explains are left out; further ones count at "
            "their worst."
        )
    return said


def _basis(found: AnswerComparison) -> str:
    first, every = found.names[0], max(found.questions)
    fewest, most = min(found.common, default=every), max(found.common, default=every)
    if len(found.names) == 1:
        return f"The mean of {count_of(every, 'question')}, for questions like these and these raters."
    only_two = len(found.names) == 2
    if not most:
        return f"No question is judged for both {first} and {found.names[1] if only_two else 'another model'}."
    over = count_of(every, "question")
    if fewest < every:
        between = "" if fewest == most else f"{fewest:,} to "
        other = found.names[1] if only_two else "each other model"
        over = f"the {between}{count_of(most, 'question')} judged for both {first} and {other}"
    mean, *others = (mean.value or 0.0 for mean in found.means)
    gaps = zip(others, (gap.value for gap in found.behind[1:]), strict=True)
    differ = any(gap is not None and abs(other - mean - gap) >= 0.01 for other, gap in gaps)
    return (
        f"Decided by people's mean judgment per question over {over}; 95 % intervals for questions like these and "
        f"these raters.{' Differences are over these questions alone, so they are not those of the means.' * differ}"
    )


def table_rows(found: AnswerComparison) -> tuple[list[list[str]], list[str]]:
    """Rows of text and their header, for a terminal."""
    rows = []
    for name, mean, gap, number in found.rows():
        rows.append([name, _number(mean), _span(mean), _number(gap, "+.2f"), _span(gap, "+.2f"), str(number)])
    return rows, ["model", "mean", "95 %", "from the first", "95 %", "questions"]


def _number(value: Estimate, form: str = ".2f") -> str:
    return "" if value.value is None else format(round(value.value, 2) + 0.0, form)  # no -0.00


def _span(value: Estimate, form: str = ".2f") -> str:
    return span(value.low, value.high, form)
