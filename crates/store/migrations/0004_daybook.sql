-- The number of the last entry of the daybook that is in this database.
ALTER TABLE ledger ADD COLUMN daybook INTEGER NOT NULL DEFAULT 0;
