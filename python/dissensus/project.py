"""A project file: what it holds, what is predicted from it, and what is added to it."""

from __future__ import annotations

import json
import os
import tempfile

import numpy as np

from . import _native
from ._checks import is_missing, same_length, sequence, strings
from ._errors import InputError, wrong
from ._table import Table

__all__ = ["Project"]


class Project:
    """A project file, `NAME.dissensus`.

    Every call opens the file, does one thing and closes it: it sees what others wrote meanwhile, and holds nothing in between. Reading continues next to a
    window that has the project open; adding then raises `LockedError`, at once or after `wait` seconds.

    >>> import tempfile, os
    >>> from dissensus import Project
    >>> project = Project.sample(os.path.join(tempfile.mkdtemp(), "sample.dissensus"))
    >>> project.questions()[0]["name"], len(project.annotators()["annotator_id"])
    ('offensiveness', 8)
    >>> texts = project.texts()
    >>> sorted(texts)[:3]
    ['group', 'split', 'text']
    """

    def __init__(self, path, *, wait: float = 0.0):
        self.path = os.path.abspath(os.fspath(path))
        self.wait = wait
        self.info()

    @classmethod
    def create(cls, path, *, wait: float = 0.0) -> Project:
        """Makes an empty project. A file that is there is never replaced."""
        _native.project_create(os.path.abspath(os.fspath(path)))
        return cls(path, wait=wait)

    @classmethod
    def sample(cls, path) -> Project:
        """Makes a copy of the sample project, whose annotators are simulated."""
        _native.project_sample(os.path.abspath(os.fspath(path)))
        return cls(path)

    def info(self) -> dict:
        """What it holds, as `dissensus project info --json` tells."""
        return json.loads(_native.project_info(self.path))

    def questions(self) -> list[dict]:
        """Every question: `name`, `prompt`, `scale` (a kind, as `dissensus data question --help` lists them), `levels`, `labels`."""
        def plain(question: dict) -> dict:
            return {
                "name": question["name"],
                "prompt": question["prompt"],
                "scale": question["scale"]["kind"],
                "levels": question["scale"]["levels"],
                "labels": question["labels"],
            }

        return [plain(question) for question in self.info()["questions"]]

    def texts(self) -> Table:
        """Every text in file order: `text_id`, `text`, `group`, `split`, and a column for each other one of the files they came from."""
        return Table(_native.project_texts(self.path))

    def labels(self, question: str | None = None) -> Table:
        """Every current label, of one question or of all: `text_id`, `annotator_id`, `question`, `label`, `time` (UTC), `source`, `note`,
        `confidence` and `consent_version`, of the text that the person had agreed to (NaN where none was given). A `label` of `None` is a person who cannot say."""
        table = Table(_native.project_labels(self.path, question))
        table["time"] = table["time"].view("datetime64[ms]")
        return table

    def annotators(self) -> Table:
        """Everybody: `annotator_id`, `name`, `labels`, `simulated`, and a column for each attribute."""
        return Table(_native.project_annotators(self.path))

    def predictions(self, question: str | None = None, annotators=None) -> Table:
        """What annotators (all where none are named) would answer to every text: the columns of `dissensus models predictions`. `observed` means that
        the model has learned from this person's own label of this text. Texts must have embeddings (`encode`)."""
        chosen = [] if annotators is None else strings([annotators] if isinstance(annotators, str) else annotators, "annotators")
        return Table(_native.project_predictions(self.path, question, chosen))

    def disagreement(self, question: str | None = None, by: str = "combined") -> Table:
        """Every text by how much annotators would disagree, the most first, with the numbers of `dissensus analyse disagreement --json`; `low` and `high` are
        the interval of `value`, `p_LEVEL` the mean prediction, `n_LEVEL` the labels there are. by: `combined`, `split`, `far-apart`, `opposite-sides`, `between`,
        `surprising`, `group-gap`, `pairwise`, `divergence`, `uncertainty` or `labels`."""
        if not isinstance(by, str):
            raise wrong(f"by is {by!r}: it takes the name of a measure")
        return Table(_native.project_disagreement(self.path, question, by))

    def embeddings(self) -> tuple[list[str], np.ndarray]:
        """The ids of all texts and their embeddings, float32 [n_texts, d], by the encoder in use."""
        ids, rows, _ = _native.project_embeddings(self.path)
        return ids, rows

    def encode(self, encoder=None, *, pooling=None, device="auto", precision=None, long_texts=None, prompt=None) -> dict:
        """Gives every text an embedding, going on where an earlier call stopped, and makes the encoder the project's; as `dissensus models encode`."""
        asked = (None if encoder is None else os.fspath(encoder), pooling, device, precision, long_texts, prompt, None)
        return json.loads(_native.project_encode(self.path, asked, self.wait))

    def add_label(
        self, annotator: str, text_id: str, label, *, question: str | None = None, occasion: int = 1, note: str | None = None,
        reasons=(), confidence: int | None = None,
    ) -> dict:
        """Records one label, as `dissensus label record` does: it is on disk when this returns. A new name is a new annotator."""
        for name, value in (("annotator", annotator), ("text_id", text_id), ("label", label)):
            if is_missing(value):
                raise wrong(f"{name} is {value!r}")
        remark = (note, [str(reason) for reason in reasons], confidence)
        return json.loads(
            _native.project_label(self.path, str(annotator), str(text_id), _cell(label), question, occasion, remark, self.wait)
        )

    def add_labels(
        self, text_ids, annotators, labels, *, question: str | None = None, times=None, scale: str | None = None, levels=None,
        prompt: str | None = None,
    ) -> dict:
        """Imports labels of texts that are there: all of them in one step, or none where one does not fit.

        A label that is there already changes nothing, so that a call that broke off can be made again. A question of a new name is added, with `scale`,
        `levels` and `prompt` where they are given. times: when each was given; left out, now. annotators can be one name for all. Returns what came of it.
        """
        text_ids = [str(one) for one in sequence(text_ids, "text_ids")]
        if isinstance(annotators, str):
            annotators = [annotators] * len(text_ids)
        annotators = [str(one) for one in sequence(annotators, "annotators")]
        labels = [_cell(one) for one in _labels(labels)]
        count = same_length(text_ids=text_ids, annotators=annotators, labels=labels)
        if count == 0:
            raise wrong("labels is empty")
        for name, values in (("text_ids", text_ids), ("annotators", annotators), ("labels", labels)):
            for at, value in enumerate(values):
                if not value.strip():
                    raise wrong(f"{name}[{at}] is empty")
        known = dict(zip(*[self.texts()[name] for name in ("text_id", "text")]))
        for at, text in enumerate(text_ids):
            if text not in known:
                raise InputError(f"text_ids[{at}]: there is no text {text!r} in this project: add_texts first", "no-such-text")
        rows = [
            {"text_id": text, "text": known[text], "annotator_id": who, "label": label}
            for text, who, label in zip(text_ids, annotators, labels)
        ]
        columns = {"text_id": "text_id", "text": "text", "annotator": "annotator_id", "label": "label"}
        if times is not None:
            times = [_time(at, value) for at, value in enumerate(sequence(times, "times"))]
            same_length(labels=labels, times=times)
            for row, time in zip(rows, times):
                row["time"] = time
            columns["time"] = "time"
        if question is None:
            names = [known["name"] for known in self.questions()]
            if len(names) != 1:
                raise wrong(f"question: name one of {', '.join(names)}" if names else "question: give the new question a name")
            question = names[0]
        choices = {"question": question, "prompt": prompt, "scale": scale, "levels": None if levels is None else [_cell(one) for one in levels]}
        return self._import(rows, columns, choices)

    def add_texts(self, texts, text_ids=None, *, groups=None, splits=None, **columns) -> dict:
        """Imports texts: all of them in one step, or none. text_ids: left out, a text is known by its body. groups: document or thread of each;
        splits: `train`, `validation` or `test`; any other column, by its name, is stored with the text. A text that is there changes nothing."""
        texts = strings(texts, "texts")
        if not texts:
            raise wrong("texts is empty")
        for at, text in enumerate(texts):
            if not text.strip():
                raise wrong(f"texts[{at}] is empty")
        rows: list[dict] = [{"text": text} for text in texts]
        roles = {"text": "text"}
        more = {"text_id": text_ids, "group": groups, "split": splits}
        for name, values in more.items():
            if values is not None:
                roles[name] = name
                columns[name] = values
        for name, values in columns.items():
            values = sequence(values, name)
            same_length(**{"texts": texts, name: values})
            for row, value in zip(rows, values):
                row[name] = str(value)
        return self._import(rows, roles, {})

    def import_preview(self, path, *, reading: dict | None = None, question: str | None = None, format: str | None = None) -> dict:
        """What `import_file` would do, as `dissensus data import --dry-run --json`; nothing is written. `readings` are the ways to read a table,
        the best first, each with its `columns`; where `undecided` is true one of them has to be given as `reading`."""
        choices = self._choices(reading, question, format, skip_bad=False)
        return json.loads(_native.project_import_preview(self.path, os.path.abspath(os.fspath(path)), json.dumps(choices)))

    def import_file(
        self,
        path,
        *,
        reading: dict | None = None,
        question: str | None = None,
        format: str | None = None,
        skip_bad: bool = False,
    ) -> dict:
        """Imports a file of a table or of an annotation tool, recognised and guessed as by `dissensus data import`, or a table by a `reading`
        of `import_preview`. A table that may be read in several ways raises `several-readings`."""
        choices = self._choices(reading, question, format, skip_bad)
        return self._run_import(os.path.abspath(os.fspath(path)), choices)

    @staticmethod
    def _choices(reading: dict | None, question: str | None, format: str | None, skip_bad: bool) -> dict:
        columns = None if reading is None else reading.get("columns", reading)
        return {"columns": columns, "question": question, "format": format, "skip_bad": skip_bad}

    def bundle(self, dir, questions=None, *, runs=(), with_ids: bool = False, replace: bool = False) -> dict:
        """Writes a folder that predicts without the project (`Bundle`), as `dissensus models bundle` does."""
        questions = [] if questions is None else [questions] if isinstance(questions, str) else list(questions)
        written = _native.project_bundle(
            self.path, os.path.abspath(os.fspath(dir)), questions, list(runs), with_ids, replace
        )
        return json.loads(written)

    def _import(self, rows: list[dict], columns: dict, choices: dict) -> dict:
        with tempfile.TemporaryDirectory(prefix="dissensus-") as folder:
            path = os.path.join(folder, "added.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                for row in rows:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
            offsets = {"offsets": "characters", "attributes": []}
            return self._run_import(path, {**choices, "columns": {**offsets, **columns}, "skip_bad": False})

    def _run_import(self, path: str, choices: dict) -> dict:
        return json.loads(_native.project_import(self.path, path, json.dumps(choices), self.wait))

    def __repr__(self) -> str:
        return f"Project({self.path!r})"


def _labels(labels) -> list:
    """Labels, of which one may be a set of options."""
    if isinstance(labels, (list, tuple)):
        for at, label in enumerate(labels):
            if not isinstance(label, (list, tuple, set, frozenset)) and is_missing(label):
                raise wrong(f"labels[{at}] is {label!r}")
        return list(labels)
    return sequence(labels, "labels")


def _cell(label) -> str:
    """A label as files have it."""
    if isinstance(label, (list, tuple, set, frozenset)):
        return "; ".join(sorted(str(one) for one in label)) if label else "none"
    if isinstance(label, bool):
        return "yes" if label else "no"
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def _time(at: int, value) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        # What numpy's datetime64[ns] lists.
        unit = "ns" if value > 10**16 else "ms"
        return str(np.datetime64(int(value), unit).astype("datetime64[ms]")) + "Z"
    raise wrong(f"times[{at}] is {value!r}: it takes a datetime, milliseconds since 1970 or a text such as 2024-05-01T12:00:00Z")
