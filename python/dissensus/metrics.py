"""How well predictions meet labels: the measures of `dissensus models evaluate`, on arrays.

y: labels. p: probabilities, [n, levels], in the order of `levels` (left out: the labels' own levels, sorted).
"""

from __future__ import annotations

import json

import numpy as np

from . import _native
from ._checks import coded, levels_of, same_length, sequence, wrong
from ._table import Table

__all__ = [
    "accuracy", "macro_f1", "quadratic_kappa", "mean_absolute_error", "log_loss", "brier", "expected_calibration_error",
    "ranked_probability_score", "soft_cross_entropy", "pearson", "spearman", "auroc", "scores", "disagreement",
]


def _answers(name: str, y, answers, levels) -> float | None:
    if levels is None:
        levels = sorted({*sequence(y, "y"), *sequence(answers, "answers")})
        if len(levels) == 1:
            # All alike: any other level makes it a scale.
            levels.append(object())
    truth, order, _ = levels_of(y, levels, "choice")
    predicted, _, _ = levels_of(answers, order, "choice", "answers")
    if same_length(y=truth, answers=predicted) == 0:
        raise wrong("y is empty")
    return _native.of_answers(name, truth.tolist(), predicted.tolist(), len(order))


def accuracy(y, answers, *, levels=None) -> float:
    """The share of labels that the answers meet.

    >>> from dissensus import metrics
    >>> metrics.accuracy([1, 2, 2, 1], [1, 2, 1, 1])
    0.75
    """
    return _answers("accuracy", y, answers, levels)


def macro_f1(y, answers, *, levels=None) -> float:
    """F1 averaged over levels that are among the labels or the answers."""
    return _answers("macro_f1", y, answers, levels)


def quadratic_kappa(y, answers, *, levels=None) -> float | None:
    """Cohen's kappa with quadratic weights."""
    return _answers("quadratic_kappa", y, answers, levels)


def mean_absolute_error(y, answers, *, levels=None) -> float:
    """Mean distance of label and answer, in levels."""
    return _answers("mean_absolute_error", y, answers, levels)


def _probabilities(y, p, levels, texts=None, annotators=None):
    p = np.asarray(p)
    if p.ndim != 2:
        raise wrong(f"p has {p.ndim} dimensions (shape {p.shape}): it takes two, labels x levels")
    p = np.ascontiguousarray(p, dtype=np.float32)
    if levels is None:
        levels = sorted(set(sequence(y, "y")))
    truth, order, _ = levels_of(y, levels, "choice")
    if len(order) != p.shape[1]:
        raise wrong(f"p has {p.shape[1]} columns, and there are {len(order)} levels: {order[:6]}; name all with levels=[...]")
    if same_length(y=truth, p=p) == 0:
        raise wrong("y is empty")
    bad = ~(np.isfinite(p) & (p >= 0))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise wrong(f"p[{row}, {column}] is {p[row, column]}, which is no probability")
    each = np.arange(len(truth), dtype=np.uint32)
    at = each if texts is None else coded(texts, "texts")[0]
    who = each if annotators is None else coded(annotators, "annotators")[0]
    same_length(y=truth, texts=at, annotators=who)
    return at, who, truth, p


def log_loss(y, p, *, levels=None) -> float:
    """Mean negative log-likelihood of a label, in nats.

    >>> from dissensus import metrics
    >>> round(metrics.log_loss(["no", "yes"], [[0.5, 0.5], [0.5, 0.5]]), 4)
    0.6931
    """
    return _native.of_probabilities("log_loss", *_probabilities(y, p, levels), 10)


def brier(y, p, *, levels=None) -> float:
    """Mean squared distance of the probabilities to the label, summed over levels."""
    return _native.of_probabilities("brier", *_probabilities(y, p, levels), 10)


def expected_calibration_error(y, p, *, levels=None, bins=10) -> float:
    """Mean distance of accuracy and the most likely level's probability, in bins of the latter."""
    return _native.of_probabilities("expected_calibration_error", *_probabilities(y, p, levels), bins)


def ranked_probability_score(y, p, *, levels=None) -> float:
    """Mean squared distance of the cumulated probabilities to the label, over levels in their order."""
    return _native.of_probabilities("ranked_probability_score", *_probabilities(y, p, levels), 10)


def soft_cross_entropy(y, p, texts, annotators, *, levels=None) -> float:
    """Cross-entropy of each text's mean prediction against the shares among its labels."""
    return _native.of_probabilities("soft_cross_entropy", *_probabilities(y, p, levels, texts, annotators), 10)


def _two(name: str, x, y) -> float | None:
    x, y = (np.asarray(values, dtype=np.float64) for values in (x, y))
    for which, values in (("the first", x), ("the second", y)):
        if values.ndim != 1 or not np.isfinite(values).all():
            raise wrong(f"{which} is no list of finite numbers")
    same_length(first=x, second=y)
    return _native.correlation(name, x.tolist(), y.tolist())


def pearson(x, y) -> float | None:
    """Pearson's correlation; `None` where one does not vary."""
    return _two("pearson", x, y)


def spearman(x, y) -> float | None:
    """Spearman's correlation of ranks, ties at their mean."""
    return _two("spearman", x, y)


def auroc(scores, truth) -> float | None:
    """The chance that a true case has the larger score than a false one; `None` where all are alike."""
    return _two("auroc", scores, np.asarray(truth, dtype=bool))


def scores(y, p, texts, annotators, *, levels=None, scale="auto") -> dict:
    """Every measure of `dissensus models evaluate --json` that needs no tuning, by the same keys: label y[i] is by annotators[i] on texts[i], predicted p[i].

    >>> from dissensus import metrics
    >>> found = metrics.scores([0, 1], [[0.9, 0.1], [0.2, 0.8]], ["t", "t"], ["a", "b"])
    >>> found["accuracy"], found["n_texts"]
    (1.0, 1)
    """
    ordinal = levels_of(y, levels, scale)[2] == "ordinal"
    return json.loads(_native.scores(*_probabilities(y, p, levels, texts, annotators), ordinal))


def disagreement(p, *, scale="choice") -> Table:
    """The measures of disagreement of given predictions, [n_texts, annotators, levels]: the columns of an estimator's `disagreement`.

    >>> from dissensus import metrics
    >>> metrics.disagreement([[[1, 0], [0, 1]], [[1, 0], [1, 0]]])["pairwise"].tolist()
    [1.0, 0.0]
    """
    p = np.asarray(p)
    if p.ndim != 3 or 0 in p.shape[1:]:
        raise wrong(f"p has the shape {p.shape}: it takes texts x annotators x levels")
    p = np.ascontiguousarray(p, dtype=np.float32)
    bad = ~(np.isfinite(p) & (p >= 0))
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise wrong(f"p{list(at)} is {p[at]}, which is no probability")
    return Table(_native.disagreement(p, scale == "ordinal"))
