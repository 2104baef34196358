-- What a study sets and what is noted of people beside their labels: each row says that, from a time on, something holds of a question, a text
-- and a person, of those that it is about. Facts are the same in every copy that has them; of several of one kind about the same the latest
-- holds, and the JSON value null says that nothing does any more. Kinds are those of the program (FactKind), which says for each whether it
-- goes into packets and whether it is a person's own.
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind <> ''),
    question INTEGER REFERENCES questions (id),
    text INTEGER REFERENCES texts (id),
    annotator INTEGER REFERENCES annotators (id),
    at_ms INTEGER NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT;

CREATE UNIQUE INDEX facts_are_facts
    ON facts (kind, coalesce(question, 0), coalesce(text, 0), coalesce(annotator, 0), at_ms, value);

CREATE TRIGGER facts_are_not_changed BEFORE UPDATE ON facts
BEGIN
    SELECT RAISE(ABORT, 'facts are added, never changed');
END;

CREATE TRIGGER facts_are_not_deleted BEFORE DELETE ON facts
BEGIN
    SELECT RAISE(ABORT, 'facts are added, never deleted');
END;
