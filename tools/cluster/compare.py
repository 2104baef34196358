"""Ray Data and Spark beside two plain processes, on this machine: throughput, start-up, and whether every number is the same.

    python tools/cluster/compare.py BUNDLE WORK --texts CSV... [--count 20000] [--people 1,2,3] [--rounds 3] [--kill] [--recipes]

Makes WORK/texts.parquet from the texts of CSV files (column `text`, at most --longest characters), drawn in an order of their own, repeated and
numbered to --count. In each round the engines and the plain processes take turns, with as many workers, the same texts in batches of the same size and
one thread a worker. A throughput is of the time from the beginning of the first batch to the end of the last; start-up is what lies before, and
the rest what comes after. Every run must have the same rows as the first plain one, each once.

--kill instead: a worker that has a third of its texts done is killed (SIGKILL), and the rows must be the same. --recipes: the recipes
of docs/src/how-to/cluster.md are run in WORK/recipes. Speeds drift with what else the machine does: compare within a round.
"""

import argparse
import csv
import glob
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))


def make_texts(files, count, longest, path):
    """The texts of the files, repeated under new ids."""
    bodies = {}
    for file in files:
        with open(file, newline="", encoding="utf-8") as rows:
            bodies.update((row["text"], None) for row in csv.DictReader(rows) if row["text"].strip() and len(row["text"]) <= longest)
    bodies = list(bodies)
    random.Random(0).shuffle(bodies)
    table = {"text_id": [f"t{at:07}" for at in range(count)], "text": [bodies[at % len(bodies)] for at in range(count)]}
    pq.write_table(pa.table(table), path, row_group_size=1000)
    print(f"{count} texts, {min(count, len(bodies))} different ones, {sum(map(len, table['text'])) / count:.0f} characters each")


def start(engine, options, run, log):
    shutil.rmtree(run, ignore_errors=True)
    shutil.rmtree(log, ignore_errors=True)
    os.makedirs(log)
    script = os.path.join(HERE, f"{engine}_predict.py")
    arguments = [os.path.join(options.work, "texts.parquet"), options.bundle, run, "--log", log, "--workers", str(options.workers)]
    arguments += ["--batch", str(options.batch), "--way", options.way]
    if options.people:
        arguments += ["--people", options.people]
    said = open(os.path.join(options.work, f"{engine}.log"), "w", encoding="utf-8")
    return subprocess.Popen([sys.executable, script, *arguments], stdout=said, stderr=subprocess.STDOUT)


def logged(log):
    """What each worker's process has written so far: its number, and its batches."""
    found = {}
    for path in glob.glob(os.path.join(log, "*.jsonl")):
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        found[int(os.path.basename(path).split(".")[0])] = [line for line in lines if "texts" in line]
    return found


def rows_of(run):
    """All rows in the order of texts and people, as one table."""
    parts = [pq.read_table(path) for path in sorted(glob.glob(os.path.join(run, "*.parquet")))]
    # Engines differ in how wide they write the offsets of strings.
    table = pa.concat_tables(pa.table({name: narrow(part[name]) for name in part.column_names}) for part in parts)
    keys = [(name, "ascending") for name in ("text_id", "annotator_id") if name in table.column_names]
    return table.sort_by(keys).combine_chunks()


def narrow(column):
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def same(expected, found, what):
    """Ends the program where rows differ in anything but the last digits, and says how many are equal to the last bit."""
    assert found.column_names == expected.column_names, (what, found.column_names)
    assert found.num_rows == expected.num_rows, (what, found.num_rows, expected.num_rows)
    equal, largest = 0, 0.0
    for name in expected.column_names:
        a, b = expected[name], found[name]
        if pa.types.is_floating(a.type):
            off = pc.abs(pc.subtract(a.cast(pa.float64()), b.cast(pa.float64())))
            largest = max(largest, pc.max(off).as_py() or 0.0)
            assert a.null_count == b.null_count == 0
        else:
            assert a.equals(b), f"{what}: {name} differs"
        equal += a.equals(b)
    assert largest <= 1e-5, f"{what}: off by {largest}"
    return f"{found.num_rows} rows, {equal} of {len(expected.column_names)} columns equal to the last bit, largest difference {largest:.1e}"


def measure(engine, options):
    run, log = os.path.join(options.work, f"{engine}-out"), os.path.join(options.work, f"{engine}-log")
    began = time.time()
    process = start(engine, options, run, log)
    if process.wait():
        sys.exit(f"{engine} failed: see {options.work}/{engine}.log")
    ended = time.time()
    found = logged(log)
    batches = [batch for batches in found.values() for batch in batches]
    first, last = min(batch["began"] for batch in batches), max(batch["ended"] for batch in batches)
    texts = sum(batch["texts"] for batch in batches)
    assert texts == options.count, (engine, texts)
    result = {
        "texts/s": texts / (last - first),
        "start-up": first - began,
        "scoring": last - first,
        "rest": ended - last,
        "cpu ms a text": 1000 * sum(batch["cpu"] for batch in batches) / texts,
        "workers": len(found),
        "batches": len(batches),
    }
    return rows_of(run), result


def compare(options):
    expected, ratios, speeds, processor = None, {}, {}, {}
    for round_ in range(options.rounds):
        found = {}
        for engine in ["plain", *options.engines]:
            rows, found[engine] = measure(engine, options)
            expected = rows if expected is None else expected
            checked = same(expected, rows, engine)
            numbers = ", ".join(f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}" for name, value in found[engine].items())
            print(f"round {round_ + 1}, {engine}: {numbers}; {checked}", flush=True)
            speeds.setdefault(engine, []).append(found[engine]["texts/s"])
            processor.setdefault(engine, []).append(found[engine]["cpu ms a text"])
        for engine in options.engines:
            ratios.setdefault(engine, []).append(found[engine]["texts/s"] / found["plain"]["texts/s"])
    for engine, of in ratios.items():
        print(f"{engine} / plain: median {statistics.median(of):.2f} of {', '.join(f'{one:.2f}' for one in of)} (bar 0.9)")
        print(f"  processor's time of the workers: {statistics.median(processor[engine]) / statistics.median(processor['plain']):.2f} of plain's")


def kill(options):
    expected, _ = measure("plain", options)
    for engine in options.engines:
        run, log = os.path.join(options.work, f"{engine}-out"), os.path.join(options.work, f"{engine}-log")
        process = start(engine, options, run, log)
        killed = None
        while process.poll() is None and killed is None:
            time.sleep(0.1)
            for worker, batches in logged(log).items():
                # A process that has written to the log of this run, and still does what a worker does.
                if 3 * options.workers * sum(batch["texts"] for batch in batches) >= options.count and is_worker(worker):
                    os.kill(worker, signal.SIGKILL)
                    killed = worker
                    break
        status = process.wait()
        assert killed is not None, f"{engine} ended before a worker could be killed"
        if status:
            sys.exit(f"{engine} failed: see {options.work}/{engine}.log")
        found = logged(log)
        texts = sum(batch["texts"] for batches in found.values() for batch in batches)
        done = sum(batch["texts"] for batch in found[killed])
        print(f"{engine}: killed a worker after {done} texts; {len(found)} processes scored {texts} texts for {options.count}", flush=True)
        print(f"  {same(expected, rows_of(run), engine)}", flush=True)


def is_worker(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            line = file.read()
    except OSError:
        return False
    return "ray::" in line or "pyspark" in line


def recipes(options):
    """The recipes of docs/src/how-to/cluster.md, run in a folder with a bundle and texts of the names that they use."""
    folder = os.path.join(options.work, "recipes")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    names = ["ray_recipe.py", "spark_recipe.py"]
    for name in ["scorer.py", *names]:
        shutil.copy(os.path.join(HERE, name), os.path.join(folder, name))
    shutil.copytree(options.bundle, os.path.join(folder, "my-model"))
    shutil.copy(os.path.join(options.work, "texts.parquet"), os.path.join(folder, "texts.parquet"))
    options.people, options.way = None, "by_text"
    expected, _ = measure("plain", options)
    # As on a machine that has the bundle and no other encoder.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("DISSENSUS_")}
    for name in names:
        began = time.time()
        subprocess.run([sys.executable, name], cwd=folder, env=clean, check=True)
        out = os.path.join(folder, f"scored-{name.split('_')[0]}")
        print(f"{name}: {time.time() - began:.0f} s; {same(expected, rows_of(out), name)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle")
    parser.add_argument("work")
    parser.add_argument("--texts", nargs="+", required=True)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--longest", type=int, default=140)
    parser.add_argument("--people")
    parser.add_argument("--way", choices=["by_person", "by_text"], default="by_person")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", default="ray,spark", type=lambda names: [name for name in names.split(",") if name])
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--recipes", action="store_true")
    options = parser.parse_args()
    options.bundle, options.work = os.path.abspath(options.bundle), os.path.abspath(options.work)
    os.makedirs(options.work, exist_ok=True)
    make_texts(options.texts, options.count, options.longest, os.path.join(options.work, "texts.parquet"))
    if options.kill:
        kill(options)
    elif options.recipes:
        recipes(options)
    else:
        compare(options)
