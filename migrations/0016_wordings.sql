-- What was on screen with an answer, and what two copies of a project noted apart of one text or question.

-- Wordings of questions: prompt, help, levels with their definitions, as JSON. Named by the first 16 bytes of the SHA-256 of the content, so
-- that copies that never met name one wording alike.
CREATE TABLE wordings (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
    content TEXT NOT NULL CHECK (json_valid(content))
) STRICT;

CREATE TRIGGER wordings_are_not_changed BEFORE UPDATE ON wordings
BEGIN
    SELECT RAISE(ABORT, 'wordings are added, never changed');
END;

-- The wording that was on screen; null where it is not known, as for imported answers and those of earlier versions.
ALTER TABLE events ADD COLUMN wording INTEGER REFERENCES wordings (id);

CREATE INDEX events_by_wording ON events (wording, at_ms) WHERE wording IS NOT NULL;

-- The answer that somebody gave last, which undo takes back.
CREATE INDEX events_given ON events (annotator, question, at_ms) WHERE kind = 'answer' AND (source = 'window' OR source = 'command');

-- When a text or a question was added, 0 where that is not known, and in which place, which is that of its row where "position" is null:
-- copies that add one apart agree on what was noted later, and all copies list everything in one order. "field_times" has the time of each
-- field of a text that is not from then, as a JSON object.
ALTER TABLE texts ADD COLUMN noted_at_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE texts ADD COLUMN position INTEGER;
ALTER TABLE texts ADD COLUMN field_times TEXT CHECK (field_times IS NULL OR json_valid(field_times));
ALTER TABLE questions ADD COLUMN noted_at_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE questions ADD COLUMN position INTEGER;
ALTER TABLE annotators ADD COLUMN position INTEGER;
