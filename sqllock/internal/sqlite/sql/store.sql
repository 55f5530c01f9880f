-- Reads what all requests have to know first. Takes nothing; returns the format, the boot that deadlines belong to, when
-- that began, and base and floor of tokens.
SELECT format, boot, began, base, floor FROM holdfast_store;
