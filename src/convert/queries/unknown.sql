-- The checks of new columns that are not known to hold.
:wide
, unknown AS (
    SELECT tab, nth, c.name FROM wide, LATERAL (VALUES (same), (filled)) AS c(name)
    WHERE root AND (attnotnull OR c.name = same) AND NOT EXISTS (
        SELECT FROM pg_constraint k WHERE k.conrelid = relation AND k.conname = c.name AND k.convalidated))
