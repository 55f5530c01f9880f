-- Lists locks with live claims, looking at so many locks and no more. Takes the name to begin at, the name to end before, and
-- how many rows to look at. Returns kinds with names: 0 the name after which to go on, empty at the end; 1 a lock with live
-- claims.
CREATE PROCEDURE holdfast1_page(p_from VARBINARY(1025), p_end VARBINARY(1025), p_look BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DECLARE v_last VARBINARY(1024);
	DECLARE v_seen BIGINT;

	SELECT MAX(name), COUNT(*) INTO v_last, v_seen FROM (
		SELECT name FROM holdfast_locks WHERE name >= p_from AND name < p_end ORDER BY name LIMIT p_look
	) s;
	SELECT 0, IF(v_seen < p_look, '', v_last);
	IF v_seen > 0 THEN
		SELECT 1, l.name FROM holdfast_locks l
		WHERE l.name >= p_from AND l.name <= v_last AND (l.id <> '' AND l.deadline > v_now OR l.queued AND EXISTS (
			SELECT 1 FROM holdfast_claims c WHERE c.name = l.name AND c.deadline > v_now AND c.token > l.released
		));
	END IF;
END
