#!/usr/bin/env python3
"""Makes the labels of the sample project, exactly as SIMULATION.md states. Standard library only.

    python3 sample/simulate.py            writes sample/labels.csv
    python3 sample/simulate.py --check    exits 1 where labels.csv is not what the formula gives
"""

import csv
import io
import math
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SEED = 20261121
LABELLED_TEXTS = 130
TEXTS_EACH = 91  # 70 % of 130
CHOOSE, NOISE_RADIUS, NOISE_ANGLE = 0, 1, 2
MASK = (1 << 64) - 1


def uniform(annotator: int, text: int, use: int) -> float:
    """A number in [0, 1) that depends on nothing but its arguments: the first output of SplitMix64."""
    z = (SEED * 1_000_003 + annotator * 1_000_000 + text * 10 + use + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 11) / float(1 << 53)


def normal(annotator: int, text: int) -> float:
    """A standard normal number, by Box and Muller (1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(annotator, text, NOISE_RADIUS)))
    return radius * math.cos(2.0 * math.pi * uniform(annotator, text, NOISE_ANGLE))


def latent(person: dict, comment: dict, a: int, t: int) -> float:
    """How harsh this annotator finds this comment, in levels."""
    return (
        float(comment["sim_severity"])
        + float(person["sim_severity"])
        + float(person["sim_taste_" + comment["topic"]])
        + float(person["sim_profanity"]) * float(comment["sim_profanity"])
        - float(person["sim_irony_blindness"]) * float(comment["sim_irony"])
        + float(person["sim_noise"]) * normal(a, t)
    )


def level(z: float) -> int:
    """The answer to `offensiveness`: thresholds at 1, 2, 3 and 4."""
    return 1 + sum(z >= threshold for threshold in (1.0, 2.0, 3.0, 4.0))


def read(name: str) -> list[dict]:
    with open(FOLDER / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def labels() -> str:
    comments, people = read("comments.csv")[:LABELLED_TEXTS], read("annotators.csv")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["text_id", "annotator_id", "offensiveness", "remove"])
    for a, person in enumerate(people):
        by_lot = sorted(range(len(comments)), key=lambda t: (uniform(a, t, CHOOSE), t))
        for t in sorted(by_lot[:TEXTS_EACH]):
            z = latent(person, comments[t], a, t)
            remove = "yes" if z >= float(person["sim_remove_from"]) else "no"
            writer.writerow([comments[t]["text_id"], person["annotator_id"], level(z), remove])
    return out.getvalue()


def main() -> int:
    target, made = FOLDER / "labels.csv", labels()
    if "--check" in sys.argv[1:]:
        same = target.read_text(encoding="utf-8") == made
        print("labels.csv is what the formula gives" if same else "labels.csv differs from the formula")
        return 0 if same else 1
    target.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
