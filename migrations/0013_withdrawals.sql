-- People who withdrew. Whoever stands here has nothing else in any copy that knows of it: see crates/store/src/erase.rs.

-- That somebody withdrew: facts that their columns name as a whole, so that copies agree on them.
CREATE TABLE withdrawals (
    -- SHA-256 of the project's id and the person's id: whoever meets the person again knows them, and the row names nobody.
    person BLOB NOT NULL CHECK (length(person) = 32),
    at_ms INTEGER NOT NULL,
    -- The copy in which it was done.
    copy BLOB NOT NULL CHECK (length(copy) = 16),
    PRIMARY KEY (person, at_ms, copy)
) STRICT, WITHOUT ROWID;

-- SHA-256 of names that they went by: what was written under one of them is nobody's.
CREATE TABLE withdrawn_names (
    person BLOB NOT NULL CHECK (length(person) = 32),
    name BLOB NOT NULL CHECK (length(name) = 32),
    PRIMARY KEY (person, name)
) STRICT, WITHOUT ROWID;

-- Packets that were handed out to them: what comes back of one is refused by its id.
CREATE TABLE withdrawn_packets (
    person BLOB NOT NULL CHECK (length(person) = 32),
    packet BLOB NOT NULL CHECK (length(packet) = 16),
    PRIMARY KEY (person, packet)
) STRICT, WITHOUT ROWID;

-- A secret from which pseudonyms come, so that two exports of this file give the same ones and nobody outside can tell whose they are.
INSERT INTO settings (key, value) VALUES ('pseudonym-key', '"' || lower(hex(randomblob(32))) || '"');

CREATE TRIGGER withdrawals_are_not_changed BEFORE UPDATE ON withdrawals
BEGIN
    SELECT RAISE(ABORT, 'who withdrew is added, never changed');
END;

CREATE TRIGGER withdrawals_are_not_deleted BEFORE DELETE ON withdrawals
BEGIN
    SELECT RAISE(ABORT, 'who withdrew is added, never deleted');
END;

CREATE TRIGGER withdrawn_names_are_not_changed BEFORE UPDATE ON withdrawn_names
BEGIN
    SELECT RAISE(ABORT, 'who withdrew is added, never changed');
END;

CREATE TRIGGER withdrawn_names_are_not_deleted BEFORE DELETE ON withdrawn_names
BEGIN
    SELECT RAISE(ABORT, 'who withdrew is added, never deleted');
END;

CREATE TRIGGER withdrawn_packets_are_not_changed BEFORE UPDATE ON withdrawn_packets
BEGIN
    SELECT RAISE(ABORT, 'who withdrew is added, never changed');
END;

CREATE TRIGGER withdrawn_packets_are_not_deleted BEFORE DELETE ON withdrawn_packets
BEGIN
    SELECT RAISE(ABORT, 'who withdrew is added, never deleted');
END;
