"""Embeddings of texts."""

from __future__ import annotations

import os

import numpy as np

from . import _native
from ._checks import strings

__all__ = ["Encoder"]


class Encoder:
    """A small transformer that turns a text into an embedding.

    name: an encoder's name, a folder with `config.json`, `tokenizer.json` and `model.safetensors`, a `.gguf` file, a repository of the model hub as
    `owner/name`, or a project whose tuned encoder to use; left out, the program's default. pooling, device, precision (`fp32` or `fast`), long_texts
    (`average` or `truncate`), prompt and prompt_name as for `dissensus models encode`. Encoders are looked for in the folder of `DISSENSUS_MODELS` and where the
    program keeps them. Pickles hold the choices, and open the encoder anew.

    >>> from dissensus import Encoder
    >>> encoder = Encoder()
    >>> encoder.encode(["this is not fair", "good"]).shape
    (2, 384)
    """

    def __init__(self, name=None, *, pooling=None, device="auto", precision=None, long_texts=None, prompt=None, prompt_name=None):
        self._asked = (None if name is None else os.fspath(name), pooling, device, precision, long_texts, prompt, prompt_name)
        self._opened = _native.TextEncoder(self._asked)

    @property
    def version(self) -> str:
        """What its embeddings depend on: name, hash of the weights, pooling, length."""
        return self._opened.version

    @property
    def dim(self) -> int:
        """Numbers in an embedding."""
        return self._opened.dim

    @property
    def device(self) -> str:
        """Where it computes."""
        return self._opened.device

    def encode(self, texts) -> np.ndarray:
        """Embeddings of a list of texts, float32 [n, dim], in their order. Ctrl-C ends it after the batch at hand."""
        return self._opened.encode(strings(texts, "texts"))

    def __getstate__(self):
        return self._asked

    def __setstate__(self, asked):
        self._asked = asked
        self._opened = _native.TextEncoder(asked)

    def __repr__(self) -> str:
        return f"Encoder({self.version!r})"
