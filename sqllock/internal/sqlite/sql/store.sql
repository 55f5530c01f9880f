-- Reads what all requests have to know first. Takes nothing; returns the format, the boot that deadlines belong to, and
-- base and floor of tokens.
SELECT format, boot, base, floor FROM holdfast_store;
