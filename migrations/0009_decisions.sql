-- What was decided about a text after talking about it. Labels stay as they are: a decision stands beside them. Like repeats, decisions are
-- facts that their columns name as a whole; of several about one text the latest holds.
CREATE TABLE decisions (
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    at_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('slip', 'guideline-gap', 'ambiguous', 'real-difference', 'reopened')),
    -- The decided answer as JSON; empty where none was decided.
    answer TEXT NOT NULL CHECK (answer = '' OR json_valid(answer)),
    comment TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    PRIMARY KEY (question, text, at_ms, outcome, answer, comment, decided_by)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER decisions_are_not_changed BEFORE UPDATE ON decisions
BEGIN
    SELECT RAISE(ABORT, 'decisions are added, never changed');
END;

CREATE TRIGGER decisions_are_not_deleted BEFORE DELETE ON decisions
BEGIN
    SELECT RAISE(ABORT, 'decisions are added, never deleted');
END;
