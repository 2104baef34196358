"""Our heads of each annotator against one scikit-learn LogisticRegression for each, in one run on one machine.

    python tools/bench/sep_heads.py LABELS.csv EMBEDDINGS.npy LEVEL STRENGTH OUR_EXAMPLE [REPEATS]

Same cached embeddings, same labels ("LEVEL, counted from 0, or more"), same penalised loss
`sum of log losses + STRENGTH / 2 |w|^2` with a free intercept. Both sides are timed after reading, over all annotators with two
classes; runs alternate; medians are compared. The penalised losses reached must agree within 1e-4 of themselves, or this fails.
OUR_EXAMPLE is the built example `sep_heads`. Threads: set RAYON_NUM_THREADS and OMP_NUM_THREADS.

Versions used for the figures in BENCHMARKS.md: Python 3.11.7, numpy 2.4.6, scikit-learn 1.9.1.
"""

import csv
import json
import statistics
import subprocess
import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression


def read(path, level):
    texts, people, current = {}, {}, {}
    low = None
    for row in csv.DictReader(open(path, newline="", encoding="utf-8")):
        text = texts.setdefault(row["text_id"], len(texts))
        person = people.setdefault(row["annotator_id"], len(people))
        value = int(row["label"])
        low = value if low is None else min(low, value)
        current[(text, person)] = value  # somebody who judged a text twice: the later label counts
    own = [([], []) for _ in people]
    for (text, person), value in sorted(current.items()):
        own[person][0].append(text)
        own[person][1].append(int(value - low >= level))
    return [(np.array(t), np.array(y)) for t, y in own]


def theirs(x, own, strength):
    start = time.perf_counter()
    heads = []
    for texts, y in own:
        if len(set(y.tolist())) < 2:
            heads.append(None)
            continue
        heads.append(LogisticRegression(C=1.0 / strength, max_iter=1000).fit(x[texts], y))
    seconds = time.perf_counter() - start
    return seconds, heads


def loss(head, x, y, strength):
    w, b = head.coef_[0].astype(np.float64), float(head.intercept_[0])
    u = (x.astype(np.float64) @ w + b) * (2 * y - 1)
    return float(np.logaddexp(0.0, -u).sum() + 0.5 * strength * (w @ w))


def main():
    labels, embeddings, level, strength, example = sys.argv[1:6]
    repeats = int(sys.argv[6]) if len(sys.argv) > 6 else 5
    level, strength = int(level), float(strength)
    x, own = np.load(embeddings), read(labels, level)
    ours_s, theirs_s, losses, heads = [], [], None, None
    for _ in range(repeats):
        out = subprocess.run([example, labels, embeddings, str(level), str(strength), "1"], check=True, capture_output=True)
        run = json.loads(out.stdout)
        ours_s.append(run["seconds"][0])
        losses = run["losses"]
        seconds, heads = theirs(x, own, strength)
        theirs_s.append(seconds)
    worst, above, people = 0.0, 0.0, 0
    for ours, head, (texts, y) in zip(losses, heads, own, strict=True):
        if head is None:
            assert ours is None, "people with one class are left out on both sides"
            continue
        reference = loss(head, x[texts], y, strength)
        worst = max(worst, abs(ours - reference) / reference)
        above = max(above, (ours - reference) / reference)
        people += 1
    ours, theirs_median = statistics.median(ours_s), statistics.median(theirs_s)
    print(json.dumps({
        "people": people, "labels": int(sum(len(y) for _, y in own)), "strength": strength,
        "ours_ms": round(ours * 1e3, 2), "scikit_learn_ms": round(theirs_median * 1e3, 2),
        "ratio": round(ours / theirs_median, 4),
        "largest_relative_difference": worst, "largest_excess_of_ours": above,
    }))
    assert worst < 1e-4, f"the losses differ by {worst}"


if __name__ == "__main__":
    main()
