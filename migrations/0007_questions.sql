-- What became of questions since they were added. Like repeats, these are facts that their columns name as a whole: copies agree after
-- taking in each other's, in whatever order. Of several the latest holds.

-- What the levels (options, types of spans) of a question are called from then on: a JSON list of all their names, in their order. The levels
-- themselves stay, with the names that they began with: labels stand on them, and copies know them by these names.
CREATE TABLE level_names (
    question INTEGER NOT NULL REFERENCES questions (id),
    changed_at_ms INTEGER NOT NULL,
    names TEXT NOT NULL CHECK (json_valid(names)),
    PRIMARY KEY (question, changed_at_ms, names)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER level_names_are_not_changed BEFORE UPDATE ON level_names
BEGIN
    SELECT RAISE(ABORT, 'names of levels are appended, never changed');
END;

CREATE TRIGGER level_names_are_not_deleted BEFORE DELETE ON level_names
BEGIN
    SELECT RAISE(ABORT, 'names of levels are appended, never deleted');
END;

-- Where a question is asked from then on: only where "other" was answered with one of these levels, a JSON list of their numbers; always where
-- the list is empty.
CREATE TABLE conditions (
    question INTEGER NOT NULL REFERENCES questions (id),
    changed_at_ms INTEGER NOT NULL,
    other INTEGER NOT NULL REFERENCES questions (id),
    levels TEXT NOT NULL CHECK (json_valid(levels)),
    PRIMARY KEY (question, changed_at_ms, other, levels),
    CHECK (other <> question)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER conditions_are_not_changed BEFORE UPDATE ON conditions
BEGIN
    SELECT RAISE(ABORT, 'conditions are appended, never changed');
END;

CREATE TRIGGER conditions_are_not_deleted BEFORE DELETE ON conditions
BEGIN
    SELECT RAISE(ABORT, 'conditions are appended, never deleted');
END;

CREATE TRIGGER levels_are_not_deleted BEFORE DELETE ON levels
BEGIN
    SELECT RAISE(ABORT, 'levels are never deleted: labels stand on them');
END;
