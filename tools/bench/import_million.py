"""Seconds and peak memory of `dissensus data import` beside a script that does the same with pyarrow and sqlite3, in one run.

    python3 tools/bench/import_million.py DISSENSUS [--texts 200000 --people 2000 --labels 1000000 --rounds 3 --formats parquet,csv]

DISSENSUS is a release build of the command. Makes a file of labels (200,000 texts of some 100 characters, 2,000 people, five labels a text,
with times) as Parquet and as CSV, and for each in turns:
- imports it into a new project with the command (guessing included, nothing told but the question);
- reads it with pyarrow and inserts texts, annotators, events and current answers with `executemany` into a new project of the same tables, indexes,
  triggers and constraints, in one transaction with synchronous=FULL.
Prints both times of each round, the median of the ratios (ours over the script's; below 1 is faster), and the command's peak memory.
Both end with the same number of rows in each table, which is checked. Needs pyarrow.
"""

import argparse
import datetime
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

WORDS = "you are so very kind rude calm today nobody asked for this comment about the game last night and it shows again".split()


def make(folder, texts, people, labels):
    draw = random.Random(1)
    bodies = [f"{n}: " + " ".join(draw.choices(WORDS, k=18)) for n in range(texts)]
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    each = labels // texts
    rows = {"text_id": [], "text": [], "annotator_id": [], "label": [], "created_at": []}
    for text in range(texts):
        for person in draw.sample(range(people), each):
            rows["text_id"].append(f"t{text}")
            rows["text"].append(bodies[text])
            rows["annotator_id"].append(f"a{person}")
            rows["label"].append(str(draw.randint(1, 5)))
            at = start + datetime.timedelta(seconds=len(rows["label"]))
            rows["created_at"].append(at.isoformat().replace("+00:00", "Z"))
    table = pa.table(rows)
    pq.write_table(table, folder / "labels.parquet")
    pacsv.write_csv(table, folder / "labels.csv")


def by_script(file, project):
    """What a person would write who knows the tables."""
    read = pq.read_table(file) if file.suffix == ".parquet" else pacsv.read_csv(
        file, convert_options=pacsv.ConvertOptions(column_types={"label": pa.string(), "created_at": pa.string()})
    )
    connection = sqlite3.connect(project, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    columns = [read[name].to_pylist() for name in ["text_id", "text", "annotator_id", "label", "created_at"]]
    texts, people, levels = {}, {}, {}
    text_rows, events, current = [], [], []
    for text_id, body, person, label, at in zip(*columns):
        text = texts.get(text_id)
        if text is None:
            text = texts[text_id] = len(texts) + 1
            text_rows.append((text, text_id, body))
        person = people.setdefault(person, len(people) + 1)
        level = int(label) - 1
        levels[level] = label
        at_ms = int(datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() * 1000)
        event = len(events) + 1
        events.append((event, 1, event, "answer", 1, text, person, at_ms, "import", level))
        current.append((1, text, person, event, level))
    connection.execute("BEGIN IMMEDIATE")
    # Whose events they are: this copy of the project.
    if connection.execute("SELECT count(*) FROM copies").fetchone()[0] == 0:
        connection.execute("INSERT INTO copies (id, uid, made_at_ms) VALUES (1, ?, ?)", (os.urandom(16), int(time.time() * 1000)))
    connection.execute("INSERT INTO questions (id, name, prompt, scale) VALUES (1, 'q', 'q', 'ordinal')")
    names = [row[1] for row in connection.execute("PRAGMA table_info(levels)")]
    assert names[:3] == ["question", "level", "name"], names
    connection.executemany("INSERT INTO levels (question, level, name) VALUES (1, ?, ?)", sorted(levels.items()))
    connection.executemany("INSERT INTO texts (id, external_id, body) VALUES (?, ?, ?)", text_rows)
    connection.executemany(
        "INSERT INTO annotators (id, external_id, name) VALUES (?, ?, ?)",
        [(number, name, name) for name, number in people.items()],
    )
    connection.executemany(
        "INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, source, level) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        events,
    )
    connection.executemany(
        "INSERT INTO current_answers (question, occasion, text, annotator, event, level) VALUES (?, 1, ?, ?, ?, ?)", current
    )
    connection.execute("COMMIT")
    connection.close()


def counts(project):
    connection = sqlite3.connect(project)
    tables = ["texts", "annotators", "events", "current_answers", "levels"]
    return [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dissensus", type=pathlib.Path)
    parser.add_argument("--texts", type=int, default=200_000)
    parser.add_argument("--people", type=int, default=2_000)
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", default="parquet,csv")
    parser.add_argument("--script-alone", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make-alone", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.make_alone:
        make(args.make_alone, args.texts, args.people, args.labels)
        return
    if args.script_alone:
        by_script(pathlib.Path(args.script_alone[0]), args.script_alone[1])
        return
    command = str(args.dissensus.resolve())
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        environment = {**os.environ, "DISSENSUS_HOME": str(folder / "home")}
        # By a process of its own: what a process starts begins with its peak of memory.
        sizes = ["--texts", str(args.texts), "--people", str(args.people), "--labels", str(args.labels)]
        subprocess.run([sys.executable, __file__, command, "--make-alone", folder, *sizes], check=True)
        for ending in args.formats.split(","):
            file, ratios, peak = folder / f"labels.{ending}", [], 0
            for turn in range(args.rounds):
                projects = {}
                for who in ["ours", "script"]:
                    projects[who] = folder / f"{ending}-{turn}-{who}.dissensus"
                    subprocess.run([command, "project", "new", projects[who]], env=environment, check=True, stdout=subprocess.DEVNULL)
                own = [sys.executable, __file__, command, "--script-alone", str(file), str(projects["script"])]
                ours = [command, "data", "import", str(projects["ours"]), str(file), "--question", "q", "--json"]
                seconds = {}
                order = [("ours", ours), ("script", own)]
                for who, run in order if turn % 2 == 0 else reversed(order):
                    started = time.monotonic()
                    child = subprocess.Popen(run, env=environment, stdout=subprocess.DEVNULL)
                    _, status, used = os.wait4(child.pid, 0)
                    assert status == 0, run
                    seconds[who] = time.monotonic() - started
                    if who == "ours":
                        peak = max(peak, used.ru_maxrss / 1024)
                found = [counts(projects[who]) for who in ["ours", "script"]]
                assert found[0] == found[1], found
                ratios.append(seconds["ours"] / seconds["script"])
                print(f"{ending}: {seconds['ours']:.2f} s by import, {seconds['script']:.2f} s by the script", flush=True)
                for project in projects.values():
                    for left in folder.glob(project.name + "*"):
                        left.unlink()
            print(f"{ending}: ratio {statistics.median(ratios):.2f} (median of {args.rounds}), peak {peak:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
