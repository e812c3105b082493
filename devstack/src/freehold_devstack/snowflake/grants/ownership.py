"""GRANT OWNERSHIP: of an object, of all objects of a kind, and of those yet to be made."""

from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import ROLE_KINDS, CatalogObject, Grant
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.grants.future import (
    add_future,
    check_future_grantee,
    check_type,
    future_instances,
    may_grant,
)
from freehold_devstack.snowflake.grants.grantees import DATABASE_ROLE, ROLE, SHARE, Grantee
from freehold_devstack.snowflake.grants.privileges import managed_schema, manages_grants
from freehold_devstack.snowflake.grants.securables import Account, AllObjects, Existing, FutureObjects, Securable
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.results import DONE, Result, status

TARGET_IS_ACTIVE = "2026_07"
"""Since this bundle ownership goes only to a role that is active in the session, or takes MANAGE GRANTS."""

_NEVER_TRANSFERRED = frozenset({SHARE})
_NEVER_IN_BULK = frozenset({"PIPE"})


@dataclass(frozen=True)
class GrantOwnership:
    """GRANT OWNERSHIP ON <securable> TO { ROLE | DATABASE ROLE } <role> [{ COPY | REVOKE } CURRENT GRANTS]."""

    securable: Securable
    grantee: Grantee
    current_grants: str | None

    @property
    def form(self) -> Form:
        clause = "" if self.current_grants is None else f" {self.current_grants} CURRENT GRANTS"
        return Form("GRANT", "", (), f"OWNERSHIP ON {self.securable} TO {self.grantee}{clause}")

    def execute(self, context: Context) -> Result:
        if isinstance(self.securable, Account):
            raise errors.wrong_privilege(self.securable.kind, OWNERSHIP)
        if isinstance(self.securable, FutureObjects):
            return self._grant_future(context, self.securable)
        if isinstance(self.securable, AllObjects) and self.securable.kind in _NEVER_IN_BULK:
            raise errors.bulk_restricted("grant", self.securable.kind, self.grantee.kind)
        objects = self.securable.resolve(context, "GRANT")
        role = self._role(context)
        for moved, obj in enumerate(objects):
            try:
                self._transfer(context, obj, role)
            except SqlError as error:
                # What was moved before the first object that can't be stays moved.
                error.keeps_changes = moved > 0
                raise
        if isinstance(self.securable, AllObjects):
            return status(f"Statement executed successfully. {len(objects)} objects affected.")
        return DONE

    def _role(self, context: Context) -> CatalogObject:
        role = self.grantee.resolve(context, "GRANT")
        if role.kind not in ROLE_KINDS:
            raise errors.unnumbered(f"OWNERSHIP can't be granted to a {role.kind.lower()}.")
        return role

    # --- future objects ------------------------------------------------------------------------------------------

    def _grant_future(self, context: Context, objects: FutureObjects) -> Result:
        if self.current_grants == "REVOKE":
            raise errors.unnumbered("REVOKE CURRENT GRANTS can't be combined with future objects.")
        check_type(objects, [OWNERSHIP])
        container = objects.scope.resolve(context, "GRANT")
        role = self._role(context)
        if not may_grant(context, container):
            raise errors.grant_refused()
        check_future_grantee(context, container, role)
        if container.properties.get("MANAGED ACCESS"):
            _check_subordinate(context, container, role)
        for grant in future_instances(context, container, objects):
            if grant.privilege == OWNERSHIP and grant.to != role.id:
                raise errors.future_ownership(objects.kind)
        add_future(context, container, objects, role, OWNERSHIP)
        return DONE

    # --- objects that are there ----------------------------------------------------------------------------------

    def _transfer(self, context: Context, obj: CatalogObject, role: CatalogObject) -> None:
        self._check(context, obj, role)
        if obj.owner == role.id:
            return
        self._settle_grants(context, obj, role)
        changed = context.types[obj.kind].lifecycle.owner_changing(context, obj)
        context.catalog.update(context.catalog[obj.id], replace(changed, owner=role.id))

    def _check(self, context: Context, obj: CatalogObject, role: CatalogObject) -> None:
        if obj.owner is None and obj.kind == ROLE:
            raise errors.system_role(obj.name, "GRANT")
        if obj.owner is None or obj.kind in _NEVER_TRANSFERRED:
            raise errors.unnumbered(f"Ownership of {obj.kind} '{context.print_path(obj)}' can't be transferred.")
        inside = {step.id for step in context.catalog.lineage(obj)} - {obj.id}
        if role.kind == DATABASE_ROLE and role.parent not in inside:
            raise errors.unnumbered(
                f"Database role '{context.print_path(role)}' can only own what is in its own database."
            )
        schema, manages = managed_schema(context, obj), manages_grants(context)
        if not (manages or context.authority.owns(obj if schema is None else schema)):
            raise errors.grant_refused()
        if context.bundle(TARGET_IS_ACTIVE) and not (manages or role.id in context.authority.roles):
            raise errors.unnumbered(
                f"{obj.kind} ownership can only be transferred to a role that is activated in the current session "
                "or by a role with account-level MANAGE GRANTS."
            )
        if schema is not None:
            _check_subordinate(context, schema, role)
        if obj.properties.get("MANAGED ACCESS") and any(
            grant.privilege == OWNERSHIP for grant in context.catalog.future_grants(obj)
        ):
            raise errors.unnumbered(
                "Future grants of OWNERSHIP in a managed access schema must be revoked before it is transferred."
            )

    def _settle_grants(self, context: Context, obj: CatalogObject, new_owner: CatalogObject) -> None:
        """Copy or revoke what is granted on the object, as the statement says; roles keep their holders."""
        grants = [grant for grant in context.catalog.grants_on(obj) if grant.by is not None]
        match self.current_grants:
            case None if grants and obj.kind not in ROLE_KINDS:
                first = min(grants, key=lambda grant: (context.catalog[grant.to].name, grant.privilege))
                raise errors.dependent_grant(first.privilege, context.print_path(obj), context.catalog[first.to].name)
            case "REVOKE":
                self._revoke_grants(context, obj, grants)
            case "COPY" if not (manages_grants(context) or new_owner.id in context.authority.roles):
                raise errors.grant_refused()
            case keyword:
                for grant in grants:
                    if keyword == "COPY":
                        context.catalog.revoke(grant)
                    context.catalog.grant(replace(grant, by=new_owner.id))

    def _revoke_grants(self, context: Context, obj: CatalogObject, grants: list[Grant]) -> None:
        if obj.kind == "DATABASE" and any(context.catalog[grant.to].kind == SHARE for grant in grants):
            raise errors.unnumbered("REVOKE CURRENT GRANTS is not possible on a shared database.")
        for grant in grants:
            context.catalog.revoke(grant)


def _check_subordinate(context: Context, schema: CatalogObject, role: CatalogObject) -> None:
    """In a managed access schema only roles below the schema's owner can own objects."""
    if schema.owner is None or role.id not in context.catalog.inherited_roles(schema.owner):
        raise errors.unnumbered(
            f"Ownership of objects in managed access schema '{context.print_path(schema)}' can only be transferred to "
            "a subordinate role of the schema owner."
        )


@dataclass(frozen=True)
class RevokeOwnership:
    """REVOKE OWNERSHIP ON <securable> FROM <role>, which is never possible."""

    securable: Existing
    grantee: Grantee

    @property
    def form(self) -> Form:
        return Form("REVOKE", "", (), f"OWNERSHIP ON {self.securable} FROM {self.grantee}")

    def execute(self, context: Context) -> Result:
        self.securable.resolve(context, "REVOKE")
        self.grantee.resolve(context, "REVOKE")
        raise errors.unnumbered("OWNERSHIP can only be transferred.", family=errors.EXECUTION)
