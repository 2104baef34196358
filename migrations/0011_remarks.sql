-- What annotators go by, and what they say beside an answer.

-- Versions of the guideline: added and never changed, like events. The last one by time, then identity, holds.
CREATE TABLE guidelines (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
    at_ms INTEGER NOT NULL,
    -- Markdown, with pictures as picture:NAME.
    body TEXT NOT NULL,
    -- What is new in this version, in its author's words.
    change TEXT NOT NULL,
    written_by TEXT NOT NULL
) STRICT;

-- Pictures of guidelines, named by the first 16 hexadecimal digits of the SHA-256 of their bytes.
CREATE TABLE pictures (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL UNIQUE CHECK (length(name) = 16),
    media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/gif', 'image/webp')),
    bytes BLOB NOT NULL
) STRICT;

-- What can be said beside an answer to a question: reasons to choose from, as a JSON list, and whether it is asked how sure the person is.
-- Facts that their columns name as a whole; of several about one question the latest holds.
CREATE TABLE remark_forms (
    question INTEGER NOT NULL REFERENCES questions (id),
    changed_at_ms INTEGER NOT NULL,
    reasons TEXT NOT NULL CHECK (json_valid(reasons)),
    confidence INTEGER NOT NULL CHECK (confidence IN (0, 1)),
    PRIMARY KEY (question, changed_at_ms, reasons, confidence)
) STRICT, WITHOUT ROWID;

-- Beside "note": the reasons that the annotator chose, as a JSON list, how sure they are, from 1 to 5, and the version of the guideline that
-- they had on screen.
ALTER TABLE events ADD COLUMN reasons TEXT CHECK (reasons IS NULL OR json_valid(reasons));
ALTER TABLE events ADD COLUMN confidence INTEGER CHECK (confidence BETWEEN 1 AND 5);
ALTER TABLE events ADD COLUMN guideline INTEGER REFERENCES guidelines (id);

-- What was said beside an answer of a later occasion, which is named by its columns: facts that their columns name as a whole, of which
-- the latest holds. An empty note, no reasons and a confidence of 0 are none.
CREATE TABLE repeat_remarks (
    question INTEGER NOT NULL REFERENCES questions (id),
    text INTEGER NOT NULL REFERENCES texts (id),
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    occasion INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    answer TEXT NOT NULL,
    said_at_ms INTEGER NOT NULL,
    note TEXT NOT NULL,
    reasons TEXT NOT NULL CHECK (json_valid(reasons)),
    confidence INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 5),
    guideline BLOB NOT NULL CHECK (length(guideline) IN (0, 16)),
    PRIMARY KEY (question, text, annotator, occasion, at_ms, answer, said_at_ms, note, reasons, confidence, guideline),
    FOREIGN KEY (question, text, annotator, occasion, at_ms, answer)
        REFERENCES repeats (question, text, annotator, occasion, at_ms, answer)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER guidelines_are_not_changed BEFORE UPDATE ON guidelines
BEGIN
    SELECT RAISE(ABORT, 'versions of the guideline are added, never changed');
END;

CREATE TRIGGER guidelines_are_not_deleted BEFORE DELETE ON guidelines
BEGIN
    SELECT RAISE(ABORT, 'versions of the guideline are added, never deleted');
END;

CREATE TRIGGER pictures_are_not_changed BEFORE UPDATE ON pictures
BEGIN
    SELECT RAISE(ABORT, 'pictures are added, never changed');
END;

CREATE TRIGGER pictures_are_not_deleted BEFORE DELETE ON pictures
BEGIN
    SELECT RAISE(ABORT, 'pictures are added, never deleted');
END;

CREATE TRIGGER repeat_remarks_are_not_changed BEFORE UPDATE ON repeat_remarks
BEGIN
    SELECT RAISE(ABORT, 'what was said beside an answer is added, never changed');
END;

CREATE TRIGGER repeat_remarks_are_not_deleted BEFORE DELETE ON repeat_remarks
BEGIN
    SELECT RAISE(ABORT, 'what was said beside an answer is added, never deleted');
END;

CREATE TRIGGER remark_forms_are_not_changed BEFORE UPDATE ON remark_forms
BEGIN
    SELECT RAISE(ABORT, 'what can be said beside an answer is added, never changed');
END;

CREATE TRIGGER remark_forms_are_not_deleted BEFORE DELETE ON remark_forms
BEGIN
    SELECT RAISE(ABORT, 'what can be said beside an answer is added, never deleted');
END;
