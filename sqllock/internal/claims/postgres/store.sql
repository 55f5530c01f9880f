-- Says which format the tables and routines have. Takes and returns nothing.
CREATE TABLE holdfast_store (
	format integer NOT NULL -- of the tables and of the routines, whose names begin with it
);
INSERT INTO holdfast_store (format) VALUES (1);
