-- Sets what a lock keeps. Takes name, token, time and text; returns nothing.
INSERT INTO holdfast_values (name, token, set_at, text) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET token = excluded.token, set_at = excluded.set_at, text = excluded.text;
