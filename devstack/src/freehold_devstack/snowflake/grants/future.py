"""GRANT and REVOKE of privileges on objects that are yet to be made; what they do then is in `future_grants`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.catalog import CatalogObject, Grant
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants import shares
from freehold_devstack.snowflake.grants.forms import grant_form, revoke_form
from freehold_devstack.snowflake.grants.grantees import DATABASE_ROLE, SHARE, USER, Grantee
from freehold_devstack.snowflake.grants.privileges import (
    READ,
    USAGE,
    WRITE,
    check_grantee,
    check_kind,
    manages_grants,
    represented,
)
from freehold_devstack.snowflake.grants.securables import FutureObjects
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.parser import phrases
from freehold_devstack.snowflake.results import DONE, Result

_WITHOUT = frozenset(
    phrases("""
        AGGREGATION POLICY, EXTERNAL FUNCTION, IMAGE REPOSITORY, JOIN POLICY, MASKING POLICY, PACKAGES POLICY,
        PROJECTION POLICY, ROW ACCESS POLICY, SESSION POLICY, SNAPSHOT, STORAGE LIFECYCLE POLICY, TAG
    """)
)
"""Kinds that have no future grants: https://docs.snowflake.com/en/sql-reference/sql/grant-privilege."""

_WITHOUT_OWNERSHIP = frozenset(
    phrases("""
        AUTHENTICATION POLICY, EXPERIMENT, GATEWAY, NOTEBOOK, PASSWORD POLICY, PRIVACY POLICY, SERVICE, SNAPSHOT
        POLICY, SNAPSHOT SET, STREAMLIT
    """)
)
"""Kinds whose ownership can't be given away before they are made."""


def check_type(objects: FutureObjects, privileges: Sequence[str]) -> None:
    """Refuse kinds without future grants.

    Raises:
        SqlError: 999999; 003008 for a privilege that the kind does not have.
    """
    kind = objects.object_type.kind
    if kind in _WITHOUT or (OWNERSHIP in privileges and kind in _WITHOUT_OWNERSHIP):
        raise errors.unnumbered(f"Future grants on objects of type {objects.kind} are not supported.")
    check_kind([privilege for privilege in privileges if privilege != OWNERSHIP], objects)


def may_grant(context: Context, container: CatalogObject) -> bool:
    """Whether the session decides what new objects in a container are granted."""
    managed = container.kind == "SCHEMA" and bool(container.properties.get("MANAGED ACCESS"))
    return manages_grants(context) or (managed and context.authority.owns(container))


def check_future_grantee(context: Context, container: CatalogObject, grantee: CatalogObject) -> None:
    """Refuse grantees that have no future grants.

    Raises:
        SqlError: 003001 for a database role whose database the role may not use, 999999.
    """
    _check_grantee_kind(grantee.kind)
    if grantee.kind != DATABASE_ROLE or grantee.parent is None:
        return
    check_grantee(context, container, grantee, ())
    context.require(USAGE, context.catalog[grantee.parent])
    if shares.is_in_a_share(context, grantee):
        raise errors.unnumbered("Cannot grant future grants to a database role that is granted to a share.")


def _check_grantee_kind(kind: str) -> None:
    if kind in {USER, SHARE}:
        raise errors.unnumbered(f"Future grants to a {kind.lower()} are not supported.")


@dataclass(frozen=True)
class _FuturePrivileges:
    """What GRANT and REVOKE say alike; no privileges stand for ALL."""

    privileges: Sequence[str]
    objects: FutureObjects
    grantee: Grantee

    @property
    def _wanted(self) -> list[str]:
        return list(self.privileges) or sorted(self.objects.privileges)


@dataclass(frozen=True)
class GrantFuture(_FuturePrivileges):
    """GRANT <privileges> ON FUTURE <plural> IN <scope> TO { ROLE | DATABASE ROLE } <role> [WITH GRANT OPTION]."""

    grant_option: bool

    @property
    def form(self) -> Form:
        return grant_form(self.privileges, self.objects, self.grantee, grant_option=self.grant_option)

    def execute(self, context: Context) -> Result:
        check_type(self.objects, self.privileges)
        container = self.objects.scope.resolve(context, "GRANT")
        grantee = self.grantee.resolve(context, "GRANT")
        if not may_grant(context, container):
            raise errors.grant_refused()
        check_future_grantee(context, container, grantee)
        if self.objects.kind == "STAGE" and WRITE in self._wanted:
            held = {grant.privilege for grant in future_instances(context, container, self.objects, grantee)}
            if READ not in held.union(self._wanted):
                raise errors.unnumbered("A future grant of WRITE on stages takes one of READ.")
        for privilege in self._wanted:
            add_future(context, container, self.objects, grantee, privilege, grant_option=self.grant_option)
        return DONE


@dataclass(frozen=True)
class RevokeFuture(_FuturePrivileges):
    """REVOKE [GRANT OPTION FOR] <privileges> ON FUTURE <plural> IN <scope> FROM { ROLE | DATABASE ROLE } <role>.

    Attributes:
        cascade: Whether the statement says so; nothing depends on a future grant.
    """

    option_only: bool
    cascade: bool

    @property
    def form(self) -> Form:
        return revoke_form(
            self.privileges, self.objects, self.grantee, option_only=self.option_only, cascade=self.cascade
        )

    def execute(self, context: Context) -> Result:
        check_type(self.objects, self.privileges)
        container = self.objects.scope.resolve(context, "REVOKE")
        grantee = self.grantee.resolve(context, "REVOKE")
        if not may_grant(context, container):
            raise errors.revoke_refused()
        _check_grantee_kind(grantee.kind)
        held = future_instances(context, container, self.objects, grantee)
        left = {grant.privilege for grant in held}.difference(self._wanted)
        if self.objects.kind == "STAGE" and READ in self._wanted and WRITE in left and not self.option_only:
            raise errors.stage_order()
        for grant in held:
            if grant.privilege not in self._wanted:
                continue
            if self.option_only:
                context.catalog.grant(replace(grant, grant_option=False))
            else:
                context.catalog.revoke(grant)
        return DONE


def future_instances(
    context: Context, container: CatalogObject, objects: FutureObjects, grantee: CatalogObject | None = None
) -> list[Grant]:
    """The future grants on a kind in a container, to one grantee or all."""
    return [
        grant
        for grant in context.catalog.future_grants(container)
        if grant.future == objects.object_type.kind and (grantee is None or grant.to == grantee.id)
    ]


def add_future(
    context: Context,
    container: CatalogObject,
    objects: FutureObjects,
    grantee: CatalogObject,
    privilege: str,
    *,
    grant_option: bool = False,
) -> None:
    """Store a future grant; one that is there already at most gains the grant option."""
    known = [grant for grant in future_instances(context, container, objects, grantee) if grant.privilege == privilege]
    if not known:
        by, kind = represented(context, container), objects.object_type.kind
        context.catalog.grant(Grant(privilege, container.id, grantee.id, by, context.now, grant_option, kind))
    for grant in known:
        if grant_option and not grant.grant_option:
            context.catalog.grant(replace(grant, grant_option=True))
