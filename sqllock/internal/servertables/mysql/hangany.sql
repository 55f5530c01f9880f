-- Hangs up bells of claims that were just renewed, whose rows are locked since. Takes a JSON array of arrays of name in
-- hexadecimal, ID, token, TTL, and 1 for those that want bells; names that are left out; and when they were renewed.
CREATE PROCEDURE holdfast1_hangany(
	p_claims LONGTEXT CHARACTER SET utf8mb4, p_without LONGTEXT CHARACTER SET ascii, p_now BIGINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_id VARBINARY(64);
	DECLARE v_shares, v_end TINYINT DEFAULT 0;
	DECLARE renewed CURSOR FOR
		SELECT c.id, NOT c.granted AND c.weight < c.units
		FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
			name VARCHAR(2048) PATH '$[0]', id VARCHAR(64) PATH '$[1]', token BIGINT PATH '$[2]', ttl BIGINT PATH '$[3]',
			bells TINYINT PATH '$[4]'
		)) t
		STRAIGHT_JOIN holdfast_claims c ON c.name = UNHEX(t.name) AND c.id = CAST(t.id AS BINARY)
		WHERE t.bells = 1 AND NOT FIND_IN_SET(t.name, p_without) AND c.deadline > p_now AND t.token IN (0, c.token)
			AND (c.detached AND t.ttl > 0 OR c.deadline = p_now + ABS(t.ttl));
	DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_end = 1;

	OPEN renewed;
	each_claim: LOOP
		FETCH renewed INTO v_id, v_shares;
		IF v_end THEN
			LEAVE each_claim;
		END IF;
		CALL holdfast1_hang(v_id, v_shares);
	END LOOP;
	CLOSE renewed;
END
