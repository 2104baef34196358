#!/usr/bin/env python3
"""Reads what `dissensus data export` writes with the tools' own readers, and compares counts and answers.

    python3 tools/check_exchange.py DISSENSUS FOLDER

DISSENSUS is the command, FOLDER an empty folder to work in. Needs what tools/exchange_requirements.txt lists. Label Studio's files are
read by its SDK (converter, and validation against a labelling interface), tables by pandas and crowd-kit, Parquet by pyarrow, workbooks by
openpyxl, folders for the Hugging Face hub by `datasets`; documents that dkpro-cassis writes are imported; doccano's and Le-Wi-Di's files as those who publish them read them, by Python's own
modules. `cargo xtask check-exchange` runs it.
"""

import csv
import io
import json
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

TEXTS, PEOPLE = 60, ["ana", "ben", "eve@example.org", "7"]


def body(n):
    return f"😊 text {n}, so good" if n % 2 else f"text {n}\nsays \"=1+1\""


def labels():
    """Rows of a project: a rating, a yes/no, sets and spans; not everybody answers everything."""
    rows = []
    for n in range(TEXTS):
        for p, person in enumerate(PEOPLE):
            given = {"mood": str((n + p) % 5 + 1), "rude": ["no", "yes"][(n * p) % 2]}
            given["topics"] = [["a"], ["a", "b"], [], ["c, d"]][(n + 2 * p) % 4]
            given["parts"] = [] if p == 3 else [{"start": 2, "end": 6, "label": "W"}]
            for nth, (question, label) in enumerate(given.items()):
                if (n + p + nth) % 7:
                    rows.append((f"t{n}", body(n), person, question, label, f"2024-05-01T10:{n:02}:{p * 4 + nth:02}Z"))
    return rows


def name(label):
    if isinstance(label, str):
        return label
    if label and isinstance(label[0], dict):
        return json.dumps(label)
    return " + ".join(label) or "none"


class Bench:
    def __init__(self, command, folder):
        self.command, self.folder = command, Path(folder)

    def run(self, *arguments):
        done = subprocess.run([self.command, "--quiet", *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"dissensus {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def export(self, file, form, *more):
        return self.write(file, "--format", form, *more)

    def write(self, file, *options):
        return json.loads(self.run("data", "export", "P.dissensus", file, "--json", *options))

    def project(self, rows):
        self.run("project", "new", "P.dissensus")
        for question, kind, levels in [
            ("mood", "ordinal", "1,2,3,4,5"),
            ("rude", "binary", "no,yes"),
            ("topics", "multi-label", None),
            ("parts", "spans", "W"),
        ]:
            file = self.folder / f"{question}.csv"
            with file.open("w", newline="", encoding="utf-8") as out:
                table = csv.writer(out)
                table.writerow(["text_id", "text", "annotator_id", "label", "question", "created_at"])
                for text, words, person, asked, label, at in rows:
                    if asked == question:
                        shown = "[]" if question == "parts" and not label else name(label)
                        table.writerow([text, words, person, shown, asked, at])
            # A comma is part of the name of a topic, which --levels cannot say: the file does.
            options = ["--scale", kind, *(["--levels", levels] if levels else [])]
            self.run("data", "import", "P.dissensus", file.name, *options)


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, and not {wanted}")
    print(f"{what}: {found if not isinstance(found, (dict, list, set)) else 'as written'}")


def label_studio(bench, rows):
    from label_studio_sdk.converter import Converter
    from label_studio_sdk.label_interface import LabelInterface

    told = bench.export("tasks.json", "label-studio")
    config = """<View><Text name="text" value="$text"/>
      <Rating name="mood" toName="text" maxRating="5"/>
      <Choices name="rude" toName="text"><Choice value="no"/><Choice value="yes"/></Choices>
      <Choices name="topics" toName="text" choice="multiple">
        <Choice value="a"/><Choice value="b"/><Choice value="c, d"/></Choices>
      <Labels name="parts" toName="text"><Label value="W"/></Labels></View>"""
    expect("label-studio: labels", told["labels"], len(rows))
    found = Counter()
    wanted = Counter((text, person, asked, name(label)) for text, _, person, asked, label, _ in rows if label)
    for item in Converter(config, None).iter_from_json_file(str(bench.folder / "tasks.json")):
        by = item["completed_by"]
        person = str(by.get("email") if isinstance(by, dict) else by)
        for question, results in item["output"].items():
            answer = {
                "rating": lambda: str(int(results[0]["rating"])),
                "choices": lambda: name(results[0]["choices"]),
                "labels": lambda: name([{"start": r["start"], "end": r["end"], "label": r["labels"][0]} for r in results]),
            }[results[0]["type"].lower()]()
            for result in results:
                if "start" in result and item["input"]["text"][result["start"]:result["end"]] != result["text"]:
                    sys.exit(f"label-studio: {result} is elsewhere in {item['input']['text']!r}")
            if answer != "none":
                found[(str(item["id"]), person, question, answer)] += 1
    expect("label-studio: answers read by the converter", found, wanted)
    interface = LabelInterface(config)
    tasks = json.loads((bench.folder / "tasks.json").read_text(encoding="utf-8"))
    bad = [
        annotation["id"]
        for task in tasks
        for annotation in task["annotations"]
        if not interface.validate_annotation({"result": [r for r in annotation["result"] if r["value"] != {"choices": []}]})
    ]
    expect("label-studio: annotations that do not fit the interface", bad, [])


def tables(bench, rows):
    import pandas
    from crowdkit.aggregation import DawidSkene, MajorityVote

    mood = {(text, person): label for text, _, person, asked, label, _ in rows if asked == "mood"}
    told = bench.export("long.csv", "crowd-kit", "--question", "mood")
    long = pandas.read_csv(bench.folder / "long.csv", dtype=str, keep_default_na=False)
    expect("crowd-kit: columns", list(long.columns), ["task", "worker", "label"])
    expect("crowd-kit: rows", len(long), told["labels"])
    expect("crowd-kit: answers", {(t, w): l for t, w, l in long.itertuples(index=False)}, mood)
    for model in (MajorityVote(), DawidSkene(n_iter=5)):
        expect(f"crowd-kit: texts that {type(model).__name__} decides", len(model.fit_predict(long)), told["texts"])
    told = bench.export("wide.csv", "wide", "--question", "mood")
    wide = pandas.read_csv(bench.folder / "wide.csv", dtype=str).set_index("text_id").drop(columns="text")
    expect("wide: answers", {pair: label for pair, label in wide.stack().dropna().items()}, mood)
    expect("wide: texts and people", wide.shape, (told["texts"], told["people"]))


def lewidi(bench, rows):
    told = bench.export("set.json", "lewidi", "--question", "rude")
    items = json.loads((bench.folder / "set.json").read_text(encoding="utf-8"))
    found = {(text, person): label for text, item in items.items() for person, label in item["annotations"].items()}
    expect("lewidi: answers", found, {(t, p): label for t, _, p, asked, label, _ in rows if asked == "rude"})
    expect("lewidi: labels", sum(item["number of annotations"] for item in items.values()), told["labels"])
    sums = {round(sum(item["soft_label"].values()), 9) for item in items.values()}
    expect("lewidi: sums of soft labels", sums, {1.0})
    named = all(item["annotators"].split(",") == list(item["annotations"]) or
                set(item["annotators"].split(",")) == set(item["annotations"]) for item in items.values())
    expect("lewidi: annotators are those of the answers", named, True)


def doccano(bench, rows):
    bench.export("all.zip", "doccano", "--question", "parts")
    found = {}
    with zipfile.ZipFile(bench.folder / "all.zip") as archive:
        for file in archive.namelist():
            for line in io.TextIOWrapper(archive.open(file), encoding="utf-8"):
                example = json.loads(line)
                found[(example["id"], Path(file).stem)] = [example["text"][start:end] for start, end, _ in example["label"]]
    wanted = {
        (text, person): [words[span["start"]:span["end"]] for span in label]
        for text, words, person, asked, label, _ in rows
        if asked == "parts" and label
    }
    expect("doccano: words of spans", found, wanted)


def typed_tables(bench, rows):
    import openpyxl
    import pandas
    import pyarrow.parquet

    wanted = {(text, words, person, label, at) for text, words, person, asked, label, at in rows if asked == "mood"}
    told = bench.write("mood.parquet", "--question", "mood")
    table = pyarrow.parquet.read_table(bench.folder / "mood.parquet")
    expect("parquet: rows", table.num_rows, told["rows"])
    expect("parquet: type of times", str(table.schema.field("created_at").type), "timestamp[ms, tz=UTC]")
    names = ["text_id", "text", "annotator_id", "label", "created_at"]
    moment = lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")
    found = {(*row[:4], moment(row[4])) for row in zip(*(table[name].to_pylist() for name in names))}
    expect("parquet: answers", found, wanted)
    expect("parquet: columns by pandas", list(pandas.read_parquet(bench.folder / "mood.parquet").columns), table.column_names)

    bench.write("mood.xlsx", "--question", "mood")
    sheet = openpyxl.load_workbook(bench.folder / "mood.xlsx").active
    cells = list(sheet.iter_rows())
    header = [cell.value for cell in cells[0]]
    places = [header.index(name) for name in names]
    read = [[row[place] for place in places] for row in cells[1:]]
    expect("xlsx: formulas", [cell.coordinate for row in cells for cell in row if cell.data_type == "f"], [])
    expect("xlsx: type of levels", {row[3].data_type for row in read}, {"n"})
    found = {(row[0].value, row[1].value, row[2].value, str(row[3].value), row[4].value) for row in read}
    expect("xlsx: answers", found, {(text, words, str(person), label, at) for text, words, person, label, at in wanted})


def dataset(bench, rows):
    import os

    os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=str(bench.folder / "hub"))
    from datasets import load_dataset

    told = bench.write("dataset", "--hugging-face")
    loaded = load_dataset(str(bench.folder / "dataset"))
    expect("datasets: splits", list(loaded), ["train"])
    expect("datasets: rows", len(loaded["train"]), told["rows"])
    told = lambda label: label if isinstance(label, str) else name(label)
    found = {(row["text_id"], row["annotator_id"], row["question"]) for row in loaded["train"]}
    expect("datasets: who answered what", found, {(text, person, asked) for text, _, person, asked, _, _ in rows})
    found = {(row["text_id"], row["annotator_id"]): row["label"] for row in loaded["train"] if row["question"] == "mood"}
    expect("datasets: answers", found, {(text, person): told(label) for text, _, person, asked, label, _ in rows if asked == "mood"})


def summaries(bench, rows):
    import pandas

    mood = pandas.DataFrame([row for row in rows if row[3] == "mood"], columns=["t", "text", "p", "q", "label", "at"])
    mood["level"] = mood["label"].astype(int)
    bench.write("texts.csv", "--rows", "texts", "--question", "mood", "--aggregate", "majority")
    texts = pandas.read_csv(bench.folder / "texts.csv", dtype={"text_id": str}).set_index("text_id")
    # A text without a label for this question has no figures.
    labelled = texts[texts["labels"] > 0].sort_index()
    wanted = mood.groupby("t").agg(labels=("level", "size"), mean=("level", "mean")).sort_index()
    expect("texts: labels", labelled["labels"].to_dict(), wanted["labels"].to_dict())
    expect("texts: means", (labelled["mean"] - wanted["mean"]).abs().max() < 1e-6, True)
    counts = mood.groupby(["t", "label"]).size().unstack(fill_value=0)
    for level in "12345":
        expect(f"texts: count of {level}", labelled[f"count_{level}"].to_dict(), counts[level].to_dict())
    shares = labelled[[f"share_{level}" for level in "12345"]]
    expect("texts: sums of shares", ((shares.sum(axis=1) - 1).abs() < 1e-6).all(), True)
    clear = labelled[~labelled["aggregated_tie"].astype(str).str.lower().eq("true")]
    most = counts.idxmax(axis=1).astype(int)
    expect("texts: labels of the majority", (clear["aggregated"].astype(int) == most[clear.index]).all(), True)
    bench.write("people.parquet", "--rows", "people", "--question", "mood")
    people = pandas.read_parquet(bench.folder / "people.parquet").set_index("annotator_id")
    expect("people: labels", people["labels"].to_dict(), mood.groupby("p").size().to_dict())
    means = mood.groupby("p")["level"].mean()
    expect("people: means", (people["mean"] - means).abs().max() < 1e-6, True)


def inception(bench):
    """A project of two documents as INCEpTION exports it, of which dkpro-cassis writes one as JSON and one as XMI, imported."""
    from cassis import Cas, TypeSystem

    types = TypeSystem()
    tone = types.create_type("webanno.custom.Tone", "uima.tcas.Annotation")
    types.create_feature(tone, "value", "uima.cas.String")
    whole = types.create_type("webanno.custom.Whole", "uima.cas.AnnotationBase")
    types.create_feature(whole, "mood", "uima.cas.String")
    with zipfile.ZipFile(bench.folder / "project.zip", "w") as archive:
        archive.writestr("exportedproject1.json", json.dumps({"name": "made"}))
        for person, mood, write in [("ana", "calm", Cas.to_json), ("ben", "angry", Cas.to_xmi)]:
            cas = Cas(types)
            cas.sofa_string, cas.sofa_mime = "😊 so good", "text/plain"
            cas.add(tone(begin=5, end=9, value="W"))
            cas.add(whole(mood=mood))
            archive.writestr(f"annotation/one.txt/{person}.{write.__name__[3:]}", write(cas))
    bench.run("project", "new", "Q.dissensus")
    told = json.loads(bench.run("data", "import", "Q.dissensus", "project.zip", "--json"))
    expect("dkpro-cassis: labels", told["labels"], 4)
    bench.run("data", "export", "Q.dissensus", "cas.jsonl")
    labels = [json.loads(line) for line in (bench.folder / "cas.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {(row["annotator_id"], row["question"]): row["label"] for row in labels}
    span = [{"start": 5, "end": 9, "label": "W"}]
    spans = {who: found[(who, "Tone.value")] for who in ("ana", "ben")}
    expect("dkpro-cassis: spans", spans, {"ana": span, "ben": span})
    moods = {who: found[(who, "Whole.mood")] for who in ("ana", "ben")}
    expect("dkpro-cassis: answers", moods, {"ana": "calm", "ben": "angry"})


def main():
    bench, rows = Bench(*sys.argv[1:]), labels()
    bench.project(rows)
    label_studio(bench, rows)
    tables(bench, rows)
    lewidi(bench, rows)
    doccano(bench, rows)
    typed_tables(bench, rows)
    dataset(bench, rows)
    summaries(bench, rows)
    inception(bench)


if __name__ == "__main__":
    main()
