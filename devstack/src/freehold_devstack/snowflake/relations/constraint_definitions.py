"""The definitions of constraints in CREATE TABLE and ALTER TABLE.

https://docs.snowflake.com/en/sql-reference/sql/create-table-constraint
"""

from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.bodies import Place, parse_expression
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.relations.columns import parse_column_names
from freehold_devstack.snowflake.relations.constraints import CHECK, FOREIGN_KEY, PRIMARY_KEY, UNIQUE, Constraint

_RULES = ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION")


def parse_constraint(parser: Parser, column: str | None = None) -> Constraint | None:
    """Take a constraint, if one comes next.

    Args:
        column: The column that an inline constraint is about; None for an out-of-line constraint.

    Raises:
        SqlError: 001003; 999999 for a property that would keep Snowflake from making the constraint.
    """
    named = parser.accept("CONSTRAINT")
    name = parser.identifier() if named else ""
    constraint = _parse_type(parser, column)
    if constraint is None:
        if named:
            raise parser.unexpected()
        return None
    return _parse_properties(parser, replace(constraint, name=name), inline=column is not None)


def _parse_type(parser: Parser, column: str | None) -> Constraint | None:
    for key in (PRIMARY_KEY, UNIQUE):
        if parser.accept_phrase(key):
            return Constraint(key, columns=_parse_own_columns(parser, column))
    if parser.accept(CHECK):
        return _parse_check(parser)
    if parser.at("REFERENCES") and column is None:
        raise parser.unexpected()
    if not (parser.accept_phrase(FOREIGN_KEY) or parser.at("REFERENCES")):
        return None
    columns = _parse_own_columns(parser, column)
    parser.expect("REFERENCES")
    table = parser.name(parts=3)
    referenced = parse_column_names(parser) if parser.at("(") else ()
    return Constraint(FOREIGN_KEY, columns=columns, table=table, referenced=referenced)


def _parse_own_columns(parser: Parser, column: str | None) -> tuple[str, ...]:
    return parse_column_names(parser) if column is None else (column,)


def _parse_check(parser: Parser) -> Constraint:
    start = parser.token
    text = parser.bracketed()
    expression = parse_expression(text, Place(start.line, start.position + 1), fold_quoted=parser.fold_quoted)
    refused = expression.unstable or next(iter(expression.functions), None)
    if refused is not None or not expression.is_scalar:
        raise errors.unnumbered(f"Invalid expression [{text}] in CHECK constraint.")
    return Constraint(CHECK, columns=tuple(dict.fromkeys(name[-1] for name in expression.identifiers)), expression=text)


def _parse_properties(parser: Parser, constraint: Constraint, *, inline: bool) -> Constraint:
    taken: set[str] = set()
    while True:
        token = parser.token
        found = _parse_property(parser, constraint, inline=inline)
        if found is None:
            return constraint
        about, constraint = found
        if about in taken:
            raise parser.unexpected(token)
        taken.add(about)


def _parse_property(parser: Parser, constraint: Constraint, *, inline: bool) -> tuple[str, Constraint] | None:
    """Take one property: what it is about, and the constraint with it."""
    if constraint.type == CHECK:
        return _parse_check_property(parser, constraint)
    if constraint.type == FOREIGN_KEY and (found := _parse_reference_property(parser, constraint)):
        return found
    for about, words in _AS_BY_DEFAULT.items():
        if parser.accept_phrase(words):
            return about, constraint
        if parser.accept(about):
            raise _not_made(about)
    for words, (attribute, value) in _FLAGS.items():
        if parser.accept_phrase(words):
            return attribute, replace(constraint, **{attribute: value})  # type: ignore[arg-type]
    if parser.accept("INITIALLY"):
        return "INITIALLY", replace(constraint, immediate=parser.choose("DEFERRED", "IMMEDIATE") == "IMMEDIATE")
    if not inline and parser.accept("COMMENT"):
        return "COMMENT", replace(constraint, comment=parser.string())
    return None


_FLAGS = {
    "RELY": ("rely", True),
    "NORELY": ("rely", False),
    "DEFERRABLE": ("deferrable", True),
    "NOT DEFERRABLE": ("deferrable", False),
}

_AS_BY_DEFAULT = {"ENFORCED": "NOT ENFORCED", "ENABLE": "DISABLE", "VALIDATE": "NOVALIDATE"}
"""What Snowflake takes but does not do to keys, and the word for leaving it so."""


def _not_made(word: str) -> errors.SqlError:
    """Snowflake leaves such a constraint out, by default without a word."""
    return errors.unnumbered(f"Unsupported constraint property '{word}': the constraint would not be created.")


def _parse_check_property(parser: Parser, constraint: Constraint) -> tuple[str, Constraint] | None:
    if parser.accept("ENABLE"):
        return "ENABLE", replace(constraint, novalidate=parser.choose("VALIDATE", "NOVALIDATE") == "NOVALIDATE")
    if parser.accept("DISABLE"):
        raise _not_made("DISABLE")
    return None


def _parse_reference_property(parser: Parser, constraint: Constraint) -> tuple[str, Constraint] | None:
    if parser.accept("MATCH"):
        return "MATCH", replace(constraint, match=parser.choose("FULL", "SIMPLE", "PARTIAL"))
    for verb in ("UPDATE", "DELETE"):
        if parser.accept("ON", verb):
            rule = next((rule for rule in _RULES if parser.accept_phrase(rule)), None)
            if rule is None:
                raise parser.unexpected()
            attribute = f"{verb.lower()}_rule"
            return attribute, replace(constraint, **{attribute: rule})  # type: ignore[arg-type]
    return None
