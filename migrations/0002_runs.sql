-- What a run says on the way, what it learned from, and what it predicted.

-- Evaluations on the way, as JSON.
ALTER TABLE runs ADD COLUMN history TEXT CHECK (json_valid(history));
-- SHA-256 of the labels it was given, in hexadecimal: whether its data have changed since.
ALTER TABLE runs ADD COLUMN data_sha256 TEXT;

-- The labels of each side of the split, so that the split is kept and two runs can be compared label by label. Little-endian:
-- text, annotator and level as 32-bit numbers; probabilities of all levels of each label as 32-bit floats.
CREATE TABLE run_labels (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    part TEXT NOT NULL CHECK (part IN ('train', 'validation', 'test')),
    labels BLOB NOT NULL CHECK (length(labels) % 12 = 0),
    probabilities BLOB CHECK (length(probabilities) % 4 = 0),
    PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;
