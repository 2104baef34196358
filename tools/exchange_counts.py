#!/usr/bin/env python3
"""Counts what is in files of annotation tools, apart from our own readers: what an import has to come to.

    python3 tools/exchange_counts.py FOLDER > counts.json

Prints one JSON object: for each file (its path in FOLDER) either {"refused": WHY}, or the numbers of texts, annotators, labels, second
and later answers (repeats), skips, labels with a time, labels with a duration. Python alone, nothing to install.
"""

import csv
import io
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import defaultdict


class Counted:
    """The answers of one file."""

    def __init__(self, default_annotator=None):
        self.texts, self.people, self.skips = set(), set(), 0
        self.skipped = set()
        self.given = defaultdict(dict)  # (person, text, question) -> {(time, answer): duration}
        self.bad = 0
        self.default = default_annotator

    def answer(self, person, text, question, answer, time=None, duration=None):
        person = person or self.default
        self.texts.add(text)
        self.people.add(person)
        self.given[person, text, question].setdefault((time, answer), duration)

    def skip(self, person, text, question):
        person = person or self.default
        self.texts.add(text)
        self.people.add(person)
        self.skips += 1
        self.skipped.add((person, text, question))

    def result(self):
        answers = [(time, duration) for each in self.given.values() for (time, _), duration in each.items()]
        return {
            "texts": len(self.texts),
            "annotators": len(self.people - {None}),
            "labels": len(self.given),
            "repeats": len(answers) - len(self.given),
            "skips": self.skips,
            "still_skipped": len(self.skipped - set(self.given)),
            "timed": sum(time is not None for time, _ in answers),
            "durations": sum(duration is not None for _, duration in answers),
            "bad": self.bad,
        }


def refused(why):
    return {"refused": why}


def label_studio(tasks):
    taken = {"choices", "rating", "number", "labels", "pairwise", "taxonomy"}
    counted, questions, others = Counted(), set(), set()
    for task in tasks:
        counted.texts.add(task["id"])
        for annotation in task["annotations"]:
            who = annotation.get("completed_by")
            who = who.get("email") or who.get("id") if isinstance(who, dict) else who
            if annotation.get("was_cancelled"):
                counted.skip(who, task["id"], None)
                continue
            grouped = defaultdict(list)
            for result in annotation["result"]:
                if result["type"] in taken and "x" not in result["value"]:
                    grouped[result["from_name"]].append(json.dumps(result["value"], sort_keys=True))
                else:
                    others.add(result["type"])
            for question, values in grouped.items():
                questions.add(question)
                answer = "|".join(values)
                # A name of a level has no line ends and tabs in it.
                if re.search(r"\\[nt]", answer):
                    counted.bad += 1
                    continue
                counted.answer(
                    who, task["id"], question, answer, annotation.get("created_at"), annotation.get("lead_time")
                )
    if not counted.given:
        return refused("no answers about texts that can be a level: " + ", ".join(sorted(others)))
    return counted.result()


def prodigy(lines):
    counted = Counted(default_annotator="somebody")
    for line in lines:
        who = line.get("_annotator_id") or line.get("_session_id")
        if line["answer"] == "ignore":
            counted.skip(who, line["_input_hash"], line["label"])
        else:
            counted.answer(who, line["_input_hash"], line["label"], line["answer"], line.get("_timestamp"))
    return counted.result()


def lewidi(entries):
    counted = Counted()
    for key, entry in entries.items():
        given = entry["annotations"]
        if isinstance(given, str):
            given = dict(zip(entry["annotators"].split(","), given.split(",")))
        for person, answer in given.items():
            counted.answer(person, key, entry["annotation task"], answer)
    return counted.result()


def lewidi_people(people):
    known = sum(value not in ("DATA_EXPIRED", "nan") for person in people.values() for value in person.values())
    return {"annotators": len(people), "attributes": known}


def doccano(examples):
    """Files for an import name nobody: whoever imports them says whose they are."""
    counted = Counted(default_annotator="somebody")
    for example in examples:
        text = example.get("text")
        if text is None:
            counted.bad += 1
            continue
        counted.texts.add(text)
        labels = example.get("label", example.get("labels"))
        if labels:
            counted.answer(None, text, "label", json.dumps(labels))
    return counted.result()


def webanno_tsv(text, default):
    counted = Counted(default_annotator=default)
    header = re.findall(r"^#T_(SP|RL|CH)=(.*)$", text, re.MULTILINE)
    body = re.findall(r"^#Text=(.*)$", text, re.MULTILINE)
    column, found = 0, set()
    for kind, layer in header:
        features = layer.split("|")[1:]
        for nth, feature in enumerate(features or [""]):
            cells = [line.split("\t")[3 + column + nth] for line in text.splitlines() if re.match(r"\d+-\d+\t", line)]
            values = {cell for cell in cells if cell != "_"}
            if kind == "SP" and values:
                found.add((layer, feature))
        column += max(1, len(features))
    for layer, feature in found:
        counted.answer(default, "\n".join(body), f"{layer}.{feature}", "spans")
    return counted.result()


def xmi(data, default):
    counted = Counted(default_annotator=default)
    root = ElementTree.fromstring(data)
    body = next(e.get("sofaString") for e in root if e.tag.endswith("}Sofa"))
    plain = ("Token", "Sentence", "DocumentMetaData", "Sofa", "View", "NULL")
    for element in root:
        name = element.tag.split("}")[1]
        if name in plain:
            continue
        own = {key for key in element.attrib if not key.startswith("{")} - {"sofa", "begin", "end"}
        for feature in own or {""}:
            counted.answer(default, body, f"{name}.{feature}", "spans")
    return counted.result()


def inception(path):
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    readable = [n for n in names if re.match(r"annotation/[^/]+/(?!INITIAL_CAS|CURATION_USER)[^/]+\.(tsv|xmi)$", n)]
    sources = [n for n in names if re.match(r"source/[^/]+\.txt$", n)]
    serialised = [n for n in names if n.startswith("annotation_ser/") and "INITIAL_CAS" not in n]
    assert not readable, "count the annotations of this archive, too"
    result = Counted().result()
    result["texts"] = len(sources)
    result["serialised"] = len(serialised)
    result["curated"] = len([n for n in names if n.startswith("curation/")])
    return result


def plain_csv(data):
    """A table of texts and labels of nobody."""
    return table(list(csv.reader(io.StringIO(data))))


def sheet(path):
    """The cells of the first sheet of a workbook, as rows of strings."""
    of = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as archive:
        shared = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
        strings = ["".join(t.text or "" for t in item.iter(of + "t")) for item in shared.iter(of + "si")]
        cells = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in cells.iter(of + "row"):
        values = []
        for cell in row.iter(of + "c"):
            value = cell.find(of + "v")
            assert value is None or cell.get("t") == "s", "count the numbers of this workbook, too"
            values.append("" if value is None else strings[int(value.text)])
        while values and not values[-1]:
            values.pop()
        if values:
            rows.append(values)
    return rows


def table(rows):
    names, *rows = ([value.strip() if nth == 0 else value for value in row] for nth, row in enumerate(rows))
    if any(len(row) > len(names) for row in rows):
        return refused("rows with more values than columns")
    if "text" not in names:
        return refused("the first row names no column of texts")
    rows = [dict(zip(names, row + [""] * (len(names) - len(row)))) for row in rows if row]
    counted = Counted(default_annotator="somebody")
    for row in rows:
        if not row["text"].strip():
            counted.bad += 1
            continue
        counted.texts.add(row["text"])
        counted.people.add("somebody")
        if row["label"].strip():
            counted.answer(None, row["text"], "label", row["label"])
    return counted.result()


def conll(data):
    counted = Counted(default_annotator="somebody")
    for block in re.split(r"\n\s*\n", data.strip()):
        lines = [re.split(r"\t|\s+", line) for line in block.splitlines()]
        if any(not re.match(r"(O|[BIESLU]-.+)$", fields[-1]) for fields in lines):
            counted.bad += 1
            continue
        counted.answer(None, " ".join(fields[0] for fields in lines), "label", "spans")
    return counted.result()


def count(path):
    name = os.path.basename(path)
    if name.endswith(".xlsx"):
        return table(sheet(path))
    if name.endswith(".zip"):
        return inception(path)
    with open(path, "rb") as file:
        data = file.read()
    text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8")
    if name.endswith(".xmi"):
        return xmi(data, "somebody")
    if text.startswith("#FORMAT=WebAnno"):
        return webanno_tsv(text, "somebody")
    if name.endswith(".conll"):
        return conll(text)
    if name.endswith(".jsonl"):
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        return prodigy(lines) if "answer" in lines[0] else doccano(lines)
    if name.endswith(".json"):
        value = json.loads(text)
        if isinstance(value, list):
            return label_studio(value) if "data" in value[0] else doccano(value)
        first = next(iter(value.values()))
        return lewidi(value) if "annotations" in first else lewidi_people(value)
    if text.startswith('"_row_id"\t"agreement"'):
        return refused("an export of Label Studio without a column of answers")
    return plain_csv(text)


def main():
    folder = sys.argv[1]
    counts = {}
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(root, name)
            key = os.path.relpath(path, folder).replace(os.sep, "/")
            if key != "README.md":
                counts[key] = count(path)
    json.dump(counts, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
