"""How tasks are started and suspended."""

from collections.abc import Sequence
from dataclasses import replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP, Authority
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act
from freehold_devstack.snowflake.parser import Parser
from freehold_devstack.snowflake.results import Cell
from freehold_devstack.snowflake.tasks import graph
from freehold_devstack.snowflake.tasks.rules import check_triggered
from freehold_devstack.snowflake.tokens import tokenize


def suspend(_parser: Parser) -> Act:
    def act(context: Context, task: CatalogObject) -> None:
        if not graph.is_root(context, task):
            graph.check_suspended(context, task)
        context.catalog.update(task, graph.suspended(context, task, "USER_SUSPENDED"))

    return act


def resume(_parser: Parser) -> Act:
    def act(context: Context, task: CatalogObject) -> None:
        _start(context, task)

    return act


def _start(context: Context, task: CatalogObject) -> None:
    """Resume a task, unless its owner could not run it or it is in a graph that runs or can't run."""
    is_root = graph.is_root(context, task)
    if not is_root:
        graph.check_suspended(context, task)
    _check_owner(context, task)
    check_triggered(context, task)
    started = context.catalog.update(task, replace(task, properties={**task.properties, "STATE": graph.STARTED}))
    if is_root:
        graph.commit(context, started)


def enable_dependents(context: Context, arguments: Sequence[Cell]) -> Cell:
    """SYSTEM$TASK_DEPENDENTS_ENABLE: start a task and all that depend on it, the task last."""
    parser = Parser(tokenize(str(arguments[0])), source=str(arguments[0]))
    name = parser.name(parts=3)
    parser.end()
    task = context.resolve(context.types["TASK"], name, "ALTER")
    for dependent in reversed([task, *graph.dependents(context, task)]):
        context.require(OWNERSHIP, dependent)
        _start(context, context.catalog[dependent.id])
    return "true"


def _check_owner(context: Context, task: CatalogObject) -> None:
    """Refuse what the owner could not run."""
    owner = Authority(context.catalog, context.session.role if task.owner is None else task.owner)
    warehouse = task.properties["WAREHOUSE"]
    for privilege in ("EXECUTE TASK", *(["EXECUTE MANAGED TASK"] if warehouse is None else [])):
        if not owner.holds_on_account(privilege):
            raise errors.task_privilege(privilege)
    if isinstance(warehouse, int):
        found = context.catalog[warehouse]
        if not (context.catalog.is_live(found) and owner.holds("USAGE", found)):
            raise errors.task_warehouse(found.name)
