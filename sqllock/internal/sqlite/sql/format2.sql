-- Brings the tables from format 1 to format 2, in which holders can be asked to let go. Takes and returns nothing.
ALTER TABLE holdfast_claims ADD COLUMN revoked INTEGER NOT NULL DEFAULT 0;
UPDATE holdfast_store SET format = 2;
