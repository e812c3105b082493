"""What CREATE FUNCTION checks in the source of a Python handler: that it compiles and holds what the signature needs.

The source of a procedure is not looked at before it is called.
"""

import ast

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.routines.signature import Argument, Returns

_AGGREGATE_METHODS = ("accumulate", "merge", "finish")

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def check_handler(
    function: str, handler: str, body: str | None, arguments: tuple[Argument, ...], returns: Returns, *, aggregate: bool
) -> None:
    """Refuse a handler that can't be called as the signature says.

    Args:
        function: Name of the function.
        body: The source; None where it is on a stage, which holds modules.

    Raises:
        SqlError: 100357.
    """

    def refuse(problem: str) -> errors.SqlError:
        return errors.handler_unusable(f"{problem} in function {function} with handler {handler}")

    if body is None:
        if "." not in handler:
            raise refuse("Could not find handler")
        return
    found, definition = _find(body, handler)
    if not found:
        raise refuse("Could not find handler")
    if aggregate:
        for method in _AGGREGATE_METHODS:
            if isinstance(definition, ast.ClassDef) and not _has_method(definition, method):
                raise refuse(f"Could not find {method} method")
    elif isinstance(definition, ast.FunctionDef) and not returns.is_table and not _takes(definition, len(arguments)):
        own = len(definition.args.posonlyargs) + len(definition.args.args)
        raise refuse(
            f"Python function is defined with {own} arguments, but UDF definition contains {len(arguments)} arguments"
        )


def _find(body: str, handler: str) -> tuple[bool, _Definition | None]:
    """Whether the source has something of this name, and its definition unless that is elsewhere."""
    try:
        module = ast.parse(body)
    except (SyntaxError, ValueError, MemoryError) as error:
        # Of what is nested too deeply, the parser says that its stack has no more memory.
        raise errors.handler_unusable(f"Python Interpreter Error:\n{type(error).__name__}: {error}") from None
    for statement in module.body:
        if isinstance(statement, _Definition) and statement.name == handler:
            return True, statement
    bound = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    imports = [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {alias.asname or alias.name for each in imports for alias in each.names}
    return handler in bound | imported, None


def _has_method(definition: ast.ClassDef, method: str) -> bool:
    return any(isinstance(step, ast.FunctionDef) and step.name == method for step in definition.body)


def _takes(definition: ast.FunctionDef, count: int) -> bool:
    """Whether the function can be called with so many arguments by their positions."""
    most = len(definition.args.posonlyargs) + len(definition.args.args)
    return most - len(definition.args.defaults) <= count and (count <= most or definition.args.vararg is not None)
