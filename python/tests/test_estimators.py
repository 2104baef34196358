"""Estimators: the protocol of scikit-learn, pickles, single labels, and what does not fit."""

import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
import sklearn.base

import dissensus
from dissensus import InputError, Multilevel, SeparateHeads, SharedHead, ShareRec

ALL = [Multilevel(), SharedHead(), SharedHead(majority=True), SeparateHeads(), ShareRec("ffn"), ShareRec("dcn")]


@pytest.fixture(scope="module")
def data():
    """80 texts, 6 people of growing severity, three labels a text of four levels."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 8)).astype("float32")
    texts = np.repeat(np.arange(80), 3)
    who = np.concatenate([rng.choice(6, 3, replace=False) for _ in range(80)])
    score = 1.5 * X[texts, 0] + 0.5 * (who - 2.5) + rng.normal(size=240)
    return {"X": X, "y": np.digitize(score, [-1, 0, 1]), "annotators": np.array([f"a{w}" for w in who]), "texts": texts}


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_the_protocol_and_pickles(model, data):
    cloned = sklearn.base.clone(model)
    assert cloned.get_params() == model.get_params() and cloned is not model
    with pytest.raises(dissensus.DissensusError, match="not fitted"):
        cloned.predict_proba(data["X"])
    assert cloned.fit(**data) is cloned
    who = ["a1"] * 80
    p = cloned.predict_proba(data["X"], who)
    assert p.shape == (80, 4) and p.dtype == np.float32
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    again = pickle.loads(pickle.dumps(cloned))
    np.testing.assert_array_equal(again.predict_proba(data["X"], who), p)
    assert again.annotators_ == cloned.annotators_ and repr(again) == repr(model)
    measures = again.disagreement(data["X"])
    assert len(measures["pairwise"]) == 80 and ((0 <= measures["split"]) & (measures["split"] <= 1)).all()
    np.testing.assert_array_equal(sklearn.base.clone(model).fit(**data).predict_proba(data["X"], who), p)
    assert 0.2 < cloned.score(data["X"][data["texts"]], data["y"], data["annotators"]) <= 1
    assert set(cloned.predict(data["X"], who)) <= {0, 1, 2, 3}
    # Of a stranger: everybody alike.
    assert cloned.predict_proba(data["X"]).shape == (80, 4)


def test_rows_in_any_frame(data):
    model = Multilevel().fit(**data)
    p = model.predict_proba(data["X"], "a3")
    frame = pd.DataFrame(data["X"].astype("float64"), columns=list("abcdefgh"))
    again = Multilevel().fit(frame, pd.Series(data["y"]), annotators=pd.Series(data["annotators"]), texts=pd.Series(data["texts"]))
    np.testing.assert_array_equal(again.predict_proba(np.asfortranarray(data["X"]), pd.Series(["a3"] * 80)), p)


def test_severities_follow_who_says_more(data):
    found = Multilevel().fit(**data).severities_
    order = [found["annotator"][at] for at in np.argsort(found["mean"])]
    assert order[0] in ("a0", "a1") and order[-1] in ("a4", "a5")


def test_one_label_moves_its_annotator_as_the_window_does(data):
    model = Multilevel().fit(**data)
    before = model.predict_proba(data["X"], "a0")
    fit = pickle.loads(pickle.dumps(model))
    free = next(row for row in range(80) if "a0" not in data["annotators"][data["texts"] == row])
    for one in (model, fit):
        one.partial_fit(None, [3], annotators=["a0"], texts=[free])
    after = model.predict_proba(data["X"], "a0")
    assert after[:, 3].mean() > before[:, 3].mean()
    np.testing.assert_array_equal(fit.predict_proba(data["X"], "a0"), after)
    # A new text, and somebody new.
    model.partial_fit(data["X"][:1] + 1, [0], annotators=["new"])
    assert model.annotators_[-1] == "new" and model.n_texts_ == 81
    assert model.predict_proba(texts=[80], annotators=["new"]).shape == (1, 4)
    # Others' labels of a known text count.
    assert not np.allclose(model.predict_proba(texts=[0], annotators=["a5"]), model.predict_proba(data["X"][:1], ["a5"]))
    with pytest.raises(InputError, match=r"y\[0\]: there is no level 9"):
        model.partial_fit(None, [9], annotators=["someone"], texts=[0])
    assert "someone" not in model.annotators_


def bad(data, **changes):
    given = {name: np.array(values) for name, values in data.items()}
    given.update(changes)
    return given


def test_what_does_not_fit_names_its_place(data):
    X = data["X"].copy()
    X[7, 3] = np.nan
    huge = data["X"].astype("float64")
    huge[2, 1] = 1e300
    y_none = data["y"].astype(object)
    y_none[5] = None
    cases = [
        (bad(data, X=X), r"X\[7, 3\] is nan"),
        (bad(data, X=huge), r"X\[2, 1\] is inf"),
        (bad(data, X=data["X"][0]), "X has 1 dimensions"),
        (bad(data, X=[["a", "b"]]), "X is no matrix of numbers"),
        (bad(data, X=np.zeros((80, 0))), "rows without a number"),
        (bad(data, y=data["y"][:-1]), "different lengths: y 239, annotators 240, texts 240"),
        (bad(data, y=y_none), r"y\[5\] is None"),
        (bad(data, y=np.ones(240)), "one level only"),
        (bad(data, y=[]), "y is empty"),
        (bad(data, texts=np.full(240, 80)), r"texts\[0\] is 80, and X has the rows 0 to 79"),
        (bad(data, texts=np.full(240, -1)), r"texts\[0\] is -1"),
        (bad(data, texts=np.full(240, 0.5)), r"texts\[0\] is 0.5"),
        (bad(data, texts=np.zeros(240, dtype=int)), "labels 0 and .* are both by"),
        (bad(data, annotators=[None] * 240), r"annotators\[0\] is None"),
        (bad(data, annotators=[[1]] * 240), r"annotators\[0\] is a list"),
        (bad(data, bodies=[None] * 80), r"bodies\[0\] is None"),
        (bad(data, bodies=["x"] * 79), "different lengths: X 80, bodies 79"),
        (bad(data, attributes={"zz": {}}), "'zz' gave no label"),
    ]
    for given, message in cases:
        model = Multilevel()
        with pytest.raises(InputError, match=message) as caught:
            model.fit(**given)
        assert caught.value.code in ("input", "model") and isinstance(caught.value, ValueError)
        assert not model.__sklearn_is_fitted__()
    model = Multilevel().fit(**data)
    for ask, message in [
        (lambda: model.predict_proba(data["X"][:, :4]), "4 numbers in a row, and the model was fitted on 8"),
        (lambda: model.predict_proba(X), r"X\[7, 3\] is nan"),
        (lambda: model.predict_proba(data["X"][:2], ["a0", "who"]), r"annotators\[1\]: there is no annotator 'who'"),
        (lambda: model.predict_proba(data["X"], ["a0"]), "different lengths"),
        (lambda: model.predict_proba(), "give X or texts"),
        (lambda: model.predict_proba(texts=[99]), r"texts\[0\] is 99"),
        (lambda: SharedHead().fit(**data).predict_proba(texts=[0]), "does not learn label by label"),
        (lambda: Multilevel(seed=-1).fit(**data), "seed is -1"),
        (lambda: Multilevel(scale="likert").fit(**data), "scale is 'likert'"),
        (lambda: Multilevel(levels=[0, 1, 1]).fit(**data), "levels names a level twice"),
        (lambda: Multilevel(levels=[0, 1]).fit(**data), r"y\[\d+\] is [23], which is none of the levels"),
        (lambda: Multilevel().set_params(depth=3), "no parameter 'depth'"),
        (lambda: ShareRec("cnn").fit(**data), "network is 'cnn'"),
    ]:
        with pytest.raises(InputError, match=message):
            ask()


def test_a_pickle_that_was_altered_is_refused_and_not_followed(data):
    model = SharedHead().fit(**data)
    state = model.__getstate__()
    whole = state["_bytes"][0]
    for damaged in (b"", whole[:20], whole[: len(whole) // 2], b"\xff" * 100):
        with pytest.raises(dissensus.DissensusError):
            SharedHead().__setstate__({**state, "_bytes": (damaged, True, False)})


LONG = """
import numpy as np, dissensus, sys
rng = np.random.default_rng(0)
X = rng.normal(size=(30000, 384)).astype("float32")
texts = np.repeat(np.arange(30000), 5)
who = np.tile(np.arange(5), 30000) + 5 * (texts % 40)
y = rng.integers(0, 5, 150000)
print("started", flush=True)
try:
    dissensus.ShareRec("dcn").fit(X, y, annotators=who, texts=texts)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(0)
print("ended", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_a_long_fit():
    program = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline().strip() == "started"
    time.sleep(1.5)
    started = time.monotonic()
    program.send_signal(signal.SIGINT)
    output = program.communicate(timeout=60)[0].strip()
    assert output == "interrupted" and program.returncode == 0
    assert time.monotonic() - started < 10, "the whole fit takes twenty seconds"


def test_other_threads_go_on_meanwhile(data):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 64)).astype("float32")
    y = (X[:, 0] > 0).astype(int)
    turns, done = 0, threading.Event()
    fitting = threading.Thread(target=lambda: (SeparateHeads().fit(X, y, annotators=np.arange(1500) % 30), done.set()))
    fitting.start()
    while not done.wait(0.001):
        turns += 1
    fitting.join()
    assert turns > 3
