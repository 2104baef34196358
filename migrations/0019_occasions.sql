-- Answers of later annotation rounds become events with an occasion: recorded, changed, taken back, noted and merged like those of the first
-- round. The program moves the rows of the four former tables when these statements are done (reannotations_of_18.rs), and then drops them.

-- The annotation round: 1, or later for re-annotations.
ALTER TABLE events ADD COLUMN occasion INTEGER NOT NULL DEFAULT 1 CHECK (occasion BETWEEN 1 AND 65535);

-- The re-annotations of a question.
CREATE INDEX events_again ON events (annotator, question, text) WHERE occasion > 1;

-- The current answers, for each annotation round.
ALTER TABLE current_answers RENAME TO answers_of_the_first_round;

CREATE TABLE current_answers (
    question INTEGER NOT NULL,
    occasion INTEGER NOT NULL,
    text INTEGER NOT NULL,
    annotator INTEGER NOT NULL,
    event INTEGER NOT NULL,
    level INTEGER,
    content TEXT,
    PRIMARY KEY (question, occasion, text, annotator)
) STRICT, WITHOUT ROWID;

INSERT INTO current_answers (question, occasion, text, annotator, event, level, content)
SELECT question, 1, text, annotator, event, level, content FROM answers_of_the_first_round;

DROP TABLE answers_of_the_first_round;
