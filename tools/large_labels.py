"""Writes a CSV file of 1,000,000 labels (200,000 texts, 2,000 annotators, about 51 MB), the same on every machine.

    python3 tools/large_labels.py labels.csv [LABELS [TEXTS [ANNOTATORS]]]

Used for the figures on large projects in BENCHMARKS.md. Every text has the same number of labels by different annotators; how
severe an annotator is and how rude a text is decide the label.
"""

import random
import sys

WORDS = "this that the a of in you they we not so very never always quite well said bad good idea point read again".split()


def main(path, labels=1_000_000, texts=200_000, annotators=2_000):
    draw = random.Random(10)
    severity = [draw.gauss(0, 1) for _ in range(annotators)]
    each = labels // texts
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write("text_id,text,annotator_id,label\n")
        for text in range(texts):
            body = " ".join(draw.choices(WORDS, k=8))
            rude = draw.gauss(0, 1)
            for annotator in draw.sample(range(annotators), each):
                level = round(3 + rude + severity[annotator] + draw.gauss(0, 0.7))
                out.write(f"t{text},{body},a{annotator},{min(5, max(1, level))}\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
