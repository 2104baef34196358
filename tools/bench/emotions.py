"""A multi-label question by `dissensus models evaluate` beside scikit-learn's one-vs-rest logistic regression on the same embeddings and split, as Markdown.

    python tools/bench/emotions.py DISSENSUS FILE [--encoder NAME] [--models shared,multilevel] [--work DIR]

DISSENSUS is the built command, FILE a CSV with the columns text_id, text, annotator_id, label (sets like "anger; joy") and split (train, test), one label a text,
as emotions_ec.csv. The embeddings that scikit-learn learns from are written by `dissensus models embed` with the same encoder. Its logistic regression has C = 1 on
standardised columns or not, whichever is better on the test texts: the comparison is to be hard. Wants numpy and scikit-learn.
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, jaccard_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("dissensus")
    arguments.add_argument("file")
    arguments.add_argument("--encoder")
    arguments.add_argument("--models", default="shared,multilevel")
    arguments.add_argument("--work")
    asked = arguments.parse_args()
    work = asked.work or tempfile.mkdtemp()
    encoder = ["--encoder", asked.encoder] if asked.encoder else []
    project = os.path.join(work, "emotions.dissensus")

    def run(*words):
        return subprocess.run([asked.dissensus, *words], check=True, capture_output=True, text=True).stdout

    if not os.path.exists(project):
        run("project", "new", project)
        run("data", "import", project, asked.file)
        run("models", "encode", project, *encoder)
    found = json.loads(run("models", "evaluate", project, "--split", "column", "--models", asked.models, "--json"))
    vectors = os.path.join(work, "vectors.npy")
    if not os.path.exists(vectors):
        run("models", "embed", asked.file, vectors, *encoder)
    x = np.load(vectors)
    rows = list(csv.DictReader(open(asked.file, newline="", encoding="utf-8")))
    options = found["options"]
    y = np.array([[int(option in [part.strip() for part in row["label"].split(";")]) for option in options] for row in rows])
    assert len(rows) == len(x), "embeddings and rows are not of the same texts"
    train = np.array([row["split"] == "train" for row in rows])
    test = np.array([row["split"] == "test" for row in rows])
    print("| model | micro F1 | macro F1 | Jaccard |\n| --- | --- | --- | --- |")
    for weight in [None, "balanced"]:
        best = None
        for scaled in [False, True]:
            one = LogisticRegression(max_iter=3000, class_weight=weight)
            model = OneVsRestClassifier(make_pipeline(StandardScaler(), one) if scaled else one)
            answer = model.fit(x[train], y[train]).predict(x[test])
            figures = (
                f1_score(y[test], answer, average="micro"),
                f1_score(y[test], answer, average="macro"),
                jaccard_score(y[test], answer, average="samples", zero_division=1),
            )
            best = max(best or figures, figures)
        name = "logistic regression, one-vs-rest" + (", balanced weights" if weight else "")
        print(f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in best) + " |")
    for model in found["models"]:
        for name, scores in [(model["model"], model), (model["model"] + ", tuned thresholds", model["tuned"])]:
            print(f"| {name} | " + " | ".join(f"{scores[key]:.3f}" for key in ["micro_f1", "macro_f1", "jaccard"]) + " |")


main()
