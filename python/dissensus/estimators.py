"""Annotator models in scikit-learn's words.

Each learns P(label | text, annotator) from embeddings of texts and labels of which it is known who gave them. They need no scikit-learn, and
`sklearn.base.clone`, `get_params` and pickles work as with its own estimators.
"""

from __future__ import annotations

import inspect

import numpy as np

from . import _native
from ._checks import coded, is_missing, levels_of, matrix, once, places, rows, same_length, sequence, strings
from ._errors import DissensusError, wrong
from ._table import Table

__all__ = ["Multilevel", "SharedHead", "SeparateHeads", "ShareRec"]


class _Estimator:
    """What all annotator models have in common."""

    _kind: str

    def _model_kind(self) -> str:
        return self._kind

    # scikit-learn's protocol of parameters.

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict:
        """The choices of the constructor, by their names."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params):
        """Other choices, for the next `fit`."""
        for name, value in params.items():
            if name not in self._names():
                raise wrong(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if not _same(v, defaults[k].default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None

    # Pickles hold the fitted model as bytes.

    def __getstate__(self) -> dict:
        state = self.__dict__.copy()
        model = state.pop("_model", None)
        if model is not None:
            state["_bytes"] = (model.to_bytes(), model.ordinal, model.ngrams)
        return state

    def __setstate__(self, state: dict) -> None:
        saved = state.pop("_bytes", None)
        self.__dict__.update(state)
        if saved is not None:
            self._model = _native.Model.from_bytes(*saved)

    def _options(self) -> tuple:
        seed = self.seed
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
            raise wrong(f"seed is {seed!r}: it takes a whole number from 0 to 4294967295")
        return (int(seed), 5, 2, bool(getattr(self, "slopes", True)), bool(getattr(self, "text_scores", True)))

    def fit(self, X, y, annotators=None, texts=None, bodies=None, attributes=None):
        """Learns from labels.

        X: embeddings, [n_texts, d]. y: the labels, [n_labels]. annotators: who gave each, [n_labels]; left out, all are one person's.
        texts: the row of X that each label is of, [n_labels]; left out, label i is of row i. Rows without a label are welcome. bodies: the texts
        themselves, [n_texts]; with them `Multilevel` sees words too, as the program does. attributes: what is known of people, as
        `{annotator: {"gender": "woman"}}`. Returns the estimator.

        Raises `InputError` where something does not fit, and names the place; nothing is fitted then.
        """
        X = matrix(X)
        levels, classes, scale = levels_of(y, self.levels, self.scale)
        if annotators is None:
            who, names = np.zeros(len(levels), dtype=np.uint32), ["all"]
        else:
            who, names = coded(annotators, "annotators")
        if texts is None:
            same_length(X=X, y=levels, annotators=who)
            at = np.arange(len(levels), dtype=np.uint32)
        else:
            at = rows(texts, "texts", len(X), "X")
            same_length(y=levels, annotators=who, texts=at)
        if bodies is not None:
            bodies = strings(bodies, "bodies")
            same_length(X=X, bodies=bodies)
        once(at, who, names)
        model = _native.Model.fit(
            self._model_kind(), X, at, who, levels, (len(names), len(classes)), scale, _attributes(attributes, names), bodies,
            self._options(),
        )
        self._model, self._places = model, {name: place for place, name in enumerate(names)}
        self.classes_, self.annotators_, self.scale_ = np.array(classes), names, scale
        self.n_features_in_, self.n_texts_ = X.shape[1], len(X)
        return self

    def _fitted(self):
        model = getattr(self, "_model", None)
        if model is None:
            raise DissensusError(f"this {type(self).__name__} is not fitted yet: call fit first", "not-fitted")
        return model

    def _asked(self, X, bodies):
        X = matrix(X, dim=self.n_features_in_)
        if bodies is not None:
            bodies = strings(bodies, "bodies")
            same_length(X=X, bodies=bodies)
            if not self._model.ngrams:
                bodies = None
        elif self._model.ngrams:
            raise wrong("the model was fitted with bodies: give those of these texts too")
        return X, bodies

    def _who(self, annotators, count: int) -> np.ndarray:
        if annotators is None:
            # Beyond everybody: the average person.
            return np.full(count, np.iinfo(np.uint32).max, dtype=np.uint32)
        if isinstance(annotators, str) and count != 1:
            annotators = [annotators] * count
        elif isinstance(annotators, str):
            annotators = [annotators]
        return places(annotators, self._places, "annotators", "annotator")

    def predict_proba(self, X=None, annotators=None, *, bodies=None, texts=None) -> np.ndarray:
        """Probabilities of the levels, [n, levels] in the order of `classes_`: of row i of X by annotator i.

        annotators: [n], or one name for all; left out, a person of whom nothing is known (the average person). texts, in place of X: rows of the X
        that the model was fitted on, of which it also knows the answers of others (`Multilevel` alone).
        """
        model = self._fitted()
        if (X is None) == (texts is None):
            raise wrong("give X or texts, one of them")
        if texts is not None:
            at = rows(texts, "texts", model.texts if self._kind == "multilevel" else self.n_texts_, "the X of the fit")
            who = self._who(annotators, len(at))
            same_length(texts=at, annotators=who)
            return model.predict_rows(at, who)
        X, bodies = self._asked(X, bodies)
        who = self._who(annotators, len(X))
        same_length(X=X, annotators=who)
        return model.predict(X, np.arange(len(X), dtype=np.uint32), who, bodies)

    def predict(self, X=None, annotators=None, *, bodies=None, texts=None) -> np.ndarray:
        """The answer that goes with `predict_proba`: the median level of an ordinal scale, else the most likely one."""
        p = self.predict_proba(X, annotators, bodies=bodies, texts=texts)
        if self.scale_ == "ordinal":
            below = np.cumsum(p.astype(np.float64), axis=1) < 0.5
            return self.classes_[np.minimum(below.sum(axis=1), len(self.classes_) - 1)]
        return self.classes_[p.argmax(axis=1)]

    def score(self, X, y, annotators=None, *, bodies=None) -> float:
        """The share of labels whose most likely level is the label."""
        p = self.predict_proba(X, annotators, bodies=bodies)
        listed = sequence(y, "y")
        same_length(X=p, y=listed)
        return float(np.mean([a == b for a, b in zip(self.classes_[p.argmax(axis=1)].tolist(), listed)]))

    def disagreement(self, X=None, *, bodies=None) -> Table:
        """How much all fitted annotators would disagree on each row of X, a column for each measure.

        `split` is the expected squared distance of two people's answers over its maximum (without an order of the levels `pairwise` over its maximum),
        `pairwise` the chance that two people answer differently, `divergence` the part between people (bits), `uncertainty` the part within
        each (bits). Without X, of the texts of the fit, where labels that were given count (`Multilevel` alone).
        """
        model = self._fitted()
        if X is None:
            return Table(model.disagreement_of_rows())
        X, bodies = self._asked(X, bodies)
        return Table(model.disagreement(X, bodies))


class Multilevel(_Estimator):
    """One head on the embeddings, every annotator's own severity and every text's own effect, with shrinkage learned from the data.

    scale: `binary`, `choice`, `ordinal`, or `auto` (two levels are binary, numbers are ordinal). levels: the levels in their order; left out, those
    of `y`, sorted. seed: same data, seed and version give the same numbers. slopes, text_scores: whether annotators may depend on topics, and texts
    on words and similar texts, where held-out labels show a gain.

    >>> import numpy as np
    >>> from dissensus import Multilevel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 4)).astype("float32")
    >>> texts = np.repeat(np.arange(40), 2)
    >>> annotators = np.tile(["mild", "strict"], 40)
    >>> y = (X[texts, 0] + (annotators == "strict") > 0.5).astype(int)
    >>> model = Multilevel().fit(X, y, annotators=annotators, texts=texts)
    >>> p = model.predict_proba(X[:1], ["strict"]), model.predict_proba(X[:1], ["mild"])
    >>> bool(p[0][0, 1] > p[1][0, 1])
    True
    >>> _ = model.partial_fit(None, [1], annotators=["new"], texts=[0])
    >>> model.annotators_
    ['mild', 'strict', 'new']
    """

    _kind = "multilevel"

    def __init__(self, scale="auto", levels=None, seed=0, slopes=True, text_scores=True):
        self.scale = scale
        self.levels = levels
        self.seed = seed
        self.slopes = slopes
        self.text_scores = text_scores

    def partial_fit(self, X, y, annotators, texts=None, *, bodies=None):
        """Learns some more labels, one or many: the annotator and the text of each at once, at a cost of some milliseconds a label.

        X: embeddings of new texts, [n, d], one a label; or None with `texts`, rows of texts that it knows (those of the fit, and behind them those added
        here). Whoever is new is added. A label replaces the one that the person gave the text before. What all people share (the head and the variances)
        stays until the next `fit`. Nothing is learned where anything does not fit.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, annotators=annotators, texts=texts, bodies=bodies)
        model = self._model
        known = {level: at for at, level in enumerate(self.classes_.tolist())}
        levels = places(y, known, "y", "level")
        names = sequence([annotators] if isinstance(annotators, str) else annotators, "annotators")
        if (X is None) == (texts is None):
            raise wrong("give X or texts, one of them")
        if texts is not None:
            at = rows(texts, "texts", model.texts, "the X of the fit")
            same_length(y=levels, annotators=names, texts=at)
            new = [None] * len(at)
        else:
            X, bodies = self._asked(X, bodies)
            same_length(X=X, y=levels, annotators=names)
            new = list(zip(X, bodies or [None] * len(X)))
            at = [0] * len(X)
        # From here on nothing is refused.
        for text, added, name, level in zip(at, new, names, levels):
            if name not in self._places:
                self._places[name] = model.add_annotator()
                self.annotators_.append(name)
            if added is not None:
                text = model.add_text(*added)
                self.n_texts_ = model.texts
            model.record(int(text), self._places[name], int(level))
        return self

    @property
    def severities_(self) -> Table:
        """Of each annotator how severe they are compared with the average one: mean and standard deviation, in units of the scale's logits."""
        found = self._fitted().severities()
        if found is None:
            raise DissensusError("a scale without an order of its levels has no severity", "no-severity")
        return Table(annotator=list(self.annotators_), mean=found[:, 0].copy(), sd=found[:, 1].copy())


class SharedHead(_Estimator):
    """One linear head on all labels, blind to who gave them; `majority=True`: on the most frequent label of each text alone.

    >>> import numpy as np
    >>> from dissensus import SharedHead
    >>> X = np.linspace(-1, 1, 20, dtype="float32")[:, None]
    >>> SharedHead().fit(X, X[:, 0] > 0).predict(X[[0, 19]]).tolist()
    [False, True]
    """

    _kind = "shared"

    def __init__(self, scale="auto", levels=None, seed=0, majority=False):
        self.scale = scale
        self.levels = levels
        self.seed = seed
        self.majority = majority

    def _model_kind(self) -> str:
        return "majority" if self.majority else "shared"


class SeparateHeads(_Estimator):
    """A linear head of each annotator's own, fitted to this person's labels alone; for others the shared head.

    >>> import numpy as np
    >>> from dissensus import SeparateHeads
    >>> X = np.tile(np.linspace(-1, 1, 20, dtype="float32"), 2)[:, None]
    >>> who = np.repeat(["a", "b"], 20)
    >>> model = SeparateHeads().fit(X, (X[:, 0] > 0) == (who == "a"), annotators=who)
    >>> model.predict(X[[19, 19]], ["a", "b"]).tolist()
    [True, False]
    """

    _kind = "sep-heads"

    def __init__(self, scale="auto", levels=None, seed=0):
        self.scale = scale
        self.levels = levels
        self.seed = seed


class ShareRec(_Estimator):
    """A network on a vector of the text and one of the annotator; `network`: `ffn` (feed-forward) or `dcn` (Deep & Cross).

    >>> from dissensus import ShareRec
    >>> ShareRec(network="dcn").get_params()["network"]
    'dcn'
    """

    _kind = "share-rec"

    def __init__(self, network="ffn", scale="auto", levels=None, seed=0):
        self.network = network
        self.scale = scale
        self.levels = levels
        self.seed = seed

    def _model_kind(self) -> str:
        if self.network not in ("ffn", "dcn"):
            raise wrong(f"network is {self.network!r}: it takes 'ffn' or 'dcn'")
        return f"share-rec-{self.network}"


def _same(a, b) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (str, int, bool)) and a == b)


def _attributes(known, names: list) -> list:
    """Attributes as the native part takes them: by name, values by name, everybody's place in them."""
    if not known:
        return []
    for person, of in known.items():
        if person not in names:
            raise wrong(f"attributes: {person!r} gave no label")
        if not hasattr(of, "items"):
            raise wrong(f"attributes[{person!r}] is no dictionary")
    found = []
    for attribute in sorted({str(name) for of in known.values() for name in of}):
        value_of = {who: str(of[attribute]) for who, of in known.items() if not is_missing(of.get(attribute)) and of[attribute] != ""}
        values = sorted(set(value_of.values()))
        place = {value: at for at, value in enumerate(values)}
        found.append((attribute, values, [place.get(value_of.get(name)) for name in names]))
    return found
