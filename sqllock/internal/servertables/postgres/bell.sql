-- Names a bell: an advisory lock that the session of a claim's client holds, so that others can wait until it is let go.
-- Takes the claim's ID and which of its bells: 'end' or 'wait'. Returns a key.
CREATE FUNCTION holdfast1_bell(p_id text, p_which text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT hashtextextended('holdfast ' || p_which || ' ' || p_id, 0)
$$;
