-- One log of facts: what the study decides, sets and notes, in the one table of facts. A fact is about a question, a text, an annotator and a
-- key, of those that its kind has. Copies that migrate apart have equal facts, so values are written as the program writes them: keys of
-- objects in alphabetical order.
DROP INDEX facts_are_facts;
DROP TRIGGER facts_are_not_changed;
DROP TRIGGER facts_are_not_deleted;

-- What else a fact is about: the name of a panel or of an attribute, a packet, a hash.
ALTER TABLE facts ADD COLUMN key TEXT;

-- Rows of the former tables that differ only in how their JSON was written become one fact.
CREATE UNIQUE INDEX facts_are_facts
    ON facts (kind, coalesce(question, 0), coalesce(text, 0), coalesce(annotator, 0), coalesce(key, ''), at_ms, value);

-- Imports are recorded as ranges of row ids. Facts at the end of a range may have been deleted, and those that are added below must not
-- be in it.
UPDATE settings SET value = (
    SELECT json_group_array(
        json(CASE
            WHEN json_type(i.value, '$.rows.facts') = 'array' THEN json_set(
                i.value, '$.rows.facts[1]', min(i.value ->> '$.rows.facts[1]', (SELECT coalesce(max(id), 0) FROM facts)))
            ELSE i.value
        END)
        ORDER BY i.key)
    FROM json_each(settings.value) AS i
)
WHERE key = 'imports' AND json_type(value) = 'array';

INSERT INTO facts (kind, question, at_ms, value)
SELECT 'level-names', question, changed_at_ms, json(names) FROM level_names ORDER BY question, changed_at_ms, names
ON CONFLICT DO NOTHING;

-- The other question by its name, and levels by the names that they began with.
INSERT INTO facts (kind, question, at_ms, value)
SELECT 'condition', c.question, c.changed_at_ms, json_object(
    'levels', json((
        SELECT json_group_array(name) FROM (
            SELECT DISTINCT l.name AS name FROM json_each(c.levels) AS j JOIN levels AS l ON l.question = c.other AND l.level = j.value
            ORDER BY l.name
        )
    )),
    'question', o.name
)
FROM conditions AS c JOIN questions AS o ON o.id = c.other
ORDER BY c.question, c.changed_at_ms, c.other, c.levels
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, question, at_ms, value)
SELECT 'remark-form', question, changed_at_ms, json_object('confidence', json(iif(confidence, 'true', 'false')), 'reasons', json(reasons))
FROM remark_forms ORDER BY question, changed_at_ms, reasons, confidence
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, annotator, key, at_ms, value)
SELECT iif(what = 'name', 'annotator-name', 'annotator-attribute'), annotator, iif(what = 'name', NULL, substr(what, length('attribute:') + 1)),
    changed_at_ms, json_quote(value)
FROM annotator_changes ORDER BY annotator, what, changed_at_ms, value
ON CONFLICT DO NOTHING;

-- Only spans have objects inside an answer.
INSERT INTO facts (kind, question, text, at_ms, value)
SELECT 'decision', question, text, at_ms, json_object(
    'answer', json(CASE
        WHEN answer = '' THEN 'null'
        WHEN json_extract(answer, '$.kind') = 'spans' THEN json_object('kind', 'spans', 'value', json((
            SELECT json_group_array(json_object('end', s.value ->> 'end', 'kind', s.value ->> 'kind', 'start', s.value ->> 'start') ORDER BY s.key)
            FROM json_each(answer, '$.value') AS s
        )))
        ELSE answer
    END),
    'by', decided_by, 'comment', comment, 'outcome', outcome
)
FROM decisions ORDER BY at_ms, question, text, outcome, answer, comment, decided_by
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, question, text, at_ms, value)
SELECT 'attention-check', question, text, at_ms, json_object(
    'answer', json(CASE
        WHEN answer = '' THEN 'null'
        WHEN json_extract(answer, '$.kind') = 'spans' THEN json_object('kind', 'spans', 'value', json((
            SELECT json_group_array(json_object('end', s.value ->> 'end', 'kind', s.value ->> 'kind', 'start', s.value ->> 'start') ORDER BY s.key)
            FROM json_each(answer, '$.value') AS s
        )))
        ELSE answer
    END),
    'reason', reason
)
FROM attention_checks ORDER BY at_ms, question, text, answer, reason
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, key, at_ms, value)
SELECT 'panel', name, saved_at_ms, CASE WHEN panel = '' THEN 'null' ELSE json_object(
    'members', json(CASE
        WHEN json_type(panel, '$.members.drawn') IS NULL THEN panel -> '$.members'
        ELSE json_object('drawn', json_object(
            'seed', panel -> '$.members.drawn.seed',
            'shares', json((
                SELECT json_group_array(json_object('attribute', s.value -> 'attribute', 'share', s.value -> 'share', 'value', s.value -> 'value')
                    ORDER BY s.key)
                FROM json_each(panel, '$.members.drawn.shares') AS s
            )),
            'size', panel -> '$.members.drawn.size'
        ))
    END),
    'question', panel -> '$.question',
    'rule', panel -> '$.rule'
) END
FROM panels ORDER BY saved_at_ms, name, panel
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, annotator, key, at_ms, value)
SELECT 'hand-in', p.annotator,
    lower(substr(hex(p.uid), 1, 8) || '-' || substr(hex(p.uid), 9, 4) || '-' || substr(hex(p.uid), 13, 4) || '-' || substr(hex(p.uid), 17, 4) || '-'
        || substr(hex(p.uid), 21)),
    h.at_ms, CAST(h.answers AS TEXT)
FROM hand_ins AS h JOIN packets AS p ON p.id = h.packet ORDER BY h.at_ms, p.id, h.answers
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, key, at_ms, value)
SELECT 'withdrawal', lower(hex(person)), at_ms,
    '"' || lower(substr(hex(copy), 1, 8) || '-' || substr(hex(copy), 9, 4) || '-' || substr(hex(copy), 13, 4) || '-' || substr(hex(copy), 17, 4)
        || '-' || substr(hex(copy), 21)) || '"'
FROM withdrawals ORDER BY at_ms, person, copy
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, key, at_ms, value)
SELECT 'withdrawn-name', lower(hex(name)), 0, '"' || lower(hex(person)) || '"' FROM withdrawn_names ORDER BY name, person
ON CONFLICT DO NOTHING;

INSERT INTO facts (kind, key, at_ms, value)
SELECT 'withdrawn-packet',
    lower(substr(hex(packet), 1, 8) || '-' || substr(hex(packet), 9, 4) || '-' || substr(hex(packet), 13, 4) || '-' || substr(hex(packet), 17, 4)
        || '-' || substr(hex(packet), 21)),
    0, '"' || lower(hex(person)) || '"'
FROM withdrawn_packets ORDER BY packet, person
ON CONFLICT DO NOTHING;

DROP TABLE level_names;
DROP TABLE conditions;
DROP TABLE remark_forms;
DROP TABLE annotator_changes;
DROP TABLE decisions;
DROP TABLE attention_checks;
DROP TABLE panels;
DROP TABLE hand_ins;
DROP TABLE withdrawals;
DROP TABLE withdrawn_names;
DROP TABLE withdrawn_packets;

CREATE TRIGGER facts_are_not_changed BEFORE UPDATE ON facts
BEGIN
    SELECT RAISE(ABORT, 'facts are added, never changed');
END;

CREATE TRIGGER facts_are_not_deleted BEFORE DELETE ON facts
BEGIN
    SELECT RAISE(ABORT, 'facts are added, never deleted');
END;
