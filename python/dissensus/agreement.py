"""How much annotators agree: the coefficients of `dissensus analyse agreement`, on arrays of labels.

Label i is by `annotators[i]` on `texts[i]`; both can be any names or numbers. levels: the scale's levels in their order; left out, those of the labels,
sorted. scale: `binary`, `choice`, `ordinal`, or `auto` (two levels are binary, numbers are ordinal).
"""

from __future__ import annotations

import json

from . import _native
from ._checks import wrong
from ._coded import code

__all__ = ["alpha", "cohen", "reliability"]


def alpha(texts, annotators, labels, *, levels=None, scale="auto", difference=None) -> float | None:
    """Krippendorff's alpha. difference: `nominal`, `ordinal` or `interval`; left out, `ordinal` for ordinal scales and `nominal` for others. `None`
    where it is not defined: no text with two labels, or one level only.

    >>> from dissensus import agreement
    >>> agreement.alpha(["t1", "t1", "t2", "t2"], ["a", "b", "a", "b"], ["yes", "yes", "no", "no"])
    1.0
    """
    labelled = code(texts, annotators, labels, levels, "ordinal" if difference in ("ordinal", "interval") else scale)
    if difference is None:
        difference = "ordinal" if labelled.scale == "ordinal" else "nominal"
    if difference not in ("nominal", "ordinal", "interval"):
        raise wrong(f"difference is {difference!r}: it takes 'nominal', 'ordinal' or 'interval'")
    return json.loads(_native.alphas(labelled))["all"][difference]


def reliability(texts, annotators, labels, *, levels=None, scale="auto", resamples=1000, confidence=0.95, seed=0) -> dict:
    """Every coefficient (`alpha_nominal`, `alpha_ordinal`, `alpha_interval`, `fleiss`, `ac1`, `ac2_linear`, `ac2_quadratic`), each with its `value` and its
    `interval` by resampling whole texts; resamples=0: without intervals.

    >>> from dissensus import agreement
    >>> found = agreement.reliability([1, 1, 2, 2, 3, 3], list("ababab"), [1, 1, 3, 3, 2, 1], resamples=0)
    >>> round(found["alpha_nominal"]["value"], 3), found["pairable"]
    (0.545, 3)
    """
    labelled = code(texts, annotators, labels, levels, scale)
    bootstrap = (resamples, confidence, seed) if resamples else None
    return json.loads(_native.reliability(labelled, bootstrap))


def cohen(texts, annotators, labels, *, levels=None, scale="auto", least=1) -> list[dict]:
    """Cohen's kappa of every two annotators with `least` texts in common or more: `first`, `second`, `texts`, `agreement`, `kappa`, `quadratic_kappa`.

    >>> from dissensus import agreement
    >>> agreement.cohen([1, 1, 2, 2], list("abab"), ["x", "x", "y", "y"])[0]["kappa"]
    1.0
    """
    labelled = code(texts, annotators, labels, levels, scale)
    names = labelled.annotator_names
    found = json.loads(_native.cohen_pairs(labelled, least))
    return [
        {
            "first": names[pair["first"]],
            "second": names[pair["second"]],
            "texts": pair["texts"],
            "agreement": pair["agreement"],
            "kappa": pair["kappa"],
            "quadratic_kappa": pair["quadratic"],
        }
        for pair in found
    ]
