"""Figures of the same training under several seeds: each, their mean, and their standard deviation.

    python tools/bench/seeds.py DISSENSUS PROJECT SEEDS [OPTION...]     trains, a run a seed
    python tools/bench/seeds.py DISSENSUS PROJECT --runs RUNS           reads runs that were trained before

DISSENSUS is the command, SEEDS and RUNS are numbers with commas between them, and OPTIONs are those of `dissensus models train` (--tuning full
--epochs 2, say). Runs stay in the project, so that seeds may be trained on different days and read together afterwards. It fails
where two seeds give the same figures, which would mean that the seed was not used, or where runs differ in more than their seed.
"""

import json
import statistics
import subprocess
import sys


def call(command, *words):
    done = subprocess.run([command, *words, "--json"], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def main(command, project, what, *options):
    if what == "--runs":
        runs = [call(command, "models", "runs", "show", project, run) for run in options[0].split(",")]
    else:
        runs = [call(command, "models", "train", project, "--seed", seed, *options) for seed in what.split(",")]
    choices = [dict(run["choices"]) for run in runs]
    seeds = [choice.pop("seed") for choice in choices]
    if any(choice != choices[0] for choice in choices):
        sys.exit("these runs differ in more than their seed: " + json.dumps(choices))
    figures = [{m["key"]: m["value"] for m in run["info"]["scores"]["metrics"]} for run in runs]
    for at, figure in enumerate(figures):
        if figure in figures[:at] or seeds[at] in seeds[:at]:
            sys.exit(f"seed {seeds[at]} gives what another one gives: it stands there twice, or it was not used")
    print("| figure | " + " | ".join(f"seed {seed}" for seed in seeds) + " | mean | standard deviation |")
    print("| --- | " + "---: | " * (len(seeds) + 2))
    for key in figures[0]:
        values = [figure.get(key) for figure in figures]
        if any(value is None for value in values):
            continue
        spread = statistics.stdev(values) if len(values) > 1 else float("nan")
        cells = [*values, statistics.fmean(values), spread]
        print(f"| {key} | " + " | ".join(f"{value:.4f}" for value in cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
