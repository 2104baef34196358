"""What every engine's workers do: open the bundle once in a process, and turn a batch of texts into rows."""

import functools
import os

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # one process a core: before the bundle is opened

import dissensus
import pyarrow as pa


@functools.cache
def bundle(folder):
    return dissensus.Bundle(folder)


def by_person(batch, folder, people=None):
    """One row a text and person."""
    return pa.table(predicted(batch, folder, people))


def by_text(batch, folder, people=None):
    """One row a text: how far these people (without names, everybody) would differ."""
    table = predicted(batch, folder, people)
    each = table.num_rows // batch.num_rows
    return pa.table({name: table[name][::each] for name in ("text_id", "disagreement_split", "disagreement_pairwise")})


def predicted(batch, folder, people):
    return bundle(folder).predict(batch["text"].to_pylist(), people, ids=batch["text_id"].to_pylist())
