"""GRANT and REVOKE of roles."""

from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import SYSTEM_ROLE_GRANTS
from freehold_devstack.snowflake.catalog import PUBLIC, CatalogObject, Grant
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants import records, shares
from freehold_devstack.snowflake.grants.grantees import DATABASE_ROLE, ROLE, SHARE, Grantee
from freehold_devstack.snowflake.grants.privileges import USAGE, grantor, revocable
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.results import DONE, Result, status


def _granted_role(context: Context, role: Grantee, verb: str) -> CatalogObject:
    """The role that is granted: unlike that it is granted to it must be visible.

    Raises:
        SqlError: 002003.
    """
    return context.resolve(context.types[role.kind], role.name, verb)


@dataclass(frozen=True)
class GrantRole:
    """GRANT { ROLE | DATABASE ROLE } <role> TO <grantee> [WITH GRANT OPTION]."""

    role: Grantee
    grantee: Grantee
    grant_option: bool

    @property
    def form(self) -> Form:
        option = " WITH GRANT OPTION" if self.grant_option else ""
        return Form("GRANT", self.role.kind, self.role.name, f"TO {self.grantee}{option}")

    def execute(self, context: Context) -> Result:
        if self.role.kind == ROLE and self.role.name == (PUBLIC,):
            self.grantee.resolve(context, "GRANT")
            return status(
                "Granting role PUBLIC has no effect.  Every user and role has role PUBLIC implicitly granted."
            )
        role = _granted_role(context, self.role, "GRANT")
        grantee = self.grantee.resolve(context, "GRANT")
        by = grantor(context, role, USAGE)
        if by is None:
            raise context.insufficient("OWNERSHIP", role)
        self._check(context, role, grantee)
        grant = Grant(USAGE, role.id, grantee.id, by, context.now, grant_option=self.grant_option)
        records.add(context, grant)
        return DONE

    def _check(self, context: Context, role: CatalogObject, grantee: CatalogObject) -> None:
        name, other = context.print_path(role), context.print_path(grantee)
        if grantee.id == role.id or grantee.id in context.catalog.inherited_roles(role.id):
            raise errors.unnumbered(f"Role '{name}' cannot be granted to '{other}': roles would form a cycle.")
        if grantee.kind == SHARE:
            shares.check_role(context, grantee, role)
        if grantee.kind != DATABASE_ROLE:
            return
        if grantee.parent != role.parent:
            raise errors.unnumbered(f"Database role '{name}' can't be granted to one of another database, '{other}'.")
        if shares.is_in_a_share(context, grantee):
            raise errors.unnumbered(f"Cannot grant a database role to '{other}', which is granted to a share.")


@dataclass(frozen=True)
class RevokeRole:
    """REVOKE [GRANT OPTION FOR] { ROLE | DATABASE ROLE } <role> FROM <grantee> [RESTRICT | CASCADE]."""

    role: Grantee
    grantee: Grantee
    option_only: bool
    cascade: bool

    @property
    def form(self) -> Form:
        option = "GRANT OPTION " if self.option_only else ""
        cascade = " CASCADE" if self.cascade else ""
        return Form("REVOKE", self.role.kind, self.role.name, f"{option}FROM {self.grantee}{cascade}")

    def execute(self, context: Context) -> Result:
        role = _granted_role(context, self.role, "REVOKE")
        grantee = self.grantee.resolve(context, "REVOKE")
        if grantee.kind == ROLE and (role.name, grantee.name) in SYSTEM_ROLE_GRANTS:
            raise errors.system_role(role.name, "REVOKE")
        instances = [grant for grant in context.catalog.grants_on(role) if grant.to == grantee.id]
        own = revocable(context, role, instances)
        if not own and grantor(context, role, USAGE) is None:
            raise context.insufficient("OWNERSHIP", role)
        outcome = records.take(context, role, own, option_only=self.option_only, cascade=self.cascade)
        if outcome.skipped:
            raise errors.dependents_skipped(outcome.revoked, outcome.skipped)
        return DONE
