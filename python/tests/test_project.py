"""Projects: tables in and out, and the five questions: two at once, killed halfway, copied, changed since, and what already taught."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import command

import dissensus
from dissensus import InputError, LockedError, NotFoundError, Project


def test_tables_are_taken_as_they_are(encoded):
    for table in (encoded.texts(), encoded.labels(), encoded.annotators(), encoded.disagreement("remove")):
        frame = pd.DataFrame(table)
        assert list(frame) == list(table) and len(frame) == table.num_rows > 0
        assert pl.DataFrame(table).shape == frame.shape
        arrow = pa.table(table)
        assert arrow.column_names == list(table)
        # By the Arrow stream itself.
        stream = pa.RecordBatchReader.from_stream(table).read_all()
        assert stream.num_rows == table.num_rows
        for name in table:
            a, b = stream.column(name).to_pandas(), frame[name]
            assert (a.isna() == b.isna()).all() and (a[~a.isna()].to_numpy() == b[~b.isna()].to_numpy()).all(), name
    labels = encoded.labels()
    assert pa.RecordBatchReader.from_stream(labels).schema.field("time").type == pa.timestamp("ms")


def test_what_a_project_holds_is_what_the_command_says(encoded):
    info = command("project", "info", encoded.path)
    assert encoded.texts().num_rows == info["texts"] and encoded.labels().num_rows == info["labels"]
    assert [question["name"] for question in encoded.questions()] == ["offensiveness", "remove"]
    assert sum(encoded.annotators()["labels"]) == info["labels"]


def test_texts_and_labels_are_added_all_or_none(project):
    before = project.labels().num_rows
    done = project.add_texts(["A new one.", "Another, with\na line."], ["n1", "n2"], groups=["g", "g"], source=["web", "web"])
    assert done["texts"] == 2
    texts = {row["text_id"]: row for row in project.texts().rows()}
    assert texts["n2"]["text"] == "Another, with\na line." and texts["n1"]["group"] == "g" and texts["n1"]["source"] == "web"
    done = project.add_labels(["n1", "n2", "n1"], ["ana", "ana", "=ben"], [4, 2.0, np.int64(5)], question="offensiveness")
    assert done["labels"] == 3
    labels = pd.DataFrame(project.labels("offensiveness"))
    mine = labels[labels["annotator_id"].isin(["ana", "=ben"])].sort_values(["annotator_id", "text_id"])
    assert mine[["text_id", "annotator_id", "label"]].to_numpy().tolist() == [["n1", "=ben", "5"], ["n1", "ana", "4"], ["n2", "ana", "2"]]
    # Once more: nothing doubles.
    assert project.add_labels(["n1", "n2"], "ana", [4, 2], question="offensiveness")["labels"] == 0
    # A new question.
    project.add_labels(["n1"], ["ana"], ["kind"], question="tone", scale="choice", levels=["kind", "rough", "neutral"])
    assert project.questions()[-1]["levels"] == ["kind", "rough", "neutral"]
    held = project.labels().num_rows
    assert held == before + 4
    for given, message in [
        ((["n1", "zz"], "ana", [1, 1]), r"text_ids\[1\]: there is no text 'zz'"),
        ((["n1", "n2"], "ana", [1, None]), r"labels\[1\] is None"),
        ((["n1", "n2"], "ana", [1, float("nan")]), r"labels\[1\] is nan"),
        ((["n1", "n2"], "ana", [1]), "different lengths"),
        ((["n1"], [None], [1]), r"annotators\[0\] is None"),
        ((["n1"], [" "], [1]), r"annotators\[0\] is empty"),
        (([], [], []), "labels is empty"),
        ((["n1", "n2"], "eve", [1, 77]), "77"),
    ]:
        with pytest.raises((InputError, dissensus.DissensusError), match=message):
            project.add_labels(*given, question="offensiveness")
    with pytest.raises(InputError, match="name one of"):
        project.add_labels(["n1"], "ana", [1])
    for given, message in [
        ((["ok", None],), r"texts\[1\] is None"),
        ((["ok", 3],), r"texts\[1\] is int and no text"),
        ((["ok", " "],), r"texts\[1\] is empty"),
        (("one text",), "one text and no list"),
        ((["\ud800"],), r"texts\[0\] is no valid Unicode"),
        ((["a", "b"], ["x"]), "different lengths"),
    ]:
        with pytest.raises(InputError, match=message):
            project.add_texts(*given)
    assert project.labels().num_rows == held and "eve" not in project.annotators()["annotator_id"]


def test_one_label_is_as_the_commands(project):
    done = project.add_label("ana", "c001", 3, question="offensiveness", note="hm")
    assert done["new_annotator"] and done["value"] == "3"
    row = [row for row in project.labels("offensiveness").rows() if row["annotator_id"] == "ana"]
    assert [(one["label"], one["note"], one["source"]) for one in row] == [("3", "hm", "command")]
    for given in (("ana", "nowhere", 3), ("ana", "c001", 9)):
        with pytest.raises(dissensus.DissensusError):
            project.add_label(*given, question="offensiveness")
    with pytest.raises(InputError, match="label is None"):
        project.add_label("ana", "c001", None, question="offensiveness")


def test_a_table_is_imported_by_the_reading_that_was_chosen(project, tmp_path):
    table = tmp_path / "dates.csv"
    rows = [f"n{n},A new text {n},ada,{n % 2},0{n + 1}/0{n + 2}/2024" for n in range(4)]
    table.write_text("text_id,text,annotator_id,label,date\n" + "\n".join(rows) + "\n")
    preview = project.import_preview(table, question="dated")
    assert preview["undecided"] and len(preview["readings"]) > 1
    with pytest.raises(dissensus.DissensusError) as refused:
        project.import_file(table, question="dated")
    assert refused.value.code == "several-readings"
    report = project.import_file(table, reading=preview["readings"][1], question="dated")
    assert report["labels"] == 4 and report["account"]["read"] == 4


def test_files_that_are_no_project(tmp_path):
    with pytest.raises(NotFoundError) as caught:
        Project(tmp_path / "missing.dissensus")
    assert caught.value.code == "project-missing"
    (tmp_path / "x.dissensus").write_text("hello")
    with pytest.raises(dissensus.DissensusError):
        Project(tmp_path / "x.dissensus")
    Project.create(tmp_path / "new.dissensus")
    with pytest.raises(dissensus.DissensusError):
        Project.create(tmp_path / "new.dissensus")
    for name in (None, 3):
        with pytest.raises(TypeError):
            Project(name)


def test_predictions_need_embeddings_and_names(tmp_path, encoded):
    bare = Project.sample(tmp_path / "bare.dissensus")
    with pytest.raises(dissensus.DissensusError, match="encode") as caught:
        bare.predictions("remove")
    assert caught.value.code == "not-encoded"
    with pytest.raises(NotFoundError):
        encoded.predictions("remove", ["nobody"])
    with pytest.raises(dissensus.DissensusError):
        encoded.predictions("nothing")
    with pytest.raises(InputError):
        encoded.disagreement("remove", by="guess")
    one = encoded.predictions("remove", "sim-ada")
    assert set(one["annotator_id"]) == {"sim-ada"} and np.isnan(one["disagreement_split"]).all()


# A program that holds a project open to write, as a window does: an encoding of many texts by another process.
HOLDER = """
import sys, dissensus
project = dissensus.Project(sys.argv[1], wait=60)
print("open", flush=True)
project.add_texts([f"Text number {i} is about nothing at all. " * 30 for i in range(3000)])
print("added", flush=True)
project.encode()
"""


def start(program, *arguments):
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_two_at_once_and_killed_halfway(project):
    """Reading continues next to a program that has it open to write, adding waits or is refused, and a kill loses nothing."""
    before = project.labels().num_rows
    holder = start(HOLDER, project.path)
    assert [holder.stdout.readline().strip() for _ in range(2)] == ["open", "added"]
    refused = None
    until = time.monotonic() + 60
    while refused is None and time.monotonic() < until and holder.poll() is None:
        try:
            project.add_label("between", "c001", 1, question="offensiveness")
        except LockedError as error:
            refused = error
    assert refused is not None and refused.code == "project-locked"
    with pytest.raises(LockedError):
        project.add_labels(["c001"], "other", [2], question="offensiveness")
    assert project.texts().num_rows == 168 + 3000
    time.sleep(1)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    held = project.labels().num_rows
    assert held in (before, before + 1)
    project.add_label("after", "c002", 2, question="offensiveness")
    assert project.labels().num_rows == held + 1
    assert command("project", "info", project.path)["texts"] == 3168


ADDING = """
import sys, dissensus
project = dissensus.Project(sys.argv[1], wait=120)
for i in range(int(sys.argv[3])):
    project.add_label(sys.argv[2], f"c{i + 1:03}", i % 5 + 1, question="offensiveness")
project.add_labels([f"c{i + 1:03}" for i in range(100, 140)], sys.argv[2], [i % 5 + 1 for i in range(40)], question="offensiveness")
"""


def test_two_processes_add_labels(project):
    both = [start(ADDING, project.path, name, 12) for name in ("one", "two")]
    assert [one.wait(timeout=240) for one in both] == [0, 0]
    labels = pd.DataFrame(project.labels("offensiveness"))
    for name in ("one", "two"):
        mine = labels[labels["annotator_id"] == name]
        assert len(mine) == 52 and mine["text_id"].nunique() == 52


IMPORTING = """
import sys, dissensus
project = dissensus.Project(sys.argv[1])
print("open", flush=True)
ids = project.texts()["text_id"]
while True:
    n = project.labels("remove").num_rows
    project.add_labels(ids, f"person {n}", ["yes" if len(i) % 2 else "no" for i in ids], question="remove")
"""


def test_a_kill_while_labels_are_added_leaves_all_or_none_of_a_call(project):
    before = project.labels("remove").num_rows
    adding = start(IMPORTING, project.path)
    assert adding.stdout.readline().strip() == "open"
    until = time.monotonic() + 60
    while project.labels("remove").num_rows == before and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.35)
    adding.kill()
    adding.wait()
    added = project.labels("remove").num_rows - before
    assert added > 0 and added % 168 == 0
    project.add_label("after", "c001", "yes", question="remove")


def test_a_copy_is_a_project_of_its_own_and_changes_are_seen(project, tmp_path):
    other = tmp_path / "moved.dissensus"
    shutil.copy(project.path, other)
    copy = Project(other)
    copy.add_label("only here", "c001", 1, question="offensiveness")
    assert "only here" not in project.annotators()["annotator_id"]
    p = project.predictions("offensiveness", "sim-ada")
    theirs = [row["text_id"] for row in p.rows() if not row["observed"]][0]
    command("label", "record", project.path, "--annotator", "sim-ada", "--text-id", theirs, "--value", 5, "--question", "offensiveness")
    now = project.predictions("offensiveness", "sim-ada")
    at = now["text_id"].index(theirs)
    assert now["observed"][at] and not p["observed"][at] and now["p_5"][at] > p["p_5"][at]
    os.remove(project.path)
    with pytest.raises(NotFoundError):
        project.labels()


@pytest.mark.parametrize("swap", [False, True], ids=["moved away and back", "swapped with another file"])
def test_a_label_is_in_the_file_that_has_the_name_or_the_call_fails(project, tmp_path, swap):
    away = tmp_path / "away.dissensus"
    if swap:
        shutil.copy(project.path, away)
    move = """
import os, sys, time
path, away, swap = sys.argv[1:]
while True:
    time.sleep(0.05)
    if swap == "1":
        os.rename(path, path + ".tmp"); os.rename(away, path); os.rename(path + ".tmp", away)
    else:
        os.rename(path, away); time.sleep(0.02); os.rename(away, path)
"""
    texts = project.texts()["text_id"][:60]
    mover = subprocess.Popen([sys.executable, "-c", move, project.path, str(away), str(int(swap))])
    confirmed, refused = set(), set()
    try:
        for n in range(180):
            who, text = f"mover-{n // len(texts)}", texts[n % len(texts)]
            try:
                project.add_label(who, text, 3, question="offensiveness")
                confirmed.add((who, text))
            except dissensus.DissensusError as error:
                refused.add(error.code)
    finally:
        mover.kill()
        mover.wait()
    tmp = project.path + ".tmp"
    for name in (tmp, str(away)):
        if os.path.exists(name) and not os.path.exists(project.path):
            os.rename(name, project.path)
    assert confirmed and "internal" not in refused, refused
    found = []
    for path in {project.path, str(away), tmp}:
        if os.path.exists(path):
            labels = Project(path).labels("offensiveness")
            found += [pair for pair in zip(labels["annotator_id"], labels["text_id"]) if pair[0].startswith("mover-")]
            command("project", "info", path)
    assert len(found) == len(set(found)) and confirmed <= set(found), (len(confirmed), len(found), refused)
