-- Says which format the tables have, and which revision the routines. Takes nothing, returns both.
CREATE FUNCTION holdfast1_version() RETURNS TABLE (format integer, revision integer)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT s.format, {revision} FROM holdfast_store s
$$;
