-- The project file. One file is one project; the words are those of the design.
-- Rules that must hold whatever program writes are kept here: keys, ranges, and that labels and marks are only ever appended.

-- What is judged. A body never changes: embeddings and labels stand on it.
CREATE TABLE texts (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    external_id TEXT NOT NULL UNIQUE CHECK (external_id <> ''),
    body TEXT NOT NULL CHECK (length(CAST(body AS BLOB)) <= 1048576),
    "group" TEXT,
    split TEXT,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata))
) STRICT;

CREATE TRIGGER texts_keep_their_body BEFORE UPDATE OF id, external_id, body ON texts
BEGIN
    SELECT RAISE(ABORT, 'a text keeps its name and its body');
END;

-- Who judges.
CREATE TABLE annotators (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    external_id TEXT NOT NULL UNIQUE CHECK (external_id <> ''),
    name TEXT NOT NULL,
    attributes TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(attributes)),
    simulated INTEGER NOT NULL DEFAULT 0 CHECK (simulated IN (0, 1))
) STRICT;

-- What is asked.
CREATE TABLE questions (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    prompt TEXT NOT NULL,
    scale TEXT NOT NULL CHECK (scale IN ('binary', 'choice', 'multi-choice', 'ordinal', 'spans'))
) STRICT;

-- The answers of a question, lowest (or "no") first.
CREATE TABLE levels (
    question INTEGER NOT NULL REFERENCES questions (id),
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 99),
    name TEXT NOT NULL CHECK (name <> ''),
    PRIMARY KEY (question, level),
    UNIQUE (question, name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER levels_stay BEFORE UPDATE ON levels
BEGIN
    SELECT RAISE(ABORT, 'levels are never changed: labels stand on them');
END;

-- Every answer ever given, and every one taken back. The newest that is not taken back is current.
-- Kept cheap, for imports: IN with a list would build a table of it for each row, and a trigger that looks at what is
-- inserted would make SQLite keep a second journal. That a retraction names a label of its own question, text and
-- annotator is the store's to ensure; one that does not would take back nothing but the label it names.
CREATE TABLE labels (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    level INTEGER,
    at_ms INTEGER NOT NULL,
    duration_ms INTEGER CHECK (duration_ms BETWEEN 0 AND 4294967295),
    source TEXT NOT NULL CHECK (source = 'window' OR source = 'command' OR source = 'import' OR source = 'simulated'),
    retracts INTEGER REFERENCES labels (id) CHECK (retracts < id),
    CHECK ((level IS NULL) = (retracts IS NOT NULL)),
    FOREIGN KEY (question, level) REFERENCES levels (question, level)
) STRICT;

-- Covers current_labels, in its order of grouping: the view is one pass over this index.
CREATE INDEX labels_by_text ON labels (question, text, annotator, level) WHERE level IS NOT NULL;
-- One person's day, history and current labels.
CREATE INDEX labels_by_annotator ON labels (annotator, question, at_ms);
-- A label is taken back once.
CREATE UNIQUE INDEX labels_retracted ON labels (retracts) WHERE retracts IS NOT NULL;

CREATE TRIGGER labels_are_not_changed BEFORE UPDATE ON labels
BEGIN
    SELECT RAISE(ABORT, 'labels are appended, never changed');
END;

CREATE TRIGGER labels_are_not_deleted BEFORE DELETE ON labels
BEGIN
    SELECT RAISE(ABORT, 'labels are appended, never deleted');
END;

-- The rule of domain::current_label. Beside max(), SQLite takes the other columns from the row that has the maximum.
CREATE VIEW current_labels AS
SELECT question, text, annotator, level, max(id) AS id
FROM labels AS l
WHERE level IS NOT NULL AND NOT EXISTS (SELECT 1 FROM labels AS r WHERE r.retracts = l.id)
GROUP BY question, text, annotator;

-- A text set aside or pointed at by an annotator. The newest of skip and unskip, and of flag and unflag, holds.
CREATE TABLE marks (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    kind TEXT NOT NULL CHECK (kind IN ('skip', 'unskip', 'flag', 'unflag')),
    at_ms INTEGER NOT NULL,
    note TEXT
) STRICT;

CREATE INDEX marks_by_annotator ON marks (annotator, question, text);

CREATE TRIGGER marks_are_not_changed BEFORE UPDATE ON marks
BEGIN
    SELECT RAISE(ABORT, 'marks are appended, never changed');
END;

CREATE TRIGGER marks_are_not_deleted BEFORE DELETE ON marks
BEGIN
    SELECT RAISE(ABORT, 'marks are appended, never deleted');
END;

-- What makes embeddings comparable: the same weights, pooling, length and precision.
CREATE TABLE encoder_versions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE CHECK (key <> ''),
    name TEXT NOT NULL,
    weights_sha256 TEXT NOT NULL,
    pooling TEXT NOT NULL,
    max_tokens INTEGER NOT NULL CHECK (max_tokens BETWEEN 1 AND 4294967295),
    dim INTEGER NOT NULL CHECK (dim BETWEEN 1 AND 65536),
    precision TEXT NOT NULL
) STRICT;

-- A cache: what is missing can be computed again. Numbers are 32-bit floats, little-endian.
CREATE TABLE embeddings (
    version INTEGER NOT NULL REFERENCES encoder_versions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    vector BLOB NOT NULL CHECK (length(vector) % 4 = 0),
    UNIQUE (version, text)
) STRICT;

-- The newest small model of each kind.
CREATE TABLE heads (
    id INTEGER PRIMARY KEY,
    question INTEGER NOT NULL REFERENCES questions (id),
    version INTEGER REFERENCES encoder_versions (id),
    model TEXT NOT NULL CHECK (model <> ''),
    made_at_ms INTEGER NOT NULL,
    last_label INTEGER REFERENCES labels (id),
    weights BLOB NOT NULL
) STRICT;

CREATE INDEX heads_newest ON heads (question, model, version);

-- Trainings and evaluations.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    kind TEXT NOT NULL CHECK (kind <> ''),
    configuration TEXT NOT NULL CHECK (json_valid(configuration)),
    seed INTEGER NOT NULL,
    metrics TEXT CHECK (json_valid(metrics)),
    device TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled', 'failed', 'interrupted')),
    CHECK ((ended_ms IS NULL) = (state IN ('running', 'interrupted')))
) STRICT;

-- Long work and how it ended: the project's log.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    kind TEXT NOT NULL CHECK (kind <> ''),
    title TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled', 'failed', 'interrupted')),
    done INTEGER NOT NULL DEFAULT 0 CHECK (done BETWEEN 0 AND 4294967295),
    total INTEGER CHECK (total BETWEEN 0 AND 4294967295),
    note TEXT,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    CHECK ((ended_ms IS NULL) = (state IN ('running', 'interrupted')))
) STRICT;

CREATE TABLE settings (
    key TEXT PRIMARY KEY CHECK (key <> ''),
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;
