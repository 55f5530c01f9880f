-- Lets go of a bell of this session. Takes the claim's ID and which bell.
CREATE PROCEDURE holdfast1_ring(p_id VARBINARY(64), p_which VARCHAR(4)) SQL SECURITY INVOKER
BEGIN
	DO RELEASE_LOCK(CONCAT('holdfast:', SHA1(CONCAT(DATABASE(), ':', p_id)), ':', p_which));
END
