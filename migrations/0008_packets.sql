-- Texts handed out to one person together: a packet. Packets are added and never changed, like events; copies of a project have the same
-- packets after taking in each other's. "key" signs what is handed in; "seed" drew texts and order.
CREATE TABLE packets (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),
    uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
    annotator INTEGER NOT NULL REFERENCES annotators (id),
    made_at_ms INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    key BLOB NOT NULL CHECK (length(key) = 32)
) STRICT;

-- What is asked of each text of a packet, in this order.
CREATE TABLE packet_questions (
    packet INTEGER NOT NULL REFERENCES packets (id),
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 65535),
    question INTEGER NOT NULL REFERENCES questions (id),
    PRIMARY KEY (packet, position),
    UNIQUE (packet, question)
) STRICT, WITHOUT ROWID;

-- The texts of a packet in the order in which they are asked. A text that is asked again comes a second time, as occasion 2. An anchor is a
-- text that everybody is asked.
CREATE TABLE assignments (
    packet INTEGER NOT NULL REFERENCES packets (id),
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 4294967295),
    text INTEGER NOT NULL REFERENCES texts (id),
    occasion INTEGER NOT NULL CHECK (occasion BETWEEN 1 AND 65535),
    anchor INTEGER NOT NULL CHECK (anchor IN (0, 1)),
    PRIMARY KEY (packet, position),
    UNIQUE (packet, text, occasion)
) STRICT, WITHOUT ROWID;

-- When a packet was handed in, and with how many answers. A fact that its columns name as a whole.
CREATE TABLE hand_ins (
    packet INTEGER NOT NULL REFERENCES packets (id),
    at_ms INTEGER NOT NULL,
    answers INTEGER NOT NULL CHECK (answers BETWEEN 0 AND 4294967295),
    PRIMARY KEY (packet, at_ms, answers)
) STRICT, WITHOUT ROWID;

-- The last answer of a later occasion that somebody gave: what is given after it gets a later time, so that undo goes back in order.
CREATE INDEX repeats_by_annotator ON repeats (annotator, source, at_ms);

CREATE TRIGGER packets_are_not_changed BEFORE UPDATE ON packets
BEGIN
    SELECT RAISE(ABORT, 'packets are added, never changed');
END;

CREATE TRIGGER packets_are_not_deleted BEFORE DELETE ON packets
BEGIN
    SELECT RAISE(ABORT, 'packets are added, never deleted');
END;

CREATE TRIGGER packet_questions_are_not_changed BEFORE UPDATE ON packet_questions
BEGIN
    SELECT RAISE(ABORT, 'packets are added, never changed');
END;

CREATE TRIGGER packet_questions_are_not_deleted BEFORE DELETE ON packet_questions
BEGIN
    SELECT RAISE(ABORT, 'packets are added, never deleted');
END;

CREATE TRIGGER assignments_are_not_changed BEFORE UPDATE ON assignments
BEGIN
    SELECT RAISE(ABORT, 'assignments are added, never changed');
END;

CREATE TRIGGER assignments_are_not_deleted BEFORE DELETE ON assignments
BEGIN
    SELECT RAISE(ABORT, 'assignments are added, never deleted');
END;

CREATE TRIGGER hand_ins_are_not_changed BEFORE UPDATE ON hand_ins
BEGIN
    SELECT RAISE(ABORT, 'what was handed in is added, never changed');
END;

CREATE TRIGGER hand_ins_are_not_deleted BEFORE DELETE ON hand_ins
BEGIN
    SELECT RAISE(ABORT, 'what was handed in is added, never deleted');
END;
