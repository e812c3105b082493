"""The graphs that tasks form: which runs after which, what that forbids, and what becomes of those that are unlinked.

A graph lies in one schema and has one owner, and tasks can't be renamed: so a link is the name of the other task, and
one to a task of another owner is none. https://docs.snowflake.com/en/user-guide/tasks-graphs
"""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Scalar, Value
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.grammar import Given
from freehold_devstack.snowflake.parser import Name, print_name

STARTED, _SUSPENDED = "started", "suspended"

FRESH: Given = {
    "STATE": _SUSPENDED,
    "LAST_COMMITTED_ON": None,
    "LAST_SUSPENDED_ON": None,
    "LAST_SUSPENDED_REASON": None,
}
"""The state of a new task."""

ALTERED_WHILE_STARTED = "2026_06"
"""Since this bundle a task that is in no graph can be altered without being suspended."""

_MAX_NEIGHBOURS = 100
_MAX_TASKS = 1000

# --- reading ---------------------------------------------------------------------------------------------------------


def _fellow(context: Context, task: CatalogObject, name: str) -> CatalogObject | None:
    """The task of this name that can be in a graph with another one."""
    found = context.catalog.find("TASK", name, task.parent)
    return found if found is not None and found.owner == task.owner else None


def _fellows(context: Context, task: CatalogObject) -> list[CatalogObject]:
    members = context.catalog.members("TASK", task.parent)
    return [member for member in members if member.owner == task.owner and member.id != task.id]


def _after(task: CatalogObject) -> Sequence[Value]:
    """The names of a task's predecessors: of new ones the parts as written."""
    names = task.properties["AFTER"]
    return names if isinstance(names, Sequence) else ()


def predecessors(context: Context, task: CatalogObject) -> list[CatalogObject]:
    """The tasks that a task runs after, by name."""
    found = (_fellow(context, task, str(name)) for name in _after(task))
    return [each for each in found if each is not None]


def finalized(context: Context, task: CatalogObject) -> CatalogObject | None:
    """The root that a task finalizes."""
    name = task.properties["FINALIZE"]
    return _fellow(context, task, name) if isinstance(name, str) else None


def is_root(context: Context, task: CatalogObject) -> bool:
    """Whether a task neither runs after others nor finalizes a graph."""
    return finalized(context, task) is None and not predecessors(context, task)


def _followers(context: Context, task: CatalogObject) -> Mapping[str, Sequence[CatalogObject]]:
    """What runs directly after each task that can be in a graph with this one, by that task's name."""
    followers: defaultdict[str, list[CatalogObject]] = defaultdict(list)
    for fellow in _fellows(context, task):
        for name in _after(fellow):
            followers[str(name)].append(fellow)
    return followers


def _children(context: Context, task: CatalogObject) -> Sequence[CatalogObject]:
    return _followers(context, task).get(task.name, ())


def _finalizer(context: Context, root: CatalogObject) -> CatalogObject | None:
    return next((other for other in _fellows(context, root) if other.properties["FINALIZE"] == root.name), None)


def dependents(context: Context, task: CatalogObject) -> list[CatalogObject]:
    """The tasks that run after a task and after those, the nearest first, and the graph's finalizer."""
    followers = _followers(context, task)
    found: dict[int, CatalogObject] = {}
    waiting = deque([task])
    while waiting:
        for child in followers.get(waiting.popleft().name, ()):
            if child.id not in found:
                found[child.id] = child
                waiting.append(child)
    finalizer = _finalizer(context, task)
    return [*found.values(), *([] if finalizer is None else [finalizer])]


def _roots(context: Context, *tasks: CatalogObject) -> list[CatalogObject]:
    """The roots of the graphs that tasks are in: of one task several, or none, only while no graph of them can run."""
    waiting = [finalized(context, task) or task for task in tasks]
    seen = {task.id: task for task in waiting}
    while waiting:
        for each in predecessors(context, waiting.pop()):
            if each.id not in seen:
                seen[each.id] = each
                waiting.append(each)
    return [each for each in seen.values() if is_root(context, each)]


def is_standalone(context: Context, task: CatalogObject) -> bool:
    return is_root(context, task) and not dependents(context, task)


def show_predecessors(context: Context, task: CatalogObject) -> Scalar:
    return json.dumps([context.print_path(each) for each in predecessors(context, task)], indent=2, ensure_ascii=False)


def show_relations(context: Context, task: CatalogObject) -> Scalar:
    root, finalizer = finalized(context, task), _finalizer(context, task)
    relations: dict[str, object] = {} if root is None else {"FinalizedRootTask": context.print_path(root)}
    relations["Predecessors"] = [context.print_path(each) for each in predecessors(context, task)]
    if finalizer is not None:
        relations["FinalizerTask"] = context.print_path(finalizer)
    return json.dumps(relations, separators=(",", ":"), ensure_ascii=False)


# --- whether it may change -------------------------------------------------------------------------------------------


def check_suspended(context: Context, task: CatalogObject) -> None:
    """Refuse with 091421 while the root of a task's graph runs."""
    for root in _roots(context, task):
        if root.properties["STATE"] == STARTED:
            raise errors.graph_running(context.print_path(root))


def check_changeable(context: Context, task: CatalogObject) -> None:
    """As `check_suspended`, for ALTER, which a task in no graph may bear while it runs."""
    if not (context.bundle(ALTERED_WHILE_STARTED) and is_standalone(context, task)):
        check_suspended(context, task)


# --- linking ---------------------------------------------------------------------------------------------------------


def link(context: Context, task: CatalogObject) -> CatalogObject:
    """The record with the names of AFTER and FINALIZE resolved, which for new ones are as written: parts of a name.

    Raises:
        SqlError: 091085 for a predecessor, 091421 while the graph runs, 999999 for what no graph allows.
    """
    after = tuple(sorted({each.name for each in _resolve_predecessors(context, task)}))
    linked = replace(task, properties={**task.properties, "AFTER": after})
    root = _resolve_finalized(context, linked)
    return replace(linked, properties={**linked.properties, "FINALIZE": None if root is None else root.name})


def _resolve_predecessors(context: Context, task: CatalogObject) -> Iterator[CatalogObject]:
    written = [name for name in _after(task) if not isinstance(name, str)]
    new = [_resolve_predecessor(context, task, name) for name in written]
    if new and _finalizer(context, task) is not None:
        raise _has_finalizer(context, task)
    known = predecessors(context, task)
    for each in (*known, *new):
        if each.properties["FINALIZE"] is not None:
            raise _no_children(context, each)
        if each not in known or context.catalog.get(task.id) is None:
            check_suspended(context, each)
            _check_limits(context, each)
        yield each
    if len({each.id for each in (*known, *new)}) > _MAX_NEIGHBOURS:
        raise errors.unnumbered(f"Task {task.name} cannot have more than {_MAX_NEIGHBOURS} predecessors.", family="")


def _has_finalizer(context: Context, task: CatalogObject) -> SqlError:
    if context.catalog.get(task.id) is None:
        path = context.print_path(task)
        text = f"Cannot replace task {path} with a non-root task because it has a finalizer task."
        return errors.unnumbered(f"{text} Please remove the finalizer task first.", family="")
    text = "This task has a finalizer and cannot be made a child task."
    return errors.unnumbered(f"{text} Please remove the finalizer before adding a predecessor.", family="")


def _resolve_predecessor(context: Context, task: CatalogObject, name: Value) -> CatalogObject:
    """The task that AFTER names: of the same schema and the same owner, and not the task itself."""
    parts = _parts(name)
    if _is_itself(context, task, parts):
        raise errors.unnumbered(f"Task {task.name} cannot use itself as its predecessor.", family="")
    found = _find(context, task, parts)
    if found is None or found.parent != task.parent or found.owner != task.owner:
        raise errors.invalid_predecessor(print_name(parts))
    return found


def _resolve_finalized(context: Context, task: CatalogObject) -> CatalogObject | None:
    name = task.properties["FINALIZE"]
    root = finalized(context, task) if isinstance(name, str) or name is None else _named_root(context, task, name)
    if root is None:
        return None
    path = context.print_path(task)
    if not is_root(context, root):
        raise errors.unnumbered(f"Task {path} cannot finalize a non-root task {context.print_path(root)}.", family="")
    if task.properties["AFTER"]:
        raise errors.unnumbered(f"Task {path} cannot have predecessors as a finalizer task.", family="")
    if _children(context, task):
        raise _no_children(context, task)
    other = _finalizer(context, root)
    if other is not None and other.id != task.id:
        raise errors.unnumbered(f"Finalize target {root.name} already have finalizer.", family="")
    check_suspended(context, root)
    return root


def _named_root(context: Context, task: CatalogObject, name: Value) -> CatalogObject:
    parts = _parts(name)
    if _is_itself(context, task, parts):
        if task.properties["AFTER"]:
            path = context.print_path(task)
            raise errors.unnumbered(f"Task {path} cannot finalize a non-root task {path}.", family="")
        raise errors.unnumbered(f"Task {task.name} cannot finalize itself.", family="")
    found = _find(context, task, parts)
    if found is None or found.owner != task.owner:
        raise errors.unnumbered(f"Invalid finalized root task {print_name(parts)} was specified.", family="")
    if found.parent != task.parent:
        raise errors.unnumbered(f"Cannot finalize graph {print_name(parts)} in a different schema.", family="")
    return found


def _no_children(context: Context, finalizer: CatalogObject) -> SqlError:
    path = context.print_path(finalizer)
    return errors.unnumbered(f"Task {path} cannot have children as a finalizer task.", family="")


def _check_limits(context: Context, predecessor: CatalogObject) -> None:
    if len(_children(context, predecessor)) >= _MAX_NEIGHBOURS:
        raise errors.unnumbered(f"Task {predecessor.name} cannot have more than {_MAX_NEIGHBOURS} children.", family="")
    for root in _roots(context, predecessor):
        if len(dependents(context, root)) + 1 >= _MAX_TASKS:
            raise errors.unnumbered(f"A task graph cannot have more than {_MAX_TASKS} tasks.", family="")


def _parts(name: Value) -> Name:
    return tuple(map(str, name)) if isinstance(name, Sequence) and not isinstance(name, str) else (str(name),)


def _is_itself(context: Context, task: CatalogObject, parts: Name) -> bool:
    own = context.catalog.path(task)
    return own[len(own) - len(parts) :] == parts


def _find(context: Context, task: CatalogObject, parts: Name) -> CatalogObject | None:
    """The visible task of this name; one that is not qualified is looked up beside the other task."""
    path = parts if len(parts) > 1 else (*context.catalog.path(task)[:-1], *parts)
    try:
        return context.resolve(context.types["TASK"], path, "ALTER")
    except SqlError:
        return None


def without(context: Context, task: CatalogObject, names: Sequence[Name]) -> tuple[str, ...]:
    """The names of a task's predecessors that remain when these are removed.

    Raises:
        SqlError: 999999 for one that is no predecessor, 091085 for one that is no task.
    """
    found = {parts: _find(context, task, parts) for parts in names}
    kept = {each.id: each.name for each in predecessors(context, task)}
    for each in found.values():
        if each is not None and kept.pop(each.id, None) is None:
            raise errors.unnumbered(f"Task {task.name} does not have predecessor {each.name}.", family="")
    for parts, each in found.items():
        if each is None:
            raise errors.invalid_predecessor(print_name(parts))
    return tuple(kept.values())


# --- states ----------------------------------------------------------------------------------------------------------


def suspended(context: Context, task: CatalogObject, reason: str, *, always: bool = False) -> CatalogObject:
    """The record of a task that no longer runs; one that did not run stays as it is, unless `always`."""
    if task.properties["STATE"] != STARTED and not always:
        return task
    state: Given = {"STATE": _SUSPENDED, "LAST_SUSPENDED_ON": context.now, "LAST_SUSPENDED_REASON": reason}
    return replace(task, properties={**task.properties, **state})


def unlink(context: Context, task: CatalogObject, *, forget: bool) -> None:
    """Let what depends on a task go on without it: what is left without a predecessor is suspended.

    Args:
        forget: Whether the links are to be gone for good, or only while the task has another owner.
    """
    for child in _children(context, task):
        kept = tuple(each.name for each in predecessors(context, child) if each.id != task.id)
        freed = replace(child, properties={**child.properties, "AFTER": kept}) if forget else child
        context.catalog.update(child, freed if kept else suspended(context, freed, "CHILD_BECAME_ROOT"))
    if (finalizer := _finalizer(context, task)) is not None:
        freed = replace(finalizer, properties={**finalizer.properties, "FINALIZE": None}) if forget else finalizer
        context.catalog.update(finalizer, suspended(context, freed, "FINALIZER_BECAME_ROOT"))


def commit(context: Context, root: CatalogObject) -> None:
    """Set a version of the graph that a root begins, which shows whether it can run.

    Raises:
        SqlError: 999999 for a cycle and for a second root.
    """
    graph = dependents(context, root)
    if _roots(context, *graph) not in ([], [root]):
        raise errors.unnumbered("The graph has more than one root task (one without predecessors).", family="")
    _check_acyclic(context, graph)
    for task in (root, *graph):
        context.catalog.update(task, replace(task, properties={**task.properties, "LAST_COMMITTED_ON": context.now}))


def _check_acyclic(context: Context, tasks: Sequence[CatalogObject]) -> None:
    before = {task.id: [each.id for each in predecessors(context, task)] for task in tasks}
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        looped = next(task for task in tasks if task.id in error.args[1])
        path = context.print_path(looped)
        raise errors.unnumbered(f"Graph has at least one cycle containing task {path}.", family="") from None
