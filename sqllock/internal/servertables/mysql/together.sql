-- Requests and releases claims, all in one transaction, as far as each of them has its lock to itself. Takes a JSON array, sorted by
-- name, of which no two are about one lock: n is the name in hexadecimal, i the ID, and t the token of a claim that is released, or
-- 0 for one that is requested; that has f, which all IDs of its series are greater than, w, its weight, u, its limit, l, its TTL, and
-- o and v, its owner and its value in hexadecimal. Returns the places of those that were released, and of those that were granted
-- with their tokens, from 1 on. Nothing was done about the others, which are to be requested or released each by itself: their
-- locks are queued for, or their rows are locked, for which it does not wait. The inner SELECT keeps MySQL from locking what is
-- not a table. No assignment of the UPDATE depends on what another one changes, since their order is not known.
CREATE PROCEDURE holdfast1_together(p_claims LONGTEXT CHARACTER SET utf8mb4) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT;
	DECLARE v_alone TEXT CHARACTER SET ascii;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT GROUP_CONCAT(place) INTO v_alone FROM (
		SELECT t.place FROM (SELECT DISTINCT * FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
			place FOR ORDINALITY, n VARCHAR(2048) PATH '$.n', i VARCHAR(64) PATH '$.i', f VARCHAR(64) PATH '$.f', t BIGINT PATH '$.t',
			w BIGINT PATH '$.w', u BIGINT PATH '$.u', l BIGINT PATH '$.l', o VARCHAR(2048) PATH '$.o', v VARCHAR(2048) PATH '$.v'
		)) j) t
		STRAIGHT_JOIN holdfast_locks l ON l.name = UNHEX(t.n)
		WHERE IF(t.t = 0,
			l.id = '' AND NOT l.queued AND l.released = 0
				AND (l.barred <= v_now OR l.ended > CAST(t.f AS BINARY) AND l.ended < CAST(t.i AS BINARY)),
			l.id = CAST(t.i AS BINARY) AND l.token = t.t AND l.deadline > v_now)
		FOR UPDATE SKIP LOCKED
	) free;
	UPDATE JSON_TABLE(p_claims, '$[*]' COLUMNS (
		place FOR ORDINALITY, n VARCHAR(2048) PATH '$.n', i VARCHAR(64) PATH '$.i', f VARCHAR(64) PATH '$.f', t BIGINT PATH '$.t',
		w BIGINT PATH '$.w', u BIGINT PATH '$.u', l BIGINT PATH '$.l', o VARCHAR(2048) PATH '$.o', v VARCHAR(2048) PATH '$.v'
	)) t STRAIGHT_JOIN holdfast_locks l ON l.name = UNHEX(t.n)
	SET l.token = IF(t.t = 0, GREATEST(l.token + 1, v_now), l.token), l.weight = IF(t.t = 0, t.w, l.weight),
		l.units = IF(t.t = 0, t.u, l.units), l.since = IF(t.t = 0, v_now, l.since),
		l.deadline = IF(t.t = 0, v_now + t.l, l.deadline), l.owner = IF(t.t = 0, UNHEX(t.o), l.owner),
		l.value = IF(t.t = 0, UNHEX(t.v), l.value), l.ended = IF(t.t = 0, l.ended, CAST(t.i AS BINARY)),
		l.under = IF(t.t = 0, l.under, t.t), l.barred = IF(t.t = 0, l.barred, GREATEST(l.barred, v_now + l.ttl)),
		l.ttl = IF(t.t = 0, t.l, l.ttl), l.id = IF(t.t = 0, CAST(t.i AS BINARY), '')
	WHERE FIND_IN_SET(t.place, v_alone);
	SELECT t.place, l.token FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
		place FOR ORDINALITY, n VARCHAR(2048) PATH '$.n', i VARCHAR(64) PATH '$.i', f VARCHAR(64) PATH '$.f', t BIGINT PATH '$.t',
		w BIGINT PATH '$.w', u BIGINT PATH '$.u', l BIGINT PATH '$.l', o VARCHAR(2048) PATH '$.o', v VARCHAR(2048) PATH '$.v'
	)) t STRAIGHT_JOIN holdfast_locks l ON l.name = UNHEX(t.n)
	WHERE FIND_IN_SET(t.place, v_alone);
	COMMIT;
END
