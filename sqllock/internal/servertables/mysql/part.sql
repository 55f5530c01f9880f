-- Reads a part of a queue, oldest first, looking at so many claims and no more. Takes the name, the token after which to begin,
-- and how many to look at. Returns them and for how long each lives: no longer than 0 where it is over. Those that are granted
-- and those that wait follow each other in the index, so that it looks at as many of both.
CREATE PROCEDURE holdfast1_part(p_name VARBINARY(1024), p_after BIGINT, p_look BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DECLARE v_after BIGINT DEFAULT p_after;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	SELECT GREATEST(p_after, released) INTO v_after FROM holdfast_locks WHERE name = p_name;
	SELECT c.id, c.token, c.weight, c.units, c.ttl, IF(c.token > l.released, c.deadline - v_now, 0), c.since, c.owner, c.value
	FROM (
		(SELECT id, token FROM holdfast_claims FORCE INDEX (holdfast_claims_queue)
			WHERE name = p_name AND granted = 1 AND token > v_after ORDER BY token LIMIT p_look)
		UNION ALL
		(SELECT id, token FROM holdfast_claims FORCE INDEX (holdfast_claims_queue)
			WHERE name = p_name AND granted = 0 AND token > v_after ORDER BY token LIMIT p_look)
		ORDER BY token LIMIT p_look
	) s STRAIGHT_JOIN holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.id = s.id
	UNION ALL
	SELECT id, token, weight, units, ttl, deadline - v_now, since, owner, value
	FROM holdfast_locks WHERE name = p_name AND id <> '' AND token > p_after
	ORDER BY 2;
END
