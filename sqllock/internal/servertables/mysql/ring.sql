-- Lets go of a bell of this session. Takes the claim's ID and which bell.
CREATE PROCEDURE holdfast1_ring(p_id VARBINARY(64), p_which VARCHAR(4)) SQL SECURITY INVOKER
BEGIN
	DO RELEASE_LOCK(CONCAT('holdfast:', LEFT(SHA2(CONCAT(DATABASE(), ':', p_id), 256), 40), ':', p_which));
END
