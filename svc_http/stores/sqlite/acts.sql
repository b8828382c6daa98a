-- What acts on a record is found by the identifier of that: a part of the head, which is never
-- erased and has at most 700 bytes.
CREATE INDEX i_ledger_target ON ledger_bodies (
  substr(line, instr(substr(line, 1, 800), CAST('"target":"' AS BLOB)) + 10, 28))
WHERE instr(substr(line, 1, 800), CAST('"target":"' AS BLOB)) BETWEEN 1
  AND instr(substr(line, 1, 800), CAST(',"payload":' AS BLOB));
CREATE INDEX i_ledger_body ON ledger_lines (body);
