"""Functions and procedures: sources that end nothing, rows of overloads, what can't be said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from freehold import planning, returned, sql, validation
from freehold.datatypes import InvalidDataType
from freehold.identity import Name
from freehold.kinds.registry import KINDS
from freehold.observation import Row
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.tokens import tokenize

FUNCTION = KINDS["FunctionSQL"]
PROCEDURE = KINDS["ProcedureSQL"]
PYTHON = KINDS["FunctionPython"]

sources = st.text(st.one_of(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), st.sampled_from("$'\\")))


@given(sources)
@example("$$; DROP DATABASE D; --")
@example("$")
@example("a$")
@example("\\'; DROP DATABASE D; --")
@example("'$$\\")
@example("$$ $$ '")
@example("\\$$")
def test_a_source_is_one_string_and_nothing_else_whatever_it_holds(text: str) -> None:
    parser = Parser(tokenize(sql.source(text).text))
    assert parser.string() == text
    parser.end()


def test_a_source_is_shown_to_nobody() -> None:
    statement = sql.sql("CREATE FUNCTION F() AS {source}", source=sql.source("canary"))
    assert "canary" not in f"{statement} {statement!r}"


def _spec(kind: Any = FUNCTION, **fields: Any) -> Any:
    base = {"databaseName": "D", "schemaName": "S", "name": "F", "returns": "FLOAT", "body": "1"}
    return kind.spec.model_validate({**base, **fields})


def test_neither_differences_nor_reprs_show_a_source() -> None:
    spec = _spec(body="canary")
    body = next(each for each in FUNCTION.fields if each.name == "body")
    assert "canary" not in repr(spec)
    assert "canary" not in body.facts.shown("canary")


ROWS = [
    # name, what SHOW prints, types of the object that it is
    ("F", "F() RETURN FLOAT", ()),
    ("F", "F(NUMBER, VARCHAR) RETURN FLOAT", ("NUMBER", "VARCHAR")),
    ("F", "F(NUMBER(36,2), VARCHAR(16777216)) RETURN TABLE (A NUMBER, B VARCHAR)", ("NUMBER", "VARCHAR")),
    ("F", "F(VECTOR(INT, 16), DEFAULT TIMESTAMP_NTZ) RETURN NUMBER", ("VECTOR(INT, 16)", "TIMESTAMP_NTZ")),
    ("F", "F(A NUMBER, DEFAULT B VARCHAR) RETURN NUMBER", ("NUMBER", "VARCHAR")),
    ("F", "F(OUT NUMBER, IN TEXT) RETURN NUMBER", ("NUMBER", "VARCHAR")),
    ("F(x) RETURN ", "F(x) RETURN (NUMBER) RETURN FLOAT", ("NUMBER",)),
    ('a"(', '"a""("(FLOAT) RETURN FLOAT', ("FLOAT",)),
]


@pytest.mark.parametrize(("name", "arguments", "types"), ROWS)
def test_a_row_is_of_the_overload_whose_argument_types_it_prints(
    name: str, arguments: str, types: tuple[str, ...]
) -> None:
    target = FUNCTION.target_of(Name(("D", "S", name), types))
    row: Row = {"name": name, "arguments": arguments, "schema_name": '"S"', "catalog_name": "D"}
    others: list[Row] = [
        {**row, "name": name.lower() + "_"},
        {**row, "schema_name": "T"},
        {**row, "catalog_name": "d"},
        {**row, "arguments": f"{name}(GEOGRAPHY) RETURN FLOAT"},
        {**row, "arguments": "can't be read"},
        {**row, "arguments": None},
    ]
    assert FUNCTION.row_of(target, [*others, row]) == row
    assert FUNCTION.row_of(target, others) is None


def test_functions_and_procedures_are_asked_for_where_they_lie() -> None:
    function, procedure = (each.target_of(Name(("D", "S", "F"), ("FLOAT",))) for each in (FUNCTION, PROCEDURE))
    assert FUNCTION.show(function).text == 'SHOW USER FUNCTIONS LIKE \'F\' IN SCHEMA "D"."S"'
    assert PROCEDURE.show(procedure).text == 'SHOW PROCEDURES LIKE \'F\' IN SCHEMA "D"."S"'
    assert FUNCTION.show_parameters(function).text == 'SHOW PARAMETERS IN FUNCTION "D"."S"."F"(FLOAT)'


def test_functions_of_all_languages_share_their_names_and_procedures_have_their_own() -> None:
    languages = [KINDS[f"Function{each}"] for each in ("SQL", "Python", "Javascript")]
    assert {each.object_class for each in languages} == {"FUNCTION"}
    assert PROCEDURE.object_class == "PROCEDURE"


RETURNED = [
    # written, printed, whether they are the same
    ("INT", "NUMBER(38,0)", True),
    ("VARCHAR", "VARCHAR", True),
    ("VARCHAR", "VARCHAR(134217728)", True),
    ("VARCHAR(10)", "VARCHAR", False),
    ("NUMBER(36,2)", "NUMBER(36,3)", False),
    ("TABLE (a int)", "TABLE (A NUMBER(38,0))", True),
    ('TABLE ("a" int)', "TABLE (A NUMBER(38,0))", False),
    ('TABLE ("a b" int, "c," text)', 'TABLE (a b NUMBER(38,0), "c," VARCHAR)', True),
    ("TABLE (A INT)", "TABLE (A NUMBER(38,0), B FLOAT)", False),
    ("TABLE (A INT)", "NUMBER(38,0)", False),
    ("TABLE()", "TABLE ()", True),
]


@pytest.mark.parametrize(("written", "printed", "same"), RETURNED)
def test_what_is_returned_is_compared_by_what_it_means(written: str, printed: str, same: bool) -> None:
    live = returned.read(printed)
    assert live is not None
    assert returned.matches(returned.parse(written), live) is same


@pytest.mark.parametrize("text", ["", "TIMESTAMP", "TABLE (INT)", "TABLE (A INT,)", "TABLE (A.B INT)", "INT NOT NULL"])
def test_what_is_no_return_type_is_refused(text: str) -> None:
    with pytest.raises(InvalidDataType):
        returned.parse(text)


X = {"name": "X", "type": "FLOAT"}
FAULTS = [
    # kind, fields, what is wrong
    (FUNCTION, {"arguments": [X, {**X, "name": "x"}]}, "spec.arguments[1].name: x is another argument's name, too"),
    (
        FUNCTION,
        {"arguments": [{**X, "defaultValue": "1"}, {**X, "name": "Y"}]},
        "spec.arguments[1]: it needs a default",
    ),
    (FUNCTION, {"arguments": [{**X, "type": "TIMESTAMP"}]}, "spec.arguments[0].type: TIMESTAMP depends on"),
    (FUNCTION, {"arguments": [{**X, "defaultValue": "1) --"}]}, "spec.arguments[0].defaultValue: ) in line 1"),
    (FUNCTION, {"returns": "TABLE (A BLOB)"}, "spec.returns: Snowflake has no type BLOB"),
    (FUNCTION, {"arguments": [{"name": f"A{n:0200}", "type": "FLOAT"} for n in range(50)]}, "at most 9800 together"),
    (FUNCTION, {"memoizable": True, "returns": "TABLE (A INT)"}, "spec.memoizable: the results of a function that"),
    (FUNCTION, {"body": "SELECT 1;\n"}, "spec.body: it is one expression or one query: leave out the semicolon"),
    (FUNCTION, {"body": "a\0"}, "spec.body: it holds a NUL character"),
    (FUNCTION, {"body": " \n"}, "spec.body: it is empty"),
    (KINDS["FunctionJavascript"], {"returns": "INT"}, "spec.returns: JavaScript has no NUMBER: use FLOAT"),
    (KINDS["FunctionJavascript"], {"arguments": [{"name": "T", "type": "TIME"}]}, "spec.arguments[0].type: JavaScript"),
    (PYTHON, {"returns": "DECFLOAT", "handler": "h", "runtimeVersion": "3.12"}, "spec.returns: Python has no DECFLOAT"),
    (
        PYTHON,
        {"isAggregate": True, "returns": "TABLE (A INT)", "handler": "h", "runtimeVersion": "3.12"},
        "spec.returns: an aggregate function returns one value",
    ),
    (
        PYTHON,
        {"imports": ["s3://a/b"], "handler": "h", "runtimeVersion": "3.12"},
        "spec.imports[0]: not a file on a stage",
    ),
    (
        PYTHON,
        {"secrets": [{"variableName": "a", "secretName": "S"}] * 2, "handler": "h", "runtimeVersion": "3.12"},
        "spec.secrets[1].variableName: a is another secret's name, too",
    ),
]


@pytest.mark.parametrize(("kind", "fields", "fault"), FAULTS)
def test_what_snowflake_would_refuse_is_told_before(kind: Any, fields: dict[str, Any], fault: str) -> None:
    assert fault in "; ".join(validation.faults(kind, _spec(kind, **fields)))


@pytest.mark.parametrize("body", ["BEGIN RETURN 1; END;", "CASE WHEN 1 = 1 THEN ';' END", "SELECT 1"])
def test_bodies_that_may_end_so_pass(body: str) -> None:
    assert not validation.faults(FUNCTION, _spec(body=body))


def test_a_secret_that_no_integration_lets_through_is_warned_of() -> None:
    use = {"secrets": [{"variableName": "a", "secretName": "D.S.X"}], "handler": "h", "runtimeVersion": "3.12"}
    assert any(each.startswith("spec.secrets:") for each in planning.advice(PYTHON, _spec(PYTHON, **use)))
    assert not planning.advice(PYTHON, _spec(PYTHON, externalAccessIntegrations=["A"], **use))
