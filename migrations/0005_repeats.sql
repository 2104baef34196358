-- Answers that the same person gave to the same text again on purpose, on a second or later occasion. They are no labels: no answer
-- of the first occasion is replaced by them, and no model learns from them.
-- A row is a fact that its columns name as a whole, so that copies of a project have the same facts after taking in each other's, in
-- whatever order. Of several for one occasion the one with the later time counts, then the greater answer.
CREATE TABLE repeats (
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    occasion INTEGER NOT NULL CHECK (occasion BETWEEN 2 AND 65535),
    at_ms INTEGER NOT NULL,
    -- The answer as JSON.
    answer TEXT NOT NULL CHECK (json_valid(answer)),
    source TEXT NOT NULL CHECK (source = 'window' OR source = 'command' OR source = 'import' OR source = 'simulated'),
    PRIMARY KEY (question, text, annotator, occasion, at_ms, answer)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER repeats_are_not_changed BEFORE UPDATE ON repeats
BEGIN
    SELECT RAISE(ABORT, 'repeats are appended, never changed');
END;

CREATE TRIGGER repeats_are_not_deleted BEFORE DELETE ON repeats
BEGIN
    SELECT RAISE(ABORT, 'repeats are appended, never deleted');
END;
