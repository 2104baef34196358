-- A project, its copies and its events have ids that never collide; everything that people do is one append-only list of events.

-- The id that all copies of this project share. The program writes it when this migration is done (identity.rs): random for a
-- new project; made from the content for an older one, so that two copies of one old file agree on it.
CREATE TABLE project (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uid BLOB NOT NULL CHECK (length(uid) = 16)
) STRICT;

CREATE TRIGGER project_keeps_its_id BEFORE UPDATE ON project
BEGIN
    SELECT RAISE(ABORT, 'a project keeps its id');
END;

CREATE TRIGGER project_stays BEFORE DELETE ON project
BEGIN
    SELECT RAISE(ABORT, 'a project keeps its id');
END;

-- Where events were appended first: one copy each time that a project was opened to write and something was appended, so that
-- a file that was copied by hand or restored from a backup can never give two events one name.
CREATE TABLE copies (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
    made_at_ms INTEGER NOT NULL
) STRICT;

-- Labels, retractions, skips, flags, notes. Identified everywhere by copy and sequence; the id is this file's own.
-- Exactly the answers have a level, or where that is not enough the answer as JSON. "replaces" is the answer that an answer
-- replaces, or that a retraction takes back: it lies before the event, so no chain of them is a circle.
-- Kept cheap, for imports: IN with a list would build a table of it for each row, and a trigger that looks at what is inserted
-- would make SQLite keep a second journal. That "replaces" is an answer of the same question, text and annotator is the
-- store's to ensure; one that is not is an answer that nobody asks for.
CREATE TABLE events (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    copy INTEGER NOT NULL REFERENCES copies (id),
    sequence INTEGER NOT NULL CHECK (sequence BETWEEN 1 AND 4294967295),
    kind TEXT NOT NULL CHECK (kind = 'answer' OR kind = 'retraction' OR kind = 'skip' OR kind = 'unskip' OR kind = 'flag' OR kind = 'unflag' OR kind = 'note'),
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    at_ms INTEGER NOT NULL,
    duration_ms INTEGER CHECK (duration_ms BETWEEN 0 AND 4294967295),
    source TEXT NOT NULL CHECK (source = 'window' OR source = 'command' OR source = 'import' OR source = 'simulated'),
    level INTEGER,
    content TEXT CHECK (content IS NULL OR json_valid(content)),
    replaces INTEGER REFERENCES events (id) CHECK (replaces < id),
    note TEXT,
    UNIQUE (copy, sequence),
    CHECK ((kind = 'answer') = ((level IS NULL) <> (content IS NULL))),
    CHECK (kind = 'answer' OR (level IS NULL AND content IS NULL AND duration_ms IS NULL)),
    CHECK (kind <> 'retraction' OR replaces IS NOT NULL),
    CHECK (kind = 'answer' OR kind = 'retraction' OR replaces IS NULL),
    FOREIGN KEY (question, level) REFERENCES levels (question, level)
) STRICT;

-- The current answer of each annotator, question and text. Derived from the events by the rule of domain::current_answer and
-- kept in the same transaction, so that reading all answers is one scan.
CREATE TABLE current_answers (
    question INTEGER NOT NULL,
    text INTEGER NOT NULL,
    annotator INTEGER NOT NULL,
    event INTEGER NOT NULL,
    level INTEGER,
    content TEXT,
    PRIMARY KEY (question, text, annotator)
) STRICT, WITHOUT ROWID;

-- The old labels and marks were appended by one copy, whose id the program writes when this migration is done.
INSERT INTO copies (id, uid, made_at_ms)
SELECT 1, x'00000000000000000000000000000000', 0
WHERE EXISTS (SELECT 1 FROM labels) OR EXISTS (SELECT 1 FROM marks);

-- An old label was current while no later one stood: so each replaces the one before it. The levels of a multi-choice question
-- were numbers with the bit of each option.
INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, duration_ms, source, level, content, replaces)
SELECT l.id, 1, l.id, CASE WHEN l.level IS NULL THEN 'retraction' ELSE 'answer' END,
    l.question, l.text, l.annotator, l.at_ms, CASE WHEN l.level IS NOT NULL THEN l.duration_ms END, l.source,
    CASE WHEN q.scale <> 'multi-choice' THEN l.level END,
    CASE WHEN q.scale = 'multi-choice' AND l.level IS NOT NULL THEN
        '{"kind":"options","value":' || (
            SELECT json_group_array(bit) FROM (
                SELECT 0 AS bit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
            ) WHERE (l.level >> bit) & 1
        ) || '}'
    END,
    CASE WHEN l.level IS NULL THEN l.retracts
        ELSE lag(l.id) OVER (PARTITION BY l.question, l.text, l.annotator, l.level IS NULL ORDER BY l.id)
    END
FROM labels AS l JOIN questions AS q ON q.id = l.question
ORDER BY l.id;

-- Of marks the newest row held; now the later time does. Where a clock had jumped back, a mark takes the time of the one before.
INSERT INTO events (id, copy, sequence, kind, question, text, annotator, at_ms, source, note)
SELECT n.last + m.id, 1, n.last + m.id, m.kind, m.question, m.text, m.annotator,
    max(m.at_ms) OVER (PARTITION BY m.question, m.text, m.annotator ORDER BY m.id), 'window', m.note
FROM marks AS m, (SELECT coalesce(max(id), 0) AS last FROM labels) AS n
ORDER BY m.id;

INSERT INTO current_answers (question, text, annotator, event, level, content)
SELECT c.question, c.text, c.annotator, e.id, e.level, e.content
FROM current_labels AS c CROSS JOIN events AS e ON e.id = c.id
ORDER BY c.question, c.text, c.annotator;

-- One annotator's events, and those on one text.
CREATE INDEX events_by_annotator ON events (annotator, question, text);

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are appended, never changed');
END;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are appended, never deleted');
END;

-- The id of the old copy is still to be written.
CREATE TRIGGER copies_keep_their_id BEFORE UPDATE ON copies WHEN OLD.uid <> x'00000000000000000000000000000000'
BEGIN
    SELECT RAISE(ABORT, 'a copy keeps its id');
END;

CREATE TRIGGER copies_stay BEFORE DELETE ON copies
BEGIN
    SELECT RAISE(ABORT, 'a copy keeps its id');
END;

-- Models no longer say up to which label they were fitted: nobody asked.
ALTER TABLE heads DROP COLUMN last_label;

DROP VIEW current_labels;
DROP TABLE labels;
DROP TABLE marks;

-- Of a multi-choice question the options are kept, no longer all sets of them.
CREATE TABLE options AS
SELECT l.question AS question, bits.bit AS level, l.name AS name
FROM levels AS l JOIN questions AS q ON q.id = l.question JOIN (
    SELECT 0 AS bit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
) AS bits ON l.level = 1 << bits.bit
WHERE q.scale = 'multi-choice';
DELETE FROM levels WHERE question IN (SELECT question FROM options);
INSERT INTO levels (question, level, name) SELECT question, level, name FROM options;
DROP TABLE options;
