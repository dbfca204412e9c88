-- A repeated answer says where what it made is, like the first one did.
ALTER TABLE idempotency ADD COLUMN location TEXT;
