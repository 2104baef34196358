-- What is known of people, as facts that their columns name as a whole: copies agree on names and attributes after taking in each other's, in
-- whatever order. "what" is 'name', or 'attribute:' and the attribute. Of several the latest holds, of these the greater value; an empty
-- value is none. The columns of annotators are what follows from it.
CREATE TABLE annotator_changes (
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    what TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (annotator, what, changed_at_ms, value)
) STRICT, WITHOUT ROWID;

-- When these were given is not known: whatever is said from now on holds.
INSERT INTO annotator_changes (annotator, what, changed_at_ms, value) SELECT id, 'name', 0, name FROM annotators;
INSERT INTO annotator_changes (annotator, what, changed_at_ms, value)
SELECT a.id, 'attribute:' || e.key, 0, CAST(e.value AS TEXT) FROM annotators AS a, json_each(a.attributes) AS e;

CREATE TRIGGER annotator_changes_are_not_changed BEFORE UPDATE ON annotator_changes
BEGIN
    SELECT RAISE(ABORT, 'what is known of people is added, never changed');
END;

CREATE TRIGGER annotator_changes_are_not_deleted BEFORE DELETE ON annotator_changes
BEGIN
    SELECT RAISE(ABORT, 'what is known of people is added, never deleted');
END;
