"""One table of every model and baseline on six data sets with several annotators, with intervals, as Markdown.

    python tools/bench/table.py DISSENSUS DATA [--only popquorn,gwsd] [--encoder NAME] [--seeds 3] [--work DIR] [--results FILE]
    python tools/bench/table.py --read FILE [--only popquorn,gwsd] [--columns accuracy,brier]

DISSENSUS is the built command, DATA the folder with popquorn_offensiveness.csv, md_agreement.csv, csc.csv, gwsd.csv, haterep.csv and
pachinger_spans.jsonl; a set whose file is missing is an error. FILE keeps all figures: with --read they are printed again, other columns too. Each set is imported and encoded once (projects are kept in --work and used
again), then `dissensus models evaluate --models all --prediction-sets --json` is asked on its official split, or by text (70 % train) under the seeds 0, 1, ...
haterep is its first phase alone, without rows that have no text; pachinger is "any span marked". Figures of several seeds are means. An interval is 90 % of the difference from multilevel, over texts and annotators together; of several seeds the
mean of their half-widths, which claims nothing for having several (their test texts overlap). Only the standard library is needed.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

# Name, file, official split, level that counts as yes.
SETS = [
    ("popquorn", "popquorn_offensiveness.csv", False, None),
    ("popquorn-3", "popquorn_offensiveness.csv", False, "3"),
    ("md-agreement", "md_agreement.csv", True, None),
    ("csc", "csc.csv", True, None),
    ("gwsd", "gwsd.csv", False, None),
    ("haterep", "haterep.csv", False, None),
    ("pachinger", "pachinger_spans.jsonl", False, None),
]
TITLES = {
    "popquorn": "POPQUORN, five levels",
    "popquorn-3": "POPQUORN, level 3 or more",
    "md-agreement": "MD-Agreement",
    "csc": "CSC",
    "gwsd": "GWSD",
    "haterep": "haterep, first phase",
    "pachinger": "pachinger, any span marked",
}
# Key, title, whether more is better.
COLUMNS = [
    ("log_loss", "log loss", False),
    ("accuracy", "accuracy", True),
    ("macro_f1", "macro F1", True),
    ("mae", "MAE", False),
    ("disagreement_auroc", "AUROC of disagreement", True),
]
# What else --columns may name.
MORE_COLUMNS = [
    ("macro_f1_median", "macro F1, median", True),
    ("annotator_accuracy", "annotator accuracy", True),
    ("annotator_macro_f1", "annotator F1", True),
    ("worst_tenth_accuracy", "worst tenth", True),
    ("brier", "Brier", False),
    ("ece", "ECE", False),
    ("soft_cross_entropy", "soft CE", False),
    ("disagreement_spearman", "Spearman of disagreement", True),
    ("pearson", "r, expected", True),
]


def first_phase(source, target):
    with open(source, newline="", encoding="utf-8") as rows, open(target, "w", newline="", encoding="utf-8") as out:
        columns = ["text_id", "text", "annotator_id", "label"]
        writer = csv.DictWriter(out, columns, extrasaction="ignore")
        writer.writeheader()
        first = [row for row in csv.DictReader(rows) if row["phase"] == "1"]
        kept = [row for row in first if row["text"].strip()]
        print(f"haterep: {len(first) - len(kept)} of {len(first)} labels are of texts that are not there", file=sys.stderr)
        writer.writerows(kept)


def any_span(source, target):
    with open(source, encoding="utf-8") as rows, open(target, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["text_id", "text", "annotator_id", "label"])
        for line in rows:
            row = json.loads(line)
            writer.writerow([row["text_id"], row["text"], row["annotator_id"], int(len(row["label"]) > 0)])


CONVERTED = {"haterep.csv": first_phase, "pachinger_spans.jsonl": any_span}


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


def project_of(arguments, file):
    """The encoded project of a file, made where it is not there yet."""
    source = os.path.join(arguments.data, file)
    if not os.path.exists(source):
        sys.exit(f"{source} is not there")
    stem = file.split(".")[0]
    project = os.path.join(arguments.work, f"{stem}.{arguments.encoder}.dissensus")
    if not os.path.exists(project):
        table = source
        if file in CONVERTED:
            table = os.path.join(arguments.work, f"{stem}.csv")
            CONVERTED[file](source, table)
        made = project + ".new.dissensus"
        for part in [made, made + "-wal", made + "-shm"]:
            if os.path.exists(part):
                os.remove(part)
        run(arguments.dissensus, "project", "new", made)
        run(arguments.dissensus, "data", "import", made, table)
        run(arguments.dissensus, "models", "encode", made, "--encoder", arguments.encoder)
        os.rename(made, project)
    return project


def evaluated(arguments, name, file, official, at_least):
    project = project_of(arguments, file)
    found = []
    for seed in [0] if official else range(arguments.seeds):
        command = [arguments.dissensus, "models", "evaluate", project, "--models", arguments.models, "--json"]
        command += ["--prediction-sets", "--split", "column" if official else "by-text:0.7", "--seed", str(seed)]
        if at_least:
            command += ["--at-least", at_least]
        print(f"{name}, seed {seed}", file=sys.stderr)
        found.append(json.loads(run(*command)))
    return found


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values and all(value is not None for value in values) else None


def differences(evaluation, model):
    models = (evaluation.get("differences") or {"models": []})["models"]
    return next((one["of"] for one in models if one["model"] == model), {})


def cell(seeds, model, key, best):
    def figure(evaluation):
        every = evaluation["models"] + evaluation["baselines"]
        return next(one for one in every if one["model"] == model).get(key)

    value = mean(figure(evaluation) for evaluation in seeds)
    if value is None:
        return "–"
    text = f"**{value:.3f}**" if best is not None and abs(value - best) < 5e-4 else f"{value:.3f}"
    own = [differences(evaluation, model).get(key, {}) for evaluation in seeds]
    difference = mean(one.get("difference") for one in own)
    half = mean((one["high"] - one["low"]) / 2 if one.get("low") is not None else None for one in own)
    if difference is not None and half is not None:
        text += f" ({difference:+.3f} ± {half:.3f})"
    return text


def table(name, seeds, of):
    first = seeds[0]
    models = [one["model"] for one in first["models"]]
    rows = models + [one["model"] for one in first["baselines"]]
    columns = [column for column in of if any(one.get(column[0]) is not None for one in first["models"])]
    how = "official split" if first["split"]["kind"] == "column" else f"by text, mean of {len(seeds)} seeds"
    texts = f"{first['split']['test_texts']:,} texts, {first['split']['test_labels']:,} labels tested"
    lines = [f"{TITLES[name]} ({how}; {texts}):", ""]
    copies = first["split"]["copies_in_training"]
    if copies:
        lines[0] += f" The body of {copies} of these texts also occurs in training."
    lines.append("| model | " + " | ".join(title for _, title, _ in columns) + " |")
    lines.append("| --- |" + " ---: |" * len(columns))
    best = {}
    for key, _, more in columns:
        found = [mean(one.get(key) for e in seeds for one in e["models"] if one["model"] == model) for model in models]
        found = [value for value in found if value is not None]
        best[key] = (max if more else min)(found) if found else None
    for model in rows:
        cells = [cell(seeds, model, key, best[key]) for key, _, _ in columns]
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def sets_table(results):
    lines = [
        "| data | sets: coverage % | least tenth by labels | by severity | mean size | sets that know no person: coverage % | mean size |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, seeds in results.items():
        found = [evaluation["prediction_sets"] for evaluation in seeds]
        if not all(found):
            continue
        percent = lambda values: "–" if mean(values) is None else f"{100 * mean(values):.1f}"
        # The least of ten parts of the annotators, each of them a mean over the seeds.
        least = lambda by: [min((mean(part) for part in zip(*([t["coverage"] for t in one[by]] for one in found))), default=None)]
        own, shared = [one["multilevel"] for one in found], [one["shared"] for one in found]
        cells = [
            TITLES[name],
            percent([one["coverage"] for one in own]),
            percent(least("by_labels")),
            percent(least("by_severity")),
            f"{mean(one['mean_size'] for one in own):.2f}",
            percent([one["coverage"] for one in shared]),
            f"{mean(one['mean_size'] for one in shared):.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dissensus", nargs="?")
    parser.add_argument("data", nargs="?")
    parser.add_argument("--only", help="names of sets, with commas: " + ", ".join(name for name, *_ in SETS))
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    parser.add_argument("--models", default="all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--work", help="folder in which projects are kept [default: a temporary one]")
    parser.add_argument("--results", help="file for all figures, as JSON")
    parser.add_argument("--read", help="a file of figures to print again, in place of measuring")
    parser.add_argument("--columns", help="keys of figures, with commas")
    arguments = parser.parse_args()
    if bool(arguments.read) == bool(arguments.data):
        parser.error("name the command and the folder of data, or --read a file of figures")
    columns = COLUMNS
    if arguments.columns:
        known = {column[0]: column for column in COLUMNS + MORE_COLUMNS}
        columns = [known.get(key) or parser.error(f"no such column: {key}") for key in arguments.columns.split(",")]
    wanted = arguments.only.split(",") if arguments.only else [name for name, *_ in SETS]
    unknown = set(wanted) - {name for name, *_ in SETS}
    if unknown:
        parser.error(f"no such set: {', '.join(sorted(unknown))}")
    if arguments.seeds < 1:
        parser.error("--seeds is 1 or more")
    if arguments.read:
        with open(arguments.read, encoding="utf-8") as figures:
            results = {name: seeds for name, seeds in json.load(figures).items() if name in wanted}
        for name, seeds in results.items():
            print(table(name, seeds, columns))
        print("90 % prediction sets:\n")
        print(sets_table(results))
        return
    with tempfile.TemporaryDirectory() as temporary:
        arguments.work = arguments.work or temporary
        os.makedirs(arguments.work, exist_ok=True)
        results = {}
        for name, file, official, at_least in SETS:
            if name in wanted:
                results[name] = evaluated(arguments, name, file, official, at_least)
                print(table(name, results[name], columns), flush=True)
        print("90 % prediction sets:\n")
        print(sets_table(results))
        if arguments.results:
            with open(arguments.results, "w", encoding="utf-8") as out:
                json.dump(results, out)


if __name__ == "__main__":
    main()
