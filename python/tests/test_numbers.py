"""Figures against scikit-learn, krippendorff and crowd-kit."""

import itertools
import sys
from unittest.mock import MagicMock

import krippendorff
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics

from dissensus import aggregation, agreement, metrics

# Other parts of crowd-kit, which its package imports along, want these large libraries; what is used here does not.
for absent in ("nltk", "nltk.translate", "nltk.translate.gleu_score", "transformers"):
    sys.modules.setdefault(absent, MagicMock())


@pytest.fixture(scope="module")
def labels():
    """Labels of nine people on 120 texts, four each, of five levels."""
    rng = np.random.default_rng(5)
    rows = []
    for text in range(120):
        true = rng.integers(1, 6)
        for who in rng.choice(9, 4, replace=False):
            says = true if rng.random() < 0.4 + 0.06 * who else rng.integers(1, 6)
            rows.append((f"t{text}", f"a{who}", int(says)))
    return pd.DataFrame(rows, columns=["text", "annotator", "label"])


@pytest.mark.parametrize("difference", ["nominal", "ordinal", "interval"])
def test_alpha(labels, difference):
    wide = labels.pivot(index="annotator", columns="text", values="label").to_numpy(dtype=float)
    theirs = krippendorff.alpha(wide, level_of_measurement=difference, value_domain=[1, 2, 3, 4, 5])
    ours = agreement.alpha(labels["text"], labels["annotator"], labels["label"], difference=difference)
    assert ours == pytest.approx(theirs, abs=1e-9)
    whole = agreement.reliability(labels["text"], labels["annotator"], labels["label"], resamples=0)
    assert whole[f"alpha_{difference}"]["value"] == pytest.approx(theirs, abs=1e-9)


def test_cohen(labels):
    for pair in agreement.cohen(labels["text"], labels["annotator"], labels["label"]):
        both = labels[labels["annotator"] == pair["first"]].merge(labels[labels["annotator"] == pair["second"]], on="text")
        levels = [1, 2, 3, 4, 5]
        assert len(both) == pair["texts"]
        kappa = sklearn.metrics.cohen_kappa_score(both["label_x"], both["label_y"], labels=levels)
        assert pair["kappa"] == pytest.approx(kappa, abs=1e-9)
        kappa = sklearn.metrics.cohen_kappa_score(both["label_x"], both["label_y"], labels=levels, weights="quadratic")
        assert pair["quadratic_kappa"] == pytest.approx(kappa, abs=1e-9)


def test_majority_and_dawid_skene(labels):
    from crowdkit.aggregation import DawidSkene, MajorityVote

    crowd = labels.rename(columns={"text": "task", "annotator": "worker"})
    three = labels["text"], labels["annotator"], labels["label"]
    shares = MajorityVote().fit(crowd).probas_
    ours = aggregation.majority(*three)
    for at, text in enumerate(ours.texts["text"]):
        assert ours.probabilities[at] == pytest.approx(shares.loc[text][[1, 2, 3, 4, 5]].to_numpy(), abs=1e-9)
    theirs = DawidSkene(n_iter=2000, tol=1e-12).fit_predict_proba(crowd)
    ours = aggregation.dawid_skene(*three, iterations=2000, tolerance=1e-12)
    for at, text in enumerate(ours.texts["text"]):
        assert ours.probabilities[at] == pytest.approx(theirs.loc[text][[1, 2, 3, 4, 5]].to_numpy(), abs=1e-4)
    assert ours.confusion.shape == (9, 5, 5)


def test_mace_and_glad_name_the_labels_of_crowd_kit(labels):
    from crowdkit.aggregation import GLAD, MACE

    crowd = labels.rename(columns={"text": "task", "annotator": "worker"})
    for ours, theirs in (
        (aggregation.mace(labels["text"], labels["annotator"], labels["label"]), MACE(n_restarts=1, n_iter=20, random_state=0).fit_predict(crowd)),
        (aggregation.glad(labels["text"], labels["annotator"], labels["label"]), GLAD(n_iter=8).fit_predict(crowd)),
    ):
        same = [label == theirs[text] for text, label in zip(ours.texts["text"], ours.texts["label"])]
        assert np.mean(same) > 0.9


def test_metrics():
    rng = np.random.default_rng(3)
    levels = [1, 2, 3, 4]
    y = rng.integers(1, 5, 300)
    p = rng.dirichlet(np.ones(4), 300).astype("float32")
    predicted = np.array(levels)[p.argmax(axis=1)]
    near = lambda value: pytest.approx(value, abs=1e-6)
    assert metrics.accuracy(y, predicted) == near(sklearn.metrics.accuracy_score(y, predicted))
    assert metrics.macro_f1(y, predicted) == near(sklearn.metrics.f1_score(y, predicted, average="macro"))
    assert metrics.quadratic_kappa(y, predicted, levels=levels) == near(sklearn.metrics.cohen_kappa_score(y, predicted, weights="quadratic"))
    assert metrics.mean_absolute_error(y, predicted) == near(sklearn.metrics.mean_absolute_error(y, predicted))
    assert metrics.log_loss(y, p, levels=levels) == near(sklearn.metrics.log_loss(y, p.astype(float), labels=levels))
    one_hot = (y[:, None] == np.array(levels)) * 1.0
    assert metrics.brier(y, p) == near(((p - one_hot) ** 2).sum(axis=1).mean())
    scores, truth = rng.normal(size=200).round(1), rng.random(200) < 0.4
    assert metrics.auroc(scores, truth) == near(sklearn.metrics.roc_auc_score(truth, scores))
    assert metrics.pearson(scores, truth) == near(np.corrcoef(scores, truth)[0, 1])
    assert metrics.spearman(scores, scores**3) == near(1.0)


def test_disagreement_is_its_formula():
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=(20, 6)).astype("float32")
    found = metrics.disagreement(p)
    for text in range(20):
        pairs = [1 - float(a @ b) for a, b in itertools.permutations(p[text].astype(float), 2)]
        assert found["pairwise"][text] == pytest.approx(np.mean(pairs), abs=1e-6)
