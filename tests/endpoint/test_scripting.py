"""Where a block of Snowflake Scripting ends in a request."""

import pytest

from freehold_devstack.snowflake.statements import divide

TASK = "CREATE TASK t AS "
BLOCKS = [
    "BEGIN SELECT 1; SELECT 2; END",
    "DECLARE x INT; BEGIN x := 1; RETURN x; END",
    "BEGIN IF (TRUE) THEN SELECT 1; END IF; FOR i IN 1 TO 2 DO SELECT 2; END FOR; END",
    "BEGIN LOOP BREAK; END LOOP; REPEAT SELECT 1; UNTIL (TRUE) END REPEAT; WHILE (TRUE) DO BREAK; END WHILE; END",
    "BEGIN LET x := CASE WHEN TRUE THEN 1 END; CASE (x) WHEN 1 THEN SELECT 1; END CASE; END",
    "BEGIN BEGIN SELECT 1; END; DECLARE y INT; BEGIN y := 2; END; END",
    "BEGIN BEGIN TRANSACTION; DROP TABLE IF EXISTS t; COMMIT; BEGIN; COMMIT; EXCEPTION WHEN OTHER THEN RAISE; END",
    "BEGIN SELECT 'END;', $$END;$$, \"END\"; -- END;\n END",
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_is_one_statement(block: str) -> None:
    request = f"{TASK}{block}; SELECT 1;"
    assert [piece.text for piece in divide(request, 0)] == [TASK + block, "SELECT 1"]


@pytest.mark.parametrize("statement", ["SELECT a AS begin FROM t", "BEGIN", "SELECT CASE WHEN TRUE THEN 1 END"])
def test_what_is_no_block_ends_at_its_semicolon(statement: str) -> None:
    assert [piece.text for piece in divide(f"{statement}; SELECT 1", 0)] == [statement, "SELECT 1"]
