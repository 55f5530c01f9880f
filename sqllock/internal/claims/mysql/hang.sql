-- Hangs up the bells of a claim: locks that the session of its client holds, so that others can wait until they are let
-- go. One that hangs already stays as it is: taken twice, it would have to be let go twice. Takes name and ID.
CREATE PROCEDURE holdfast1_hang(p_name VARBINARY(1024), p_id VARBINARY(64)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_bell VARCHAR(64) DEFAULT CONCAT('holdfast:', LEFT(SHA2(CONCAT(DATABASE(), ':', p_id), 256), 40));
	DECLARE v_shares TINYINT;
	SELECT granted = 0 AND weight < units INTO v_shares FROM holdfast_claims WHERE name = p_name AND id = p_id;
	IF IS_USED_LOCK(CONCAT(v_bell, ':end')) IS NULL THEN
		DO GET_LOCK(CONCAT(v_bell, ':end'), 0);
	END IF;
	IF v_shares AND IS_USED_LOCK(CONCAT(v_bell, ':wait')) IS NULL THEN
		DO GET_LOCK(CONCAT(v_bell, ':wait'), 0);
	END IF;
END
