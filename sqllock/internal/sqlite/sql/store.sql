-- Reads what all requests have to know first. Takes nothing, returns the format and the boot that deadlines belong to.
SELECT format, boot FROM holdfast_store;
