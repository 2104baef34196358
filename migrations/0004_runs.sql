-- Runs get an identity of their own, row numbers are never used twice, and evaluations get a table of their own.

-- Dropping a table that others refer to deletes their rows, so both are copied out of the way first.
CREATE TABLE old_runs AS SELECT * FROM runs;
CREATE TABLE old_run_labels AS SELECT * FROM run_labels;
DROP TABLE run_labels;
DROP TABLE runs;

CREATE TABLE runs (
    -- AUTOINCREMENT: the number of a deleted run is not given to another one.
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 4294967295),
    -- A UUID. The run's folder is named by it and says it in its run.json.
    uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
    configuration TEXT NOT NULL CHECK (json_valid(configuration)),
    seed INTEGER NOT NULL,
    metrics TEXT CHECK (json_valid(metrics)),
    device TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled', 'failed', 'interrupted')),
    -- Evaluations on validation labels on the way, as JSON.
    history TEXT CHECK (json_valid(history)),
    -- SHA-256 of the labels at the start, in hexadecimal: whether they have changed since.
    data_sha256 TEXT,
    -- What it was started on beside its labels (annotators and their order, texts, encoder), as JSON: resuming starts from
    -- this, whatever was labelled or imported since. NULL before the labels are divided, and for runs of format 2.
    start TEXT CHECK (json_valid(start)),
    CHECK ((ended_ms IS NULL) = (state IN ('running', 'interrupted')))
) STRICT;

-- The labels of each side of the split, written once when a run starts, so that it can be resumed on them and two runs can be
-- compared label by label. Little-endian: text, annotator and level as 32-bit numbers; probabilities of all levels of each
-- label as 32-bit floats, added to the test labels when they were predicted.
CREATE TABLE run_labels (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    part TEXT NOT NULL CHECK (part IN ('train', 'validation', 'test')),
    labels BLOB NOT NULL CHECK (length(labels) % 12 = 0),
    probabilities BLOB CHECK (length(probabilities) % 4 = 0),
    PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;

-- Evaluations (`dissensus evaluate`) and fits of the live model: what was asked and what was found. They predict nothing and
-- have no files, so they are no runs.
CREATE TABLE evaluations (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 4294967295),
    kind TEXT NOT NULL CHECK (kind IN ('evaluation', 'fit')),
    configuration TEXT NOT NULL CHECK (json_valid(configuration)),
    seed INTEGER NOT NULL,
    metrics TEXT CHECK (json_valid(metrics)),
    device TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled', 'failed', 'interrupted')),
    CHECK ((ended_ms IS NULL) = (state IN ('running', 'interrupted')))
) STRICT;

-- Version 8 of a UUID ("custom", RFC 9562) from the start time, the number and the hash of the labels: two copies of one old
-- project that are brought up to date apart come to the same ids.
INSERT INTO runs (id, uid, configuration, seed, metrics, device, started_ms, ended_ms, state, history, data_sha256)
SELECT id,
       unhex(printf('%012x', started_ms & 0xffffffffffff) || '8' || printf('%03x', id & 0xfff) || '8'
             || substr(iif(data_sha256 GLOB '*[^0-9a-f]*', '', coalesce(data_sha256, '')) || '000000000000000', 1, 15)),
       configuration, seed, metrics, device, started_ms, ended_ms, state, history, data_sha256
FROM old_runs WHERE kind = 'training';
INSERT INTO run_labels (run, part, labels, probabilities)
SELECT run, part, labels, probabilities FROM old_run_labels WHERE run IN (SELECT id FROM runs);
INSERT INTO evaluations (kind, configuration, seed, metrics, device, started_ms, ended_ms, state)
SELECT iif(kind = 'train', 'fit', 'evaluation'), configuration, seed, metrics, device, started_ms, ended_ms, state
FROM old_runs WHERE kind <> 'training' ORDER BY id;
DROP TABLE old_runs;
DROP TABLE old_run_labels;
