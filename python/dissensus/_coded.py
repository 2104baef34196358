"""Labels of several people as arrays of numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._checks import coded, levels_of, once, same_length


class CodedLabels(NamedTuple):
    """Labels, and the names behind their numbers."""

    texts: np.ndarray
    annotators: np.ndarray
    levels: np.ndarray
    text_names: list
    annotator_names: list
    level_names: list
    scale: str

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Texts, annotators, levels."""
        return len(self.text_names), len(self.annotator_names), len(self.level_names)

    @property
    def arrays(self) -> tuple:
        """As the native part takes them."""
        return self.texts, self.annotators, self.levels


def code(texts, annotators, labels, levels, scale) -> CodedLabels:
    """Label i is by annotator i on text i, each once."""
    at, text_names = coded(texts, "texts")
    who, names = coded(annotators, "annotators")
    what, order, scale = levels_of(labels, levels, scale, "labels")
    same_length(texts=at, annotators=who, labels=what)
    once(at, who, names)
    return CodedLabels(at, who, what, text_names, names, order, scale)
