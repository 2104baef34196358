-- Where an answer of a later occasion came from, and under which wording of the question it was given (by identity; empty where that is not
-- known). Facts that their columns name as a whole, so that copies that have the same answer from different places agree: an answer that one
-- of them says was given was given, and of several wordings the greatest holds.
CREATE TABLE repeat_origins (
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    occasion INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    answer TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source = 'window' OR source = 'command' OR source = 'import' OR source = 'simulated'),
    wording BLOB NOT NULL CHECK (length(wording) IN (0, 16)),
    PRIMARY KEY (question, text, annotator, occasion, at_ms, answer, source, wording),
    FOREIGN KEY (question, text, annotator, occasion, at_ms, answer)
        REFERENCES repeats (question, text, annotator, occasion, at_ms, answer)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER repeat_origins_are_not_changed BEFORE UPDATE ON repeat_origins
BEGIN
    SELECT RAISE(ABORT, 'where an answer came from is added, never changed');
END;

CREATE TRIGGER repeat_origins_are_not_deleted BEFORE DELETE ON repeat_origins
BEGIN
    SELECT RAISE(ABORT, 'where an answer came from is added, never deleted');
END;
