"""All labels of a text brought together: the methods of `dissensus analyse aggregate`, on arrays of labels."""

from __future__ import annotations

import json

import numpy as np

from . import _native
from ._checks import wrong
from ._coded import code
from ._table import Table

__all__ = ["Aggregated", "aggregate", "majority", "dawid_skene", "mace", "glad"]


class Aggregated:
    """What came of it.

    `texts`: a table of each text's `text`, `label` (the most likely level, the lowest of those that tie), `probability`, `tie`, `labels`.
    `probabilities`: [n_texts, levels], in the order of `levels`. `annotators`: a table of each annotator's `annotator`, `labels`, `agreement`, and
    `spamming` (MACE) or `ability` (GLAD). `confusion`: [n_annotators, levels, levels], P(answers the column | the row is true) (Dawid-Skene), else `None`.
    `difficulty`: [n_texts] (GLAD), else `None`. `converged`, `iterations`: `None` for the majority.
    """

    def __init__(self, found: dict, labelled) -> None:
        n_texts, n_annotators, n_levels = labelled.sizes
        self.levels = list(labelled.level_names)
        self.probabilities = np.array(found["posterior"], dtype=np.float64).reshape(n_texts, n_levels)
        places = found["labels"]
        tied = np.zeros(n_texts, dtype=bool)
        tied[[tie["text"] for tie in found["ties"]]] = True
        self.texts = Table(
            text=list(labelled.text_names),
            label=[self.levels[place] for place in places],
            probability=self.probabilities[np.arange(n_texts), places],
            tie=tied,
            labels=np.array(found["counts"], dtype=np.int64),
        )
        people = found["annotators"]
        self.annotators = Table(
            annotator=list(labelled.annotator_names),
            labels=np.array([one["labels"] for one in people], dtype=np.int64),
            agreement=_numbers(people, "agreement"),
        )
        for name in ("spamming", "ability"):
            if any(one[name] is not None for one in people):
                self.annotators[name] = _numbers(people, name)
        self.confusion = None
        if any(one["confusion"] is not None for one in people):
            empty = [float("nan")] * n_levels**2
            rows = [one["confusion"] or empty for one in people]
            self.confusion = np.array(rows, dtype=np.float64).reshape(n_annotators, n_levels, n_levels)
        difficulty = found["difficulty"]
        self.difficulty = None if difficulty is None else np.array([np.nan if d is None else d for d in difficulty])
        fit = found["fit"] or {}
        self.converged, self.iterations = fit.get("converged"), fit.get("iterations")


def _numbers(people: list[dict], name: str) -> np.ndarray:
    return np.array([np.nan if one[name] is None else one[name] for one in people], dtype=np.float64)


def aggregate(
    texts, annotators, labels, method="dawid-skene", *, levels=None, scale="auto", iterations=500, tolerance=1e-8, restarts=10, seed=0,
    mace="variational",
) -> Aggregated:
    """Brings all labels of each text together. method: `majority`, `dawid-skene`, `mace` or `glad`. restarts, seed and mace (`variational` or `plain`)
    are MACE's.

    >>> from dissensus import aggregation
    >>> found = aggregation.aggregate(["t", "t", "t"], ["a", "b", "c"], ["no", "yes", "yes"], "majority")
    >>> found.texts["label"], found.probabilities.round(2).tolist()
    (['yes'], [[0.33, 0.67]])
    """
    if mace not in ("variational", "plain"):
        raise wrong(f"mace is {mace!r}: it takes 'variational' or 'plain'")
    labelled = code(texts, annotators, labels, levels, scale)
    options = (iterations, tolerance, restarts, seed, mace == "plain")
    found = _native.aggregate(method, labelled, options)
    return Aggregated(json.loads(found), labelled)


def majority(texts, annotators, labels, **choices) -> Aggregated:
    """The most frequent label of each text."""
    return aggregate(texts, annotators, labels, "majority", **choices)


def dawid_skene(texts, annotators, labels, **choices) -> Aggregated:
    """Every annotator has a confusion matrix (Dawid and Skene 1979)."""
    return aggregate(texts, annotators, labels, "dawid-skene", **choices)


def mace(texts, annotators, labels, **choices) -> Aggregated:
    """Every annotator either knows a text's level or answers without looking (Hovy et al. 2013)."""
    return aggregate(texts, annotators, labels, "mace", **choices)


def glad(texts, annotators, labels, **choices) -> Aggregated:
    """Every annotator has an ability and every text a difficulty (Whitehill et al. 2009)."""
    return aggregate(texts, annotators, labels, "glad", **choices)
