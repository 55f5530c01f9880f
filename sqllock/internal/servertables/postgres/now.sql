-- Reads the clock, which goes on within a transaction. Takes nothing, returns microseconds since 1970.
CREATE FUNCTION holdfast1_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;
