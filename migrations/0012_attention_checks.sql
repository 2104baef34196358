-- Texts whose right answer is known, by which one sees whether people read on. Like decisions, these are facts that their columns name as a
-- whole; of several about one text the latest holds. Packets have none of them.
CREATE TABLE attention_checks (
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    at_ms INTEGER NOT NULL,
    -- The right answer as JSON; empty where the text is no check any more.
    answer TEXT NOT NULL CHECK (answer = '' OR json_valid(answer)),
    reason TEXT NOT NULL,
    PRIMARY KEY (question, text, at_ms, answer, reason)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER attention_checks_are_not_changed BEFORE UPDATE ON attention_checks
BEGIN
    SELECT RAISE(ABORT, 'attention checks are added, never changed');
END;

CREATE TRIGGER attention_checks_are_not_deleted BEFORE DELETE ON attention_checks
BEGIN
    SELECT RAISE(ABORT, 'attention checks are added, never deleted');
END;
