-- Answers of later occasions that were taken back, as where a wrong column was named as the occasion, and that were added again since. An
-- answer of a later occasion counts unless its last change says otherwise; of two changes at the same time the one that counts it holds. Like
-- the answers, changes are facts that their columns name as a whole: copies agree after taking in each other's, in whatever order.
CREATE TABLE repeat_changes (
    question INTEGER NOT NULL,
    text INTEGER NOT NULL,
    annotator INTEGER NOT NULL,
    occasion INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    answer TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    counts INTEGER NOT NULL CHECK (counts IN (0, 1)),
    PRIMARY KEY (question, text, annotator, occasion, at_ms, answer, changed_at_ms, counts),
    FOREIGN KEY (question, text, annotator, occasion, at_ms, answer)
        REFERENCES repeats (question, text, annotator, occasion, at_ms, answer)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER repeat_changes_are_not_changed BEFORE UPDATE ON repeat_changes
BEGIN
    SELECT RAISE(ABORT, 'changes of repeats are appended, never changed');
END;

CREATE TRIGGER repeat_changes_are_not_deleted BEFORE DELETE ON repeat_changes
BEGIN
    SELECT RAISE(ABORT, 'changes of repeats are appended, never deleted');
END;
