-- Hangs up the bells of a claim: locks that the session of its client holds, so that others can wait until they are let
-- go. One that hangs already stays as it is: taken twice, it would have to be let go twice. Takes ID, and whether the claim
-- waits and may share its lock, so that its grant concerns others, too.
CREATE PROCEDURE holdfast1_hang(p_id VARBINARY(64), p_shares TINYINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_bell VARCHAR(64) DEFAULT CONCAT('holdfast:', LEFT(SHA2(CONCAT(DATABASE(), ':', p_id), 256), 40));
	IF IS_USED_LOCK(CONCAT(v_bell, ':end')) IS NULL THEN
		DO GET_LOCK(CONCAT(v_bell, ':end'), 0);
	END IF;
	IF p_shares AND IS_USED_LOCK(CONCAT(v_bell, ':wait')) IS NULL THEN
		DO GET_LOCK(CONCAT(v_bell, ':wait'), 0);
	END IF;
END
