-- What a change says beside its entry. Earlier versions leave it out and go on working.

ALTER TABLE changes ADD COLUMN details text;
