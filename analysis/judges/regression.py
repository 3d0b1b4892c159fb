"""Expected judgments of pairs from their features: a logistic regression, cross-fitted over queries.

Whatever the regression knows, a pair's expectation never rests on judgments of its own query, so that an estimate with
its help stays that of the design (Zrnic and Candès 2024, cross-prediction); a poor one shortens nothing.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from relstudy.analysis.judges.grades import JudgedSample

FOLDS = 5
PENALTIES = (0.001, 0.01, 0.1, 1.0)
"""Of scikit-learn's C, the inverse of the ridge penalty: the one with the least loss on queries left out is taken."""
CHUNK = 100_000


def expected_by_features(
    features: np.ndarray, query_of_row: np.ndarray, sample: JudgedSample, values: np.ndarray
) -> np.ndarray:
    """Expected value of every row, the judgments of its own query left out, by FOLDS parts of the queries.

    Parameters
    ----------
    features : float [rows, features], each of mean 0 and variance 1
    query_of_row : int64 [rows], the number of each row's query as in `sample`, -1 where nobody judged any of it
    sample : the judged pairs
    values : float [quantities, pairs], what people said of the judged pairs; the ridge is chosen by the first

    Returns
    -------
    float64 [quantities, rows], each between the least and the largest of its values: of a judged query, by the model of
    the folds that it is not in; of any other, the mean of all models. Intercepts are the mean of all models', since a
    fold whose judgments are high leaves lower ones to its own model

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> x, query = random.normal(size=(400, 1)), np.repeat(np.arange(40), 10)
    >>> said = (x[:, 0] + random.normal(size=400) > 0) * 1.0
    >>> sample = JudgedSample(np.arange(400), query, np.ones(400))
    >>> expected = expected_by_features(x, query, sample, said[None])[0]
    >>> bool(expected[x[:, 0] > 1].mean() > 0.75), bool(abs(expected.mean() - said.mean()) < 0.01)
    (True, True)
    """
    low, high = values.min(axis=1), values.max(axis=1)
    names, number = np.unique(sample.query, return_inverse=True)
    weight = np.sqrt(sample.weight)
    weight = weight / weight.mean()
    parts = min(FOLDS, len(names))
    expected = np.empty((len(values), len(query_of_row)))
    if parts < 2 or not features.shape[1]:
        expected[:] = (values @ sample.weight / sample.weight.sum())[:, None]
        return expected
    of_query = np.random.default_rng(0).permutation(len(names)) % parts
    fold = of_query[number]
    fold_of_query = np.full(int(max(query_of_row.max(), names.max())) + 2, -1)  # the last is that of no query, -1
    fold_of_query[names] = of_query
    x = np.asarray(features[sample.row], dtype=float)
    share = (values - low[:, None]) / np.where(high > low, high - low, 1.0)[:, None]
    penalty = _least_loss(x, share[0], weight, fold, parts) if high[0] > low[0] else PENALTIES[0]
    for each, said, lowest, highest in zip(expected, share, low, high, strict=True):
        if not highest > lowest:
            each[:] = lowest
            continue
        models = [_fitted(x, said, weight, fold != part, penalty) for part in range(parts)]
        slopes = np.stack([slope for slope, _ in models])
        intercept = float(np.mean([of_model for _, of_model in models]))
        each[:] = lowest + (highest - lowest) * _shares(features, slopes, intercept, fold_of_query[query_of_row])
    return expected


def _least_loss(x: np.ndarray, said: np.ndarray, weight: np.ndarray, fold: np.ndarray, parts: int) -> float:
    """The penalty whose models have the least loss on the queries that they were not fitted to."""
    losses = []
    for penalty in PENALTIES:
        loss = 0.0
        for part in range(parts):
            slope, intercept = _fitted(x, said, weight, fold != part, penalty)
            logit = x[fold == part] @ slope + intercept
            out = said[fold == part]
            loss -= float(
                weight[fold == part] @ (out * special.log_expit(logit) + (1 - out) * special.log_expit(-logit))
            )
        losses.append(loss)
    return PENALTIES[int(np.argmin(losses))]


def _fitted(
    x: np.ndarray, said: np.ndarray, weight: np.ndarray, kept: np.ndarray, penalty: float
) -> tuple[np.ndarray, float]:
    """Slopes, float [features], and intercept of the regression of a share on the pairs kept."""
    yes, no = weight[kept] * said[kept], weight[kept] * (1 - said[kept])
    if not (yes.sum() > 0 and no.sum() > 0):  # its share is 0 or 1, and the shrunk one beside it
        mean = np.clip((yes.sum() + 0.5) / (yes.sum() + no.sum() + 1), 1e-9, 1 - 1e-9)
        return np.zeros(x.shape[1]), float(special.logit(mean))
    some_yes, some_no = yes > 0, no > 0
    both = np.concatenate([x[kept][some_yes], x[kept][some_no]])
    outcome = np.r_[np.ones(some_yes.sum()), np.zeros(some_no.sum())]
    # imported here, since every scoring run loads this module and few have several judges
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=penalty, max_iter=300)
    model.fit(both, outcome, np.r_[yes[some_yes], no[some_no]])
    return model.coef_[0], float(model.intercept_[0])


def _shares(features: np.ndarray, slopes: np.ndarray, intercept: float, fold: np.ndarray) -> np.ndarray:
    """The share of every row by the model of its fold, or the mean of all models' where it has none (-1)."""
    shares = np.empty(len(fold))
    for start in range(0, len(fold), CHUNK):
        part = slice(start, start + CHUNK)
        by_model = special.expit(np.asarray(features[part]) @ slopes.T + intercept)
        by_own_model = np.take_along_axis(by_model, np.maximum(fold[part], 0)[:, None], axis=1)[:, 0]
        shares[part] = np.where(fold[part] < 0, by_model.mean(axis=1), by_own_model)
    return shares
