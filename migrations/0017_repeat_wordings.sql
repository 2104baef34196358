-- The wording of the question that was on screen with an answer of a later occasion, by its identity; empty where that is not known.
ALTER TABLE repeat_remarks ADD COLUMN wording BLOB NOT NULL DEFAULT x'' CHECK (length(wording) IN (0, 16));
