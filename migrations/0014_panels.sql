-- Panels that are kept: who sits on one, or how it is drawn, and its rule, as JSON that names people, questions and levels. Like decisions,
-- saved panels are facts that their columns name as a whole; of several of one name the latest holds, and an empty one says that it is kept no longer.
CREATE TABLE panels (
    name TEXT NOT NULL CHECK (name <> ''),
    saved_at_ms INTEGER NOT NULL,
    panel TEXT NOT NULL CHECK (panel = '' OR json_valid(panel)),
    PRIMARY KEY (name, saved_at_ms, panel)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER panels_are_not_changed BEFORE UPDATE ON panels
BEGIN
    SELECT RAISE(ABORT, 'panels are added, never changed');
END;

CREATE TRIGGER panels_are_not_deleted BEFORE DELETE ON panels
BEGIN
    SELECT RAISE(ABORT, 'panels are added, never deleted');
END;
