"""Where policies are set: POLICY_REFERENCES, by policy or by what has them.

https://docs.snowflake.com/en/sql-reference/functions/policy_references
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.functions import TableFunction
from freehold_devstack.snowflake.network_access import attached_to, holders
from freehold_devstack.snowflake.parser import Name, name_in, print_name
from freehold_devstack.snowflake.policies import arguments_of, attachments, relations
from freehold_devstack.snowflake.relations.columns import Column, columns_of
from freehold_devstack.snowflake.tags import associations, policies_of_tag

COLUMNS = (
    "POLICY_DB", "POLICY_SCHEMA", "POLICY_NAME", "POLICY_KIND", "REF_DATABASE_NAME", "REF_SCHEMA_NAME",
    "REF_ENTITY_NAME", "REF_ENTITY_DOMAIN", "REF_COLUMN_NAME", "REF_ARG_COLUMN_NAMES", "TAG_DATABASE", "TAG_SCHEMA",
    "TAG_NAME", "POLICY_STATUS",
)  # fmt: skip

NETWORK_POLICY = "NETWORK POLICY"
_ACTIVE = "ACTIVE"
_KINDS = ("MASKING POLICY", "ROW ACCESS POLICY")


@dataclass(frozen=True)
class Reference:
    """One use of a policy.

    Attributes:
        entity: The table, view, tag, user or account that has it.
        column: None where it isn't on a column.
        arguments: The columns that it is given; none where that is just the one that it is on.
        tag: The tag that brought it.
    """

    policy: CatalogObject
    entity: CatalogObject
    column: str | None = None
    arguments: tuple[str, ...] = ()
    tag: CatalogObject | None = None
    status: str = _ACTIVE

    def row(self, context: Context) -> tuple[str | None, ...]:
        arguments = ", ".join(f'"{name}"' for name in self.arguments)
        tag = (None, None, None) if self.tag is None else _three_parts(context, self.tag)
        return (
            *_three_parts(context, self.policy), self.policy.kind.replace(" ", "_"),
            *_three_parts(context, self.entity), self.entity.kind, self.column,
            f"[ {arguments} ]" if arguments else None, *tag, self.status,
        )  # fmt: skip


def _three_parts(context: Context, obj: CatalogObject) -> tuple[str | None, ...]:
    """Database, schema and name; what is in no schema has but a name."""
    path = context.catalog.path(obj)
    return (*(None,) * (3 - len(path)), *path)


def rows(context: Context, arguments: Mapping[str, str]) -> list[tuple[str | None, ...]]:
    """The rows of POLICY_REFERENCES.

    Raises:
        SqlError: 002003 for what is missing or invisible; 999999 for a domain that has no policies and for a role that
            may know of none of the policies.
    """
    if "POLICY_NAME" in arguments:
        found = _of_policy(context, arguments)
    else:
        found = _of_entity(context, arguments["REF_ENTITY_NAME"], arguments["REF_ENTITY_DOMAIN"].upper())
    return [reference.row(context) for reference in found]


# --- by policy -------------------------------------------------------------------------------------------------------


def _of_policy(context: Context, arguments: Mapping[str, str]) -> list[Reference]:
    path = name_in(arguments["POLICY_NAME"], parts=3)
    if "POLICY_KIND" in arguments:
        if arguments["POLICY_KIND"].upper() != NETWORK_POLICY.replace(" ", "_"):
            raise errors.unnumbered(f"Invalid policy kind '{arguments['POLICY_KIND']}'.")
        network_policy = context.resolve_reference(NETWORK_POLICY, path, "SELECT")
        return [Reference(network_policy, holder) for holder in holders(context.catalog, network_policy)]
    policy = _policy(context, path)
    everywhere = (*relations(context.catalog), *context.catalog.of_kind("TAG"))
    found = [
        reference for entity in everywhere for reference in _references(context, entity) if reference.policy == policy
    ]
    return [reference for reference in found if _may_know(context, reference)]


def _policy(context: Context, path: Name) -> CatalogObject:
    """The policy of this name, of whichever kind, for who may apply it."""
    kinds = [context.types[kind] for kind in _KINDS]
    container = context.container(kinds[0], path, "SELECT")
    for kind in kinds:
        policy = context.lookup(kind, path[-1], container)
        if policy is not None and _holds(context, policy):
            return policy
    raise context.missing("POLICY", print_name((*context.catalog.path(container), path[-1])))


# --- by what has them ------------------------------------------------------------------------------------------------


def _of_entity(context: Context, name: str, domain: str) -> list[Reference]:
    path = name_in(name, parts=3)
    entity = _entity(context, path, domain)
    if entity.kind in {"ACCOUNT", "USER"}:
        policy = attached_to(context.catalog, entity)
        return [] if policy is None or not context.sees(policy) else [Reference(policy, entity)]
    found = list(_references(context, entity))
    known = [reference for reference in found if _may_know(context, reference)]
    if found and not known:
        raise errors.unnumbered(f"Insufficient privileges to view policies on {domain} '{context.print_path(entity)}'.")
    return known


def _entity(context: Context, path: Name, domain: str) -> CatalogObject:
    """What has policies, by its name and domain; for the account the name is its locator."""
    if domain == "ACCOUNT":
        if path != (context.identity.locator,):
            raise errors.unknown_account(print_name(path))
        return context.catalog.account
    if domain in {"TABLE", "VIEW"}:
        relation = context.resolve_relation(path, "SELECT", domain)
        if relation.kind != domain:
            raise errors.wrong_kind(relation.kind, domain)
        return relation
    if domain in {"TAG", "USER"}:
        return context.resolve_reference(domain, path, "SELECT")
    if domain == "INTEGRATION":
        raise errors.unsupported("POLICY_REFERENCES of INTEGRATION")
    raise errors.unnumbered(f"Unsupported entity domain '{domain}'.")


def _references(context: Context, entity: CatalogObject) -> Iterator[Reference]:
    """The policies on a table, view or tag; those that tags bring come after its own."""
    policy_of: Callable[[int], CatalogObject] = context.catalog.__getitem__
    if entity.kind == "TAG":
        for policy in policies_of_tag(entity):
            yield Reference(policy_of(policy), entity, tag=entity)
        return
    for attachment in attachments(entity):
        arguments = () if attachment.arguments == (attachment.column,) else attachment.arguments
        yield Reference(policy_of(attachment.policy), entity, attachment.column or None, arguments)
    columns = columns_of(entity)
    for column in columns:
        yield from _brought(context, entity, column, columns)


def _brought(
    context: Context, entity: CatalogObject, column: Column, columns: tuple[Column, ...]
) -> Iterator[Reference]:
    """The masking policies of a column's tags that mask its type; one on the column itself takes their place."""
    if column.masking_policy is not None:
        return
    found = [
        Reference(policy, entity, column.name, tag=association.tag, status=_status(policy, columns))
        for association in associations(context, entity, column.tags)
        for policy in map(context.catalog.__getitem__, policies_of_tag(association.tag))
        if (masked := arguments_of(policy)[0].type) is not None and masked.base == column.type.base
    ]
    several = "MULTIPLE_MASKING_POLICY_ASSIGNED_TO_THE_COLUMN"
    yield from found if len(found) < 2 else (replace(reference, status=several) for reference in found)


def _status(policy: CatalogObject, columns: tuple[Column, ...]) -> str:
    """Whether the table has the columns that a conditional policy asks for, by their names."""
    types = {column.name: column.type for column in columns}
    for argument in arguments_of(policy)[1:]:
        if argument.name not in types:
            return "COLUMN_IS_MISSING_FOR_SECONDARY_ARG"
        if argument.type is not None and types[argument.name].base != argument.type.base:
            return "COLUMN_DATATYPE_MISMATCH_FOR_SECONDARY_ARG"
    return _ACTIVE


# --- who may know ----------------------------------------------------------------------------------------------------


def _may_know(context: Context, reference: Reference) -> bool:
    """Whoever may apply all policies of a kind knows where they are, others of what they own themselves."""
    if context.authority.holds_on_account(f"APPLY {reference.policy.kind}"):
        return True
    return _holds(context, reference.policy) and context.authority.owns(reference.entity)


def _holds(context: Context, policy: CatalogObject) -> bool:
    return context.authority.holds("APPLY", policy) or context.authority.holds_on_account(f"APPLY {policy.kind}")


FUNCTION = TableFunction(
    "POLICY_REFERENCES",
    COLUMNS,
    (("REF_ENTITY_NAME", "REF_ENTITY_DOMAIN"), ("POLICY_NAME",), ("POLICY_NAME", "POLICY_KIND")),
    rows,
    named=True,
)
