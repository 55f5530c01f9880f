-- Says which format the tables and routines have, once all are there. Takes and returns nothing.
CREATE TABLE IF NOT EXISTS holdfast_store (
	format INT NOT NULL -- of the tables and of the routines, whose names begin with it
) ENGINE = InnoDB;
DELETE FROM holdfast_store;
INSERT INTO holdfast_store (format) VALUES (1);
