-- Refuses tables of another format, and routines of another revision, before anything is made.
DO $$
BEGIN
	IF to_regclass('holdfast_store') IS NOT NULL THEN
		IF EXISTS (SELECT FROM holdfast_store WHERE format <> 1) THEN
			RAISE EXCEPTION 'the tables are in another format than 1; use the holdfast migrate that made them';
		END IF;
	END IF;
	IF to_regprocedure('holdfast1_version()') IS NOT NULL THEN
		IF (SELECT revision FROM holdfast1_version()) <> {revision} THEN
			RAISE EXCEPTION 'the routines are of another revision than {revision}; use the holdfast migrate that made them';
		END IF;
	END IF;
END
$$;
