"""The scorer with a log: a file for each process in the folder CLUSTER_LOG, with when its bundle was open, when each
batch began and ended, and the processor's time in between."""

import json
import os
import time

import scorer


def measured(way, batch, folder, people):
    """A batch as `way` of the scorer gives it, with a line in the log once it is done."""
    path = os.path.join(os.environ["CLUSTER_LOG"], f"{os.getpid()}.jsonl")
    with open(path, "a", encoding="utf-8") as log:
        if log.tell() == 0:
            scorer.bundle(folder)
            log.write(json.dumps({"opened": time.time()}) + "\n")
            log.flush()
        began, cpu = time.time(), time.process_time()
        rows = getattr(scorer, way)(batch, folder, people)
        log.write(json.dumps({"began": began, "ended": time.time(), "cpu": time.process_time() - cpu, "texts": batch.num_rows}) + "\n")
    return rows
