-- Reads the format of the tables, in whatever format they are. Takes nothing, returns the format.
SELECT format FROM holdfast_store;
