"""The peer of `dissensus-bench import`: what a careful person writes with csv and sqlite3.

    python3 import_peer.py LABELS.csv OUT.sqlite

Reads columns text_id, text, annotator_id, label (and, where there is one, split) into three tables with the same keys as a
project file and one index, in one transaction, durable at the end. Prints the seconds it took, without Python's start.
"""

import csv
import sqlite3
import sys
import time

source, target = sys.argv[1:3]
started = time.perf_counter()
db = sqlite3.connect(target)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = FULL")
db.executescript(
    """
    CREATE TABLE texts (id INTEGER PRIMARY KEY, external_id TEXT NOT NULL UNIQUE, body TEXT NOT NULL, split TEXT);
    CREATE TABLE annotators (id INTEGER PRIMARY KEY, external_id TEXT NOT NULL UNIQUE);
    CREATE TABLE labels (
        id INTEGER PRIMARY KEY,
        text INTEGER NOT NULL REFERENCES texts (id),
        annotator INTEGER NOT NULL REFERENCES annotators (id),
        level INTEGER NOT NULL
    );
    CREATE INDEX labels_by_text ON labels (text, annotator, id);
    """
)
texts, annotators, levels, labels = {}, {}, {}, []
with open(source, newline="", encoding="utf-8-sig") as file:
    for row in csv.DictReader(file):
        text = texts.setdefault(row["text_id"], (len(texts) + 1, row["text"], row.get("split")))[0]
        annotator = annotators.setdefault(row["annotator_id"], len(annotators) + 1)
        labels.append((text, annotator, levels.setdefault(row["label"], len(levels))))
with db:
    db.executemany("INSERT INTO texts VALUES (?, ?, ?, ?)", ((i, e, b, s) for e, (i, b, s) in texts.items()))
    db.executemany("INSERT INTO annotators VALUES (?, ?)", ((i, e) for e, i in annotators.items()))
    db.executemany("INSERT INTO labels (text, annotator, level) VALUES (?, ?, ?)", labels)
db.close()
print(time.perf_counter() - started)
