"""Folders that predict without their project."""

from __future__ import annotations

import os

from . import _native
from ._checks import same_length, sequence, strings
from ._errors import NotFoundError
from ._table import Table

__all__ = ["Bundle"]


class Bundle:
    """A folder that `dissensus models bundle` (or `Project.bundle`) wrote: encoder, model and what was learned of annotators, and no text.

    A pickle holds the folder's path alone: small, and the receiver needs the folder at the same place (docs/src/how-to/cluster.md). Every file is
    checked against its sum when it is opened.
    """

    def __init__(self, dir):
        self.path = os.path.abspath(os.fspath(dir))
        self._opened = _native.Bundle(self.path)

    @property
    def notice(self) -> str | None:
        """What is to be shown wherever its predictions are, such as that its annotators are simulated."""
        return self._opened.notice

    def questions(self) -> list[str]:
        """Questions that it predicts answers to."""
        return self._opened.questions()

    def annotators(self, question: str | None = None) -> list[str]:
        """Whose answers to a question it predicts."""
        return self._opened.annotators(question)

    def predict(self, texts, annotators=None, *, question=None, ids=None, device="auto") -> Table:
        """What annotators (all of them where none are named) would answer: a row for each text and annotator, with the columns of
        `dissensus models predict --bundle`. ids: names for the texts in `text_id`; left out, their numbers from 0. The model and its encoder stay in memory
        between calls for the same question and annotators."""
        texts = strings(texts, "texts")
        if ids is None:
            ids = [str(at) for at in range(len(texts))]
        else:
            ids = [str(name) for name in sequence(ids, "ids")]
            same_length(texts=texts, ids=ids)
        chosen = [] if annotators is None else strings([annotators] if isinstance(annotators, str) else annotators, "annotators")
        return Table(self._opened.predict(texts, ids, question, chosen, device))

    def __getstate__(self):
        return self.path

    def __setstate__(self, path):
        if not os.path.isdir(path):
            raise NotFoundError(f"a pickled bundle is its path alone, and {path} is not on this machine: copy the folder there first", "bundle")
        self.__init__(path)

    def __repr__(self) -> str:
        return f"Bundle({self.path!r})"
