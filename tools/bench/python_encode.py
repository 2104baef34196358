"""Encoder.encode beside sentence-transformers, in one run on the same texts and weights.

    python tools/bench/python_encode.py TEXTS.csv [--column text] [--encoder NAME] [--weights FOLDER] [--rounds 3]

Wants the package `dissensus` in a release build (`pip install ./python`) and `sentence-transformers`. Both read the encoder's folder; the turns of
the two alternate, and the fastest of each counts. Prints texts a second and their ratio, and the smallest cosine between the two embeddings of a text.
"""

import argparse
import csv
import os
import time

import numpy as np

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("texts")
parser.add_argument("--column", default="text")
parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
parser.add_argument("--weights", help="the encoder's folder [default: models/NAME beside this checkout]")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--precision", choices=["fp32", "fast"], default="fp32")
asked = parser.parse_args()

from sentence_transformers import SentenceTransformer

from dissensus import Encoder

with open(asked.texts, newline="", encoding="utf-8") as file:
    texts = list(dict.fromkeys(row[asked.column] for row in csv.DictReader(file)))
here = os.path.dirname(os.path.abspath(__file__))
folder = asked.weights or os.path.join(here, "..", "..", "models", asked.encoder)

ours = Encoder(folder, precision=asked.precision, long_texts="truncate")
theirs = SentenceTransformer(os.path.abspath(folder), device="cpu")
engines = {
    "dissensus": lambda some: ours.encode(some),
    "sentence-transformers": lambda some: theirs.encode(some, batch_size=32, show_progress_bar=False),
}
best = {name: float("inf") for name in engines}
made = {}
for name, encode in engines.items():
    encode(texts[:64])
for _ in range(asked.rounds):
    for name, encode in engines.items():
        started = time.perf_counter()
        made[name] = np.asarray(encode(texts))
        best[name] = min(best[name], time.perf_counter() - started)
for name, seconds in best.items():
    print(f"{name}: {len(texts) / seconds:.1f} texts/s ({len(texts)} texts in {seconds:.2f} s)")
print(f"ratio: {best['sentence-transformers'] / best['dissensus']:.2f}")
a, b = made["dissensus"], made["sentence-transformers"]
cosines = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
print(f"smallest cosine: {cosines.min():.6f}")
