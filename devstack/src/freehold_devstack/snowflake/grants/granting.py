"""GRANT and REVOKE of privileges on objects that are there."""

from collections.abc import Sequence
from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.catalog import CatalogObject, Grant
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grants import records, shares
from freehold_devstack.snowflake.grants.forms import grant_form, revoke_form
from freehold_devstack.snowflake.grants.grantees import SHARE, USER, Grantee
from freehold_devstack.snowflake.grants.privileges import (
    IMPORTED,
    READ,
    USAGE,
    WRITE,
    check_grantee,
    check_kind,
    check_stage,
    grantable,
    grantor,
    is_reserved_to_roles,
    revocable,
)
from freehold_devstack.snowflake.grants.securables import AllObjects, Existing
from freehold_devstack.snowflake.object_type import Form
from freehold_devstack.snowflake.results import DONE, Result, status

_NEVER_IN_BULK = frozenset({"PIPE", "TAG", "MASKING_POLICY"})


@dataclass(frozen=True)
class _Privileges:
    """What GRANT and REVOKE say alike; no privileges stand for ALL."""

    privileges: Sequence[str]
    securable: Existing
    grantee: Grantee

    def _wanted(self, context: Context, obj: CatalogObject) -> list[str]:
        """The privileges that are meant on an object; IMPORTED PRIVILEGES is kept as USAGE."""
        if self.privileges:
            return [USAGE if privilege == IMPORTED else privilege for privilege in self.privileges]
        every = sorted(grantable(context, obj))
        return every if self.grantee.kind != USER else [each for each in every if not is_reserved_to_roles(each)]

    def _check_bulk(self, verb: str) -> None:
        if isinstance(self.securable, AllObjects) and self.securable.kind in _NEVER_IN_BULK:
            raise errors.bulk_restricted(verb, self.securable.kind, self.grantee.kind)

    def _counted(self, objects: int) -> Result:
        return status(f"Statement executed successfully. {objects} objects affected.")


@dataclass(frozen=True)
class GrantPrivileges(_Privileges):
    """GRANT <privileges> ON <securable> TO <grantee> [WITH GRANT OPTION]."""

    grant_option: bool

    @property
    def form(self) -> Form:
        return grant_form(self.privileges, self.securable, self.grantee, grant_option=self.grant_option)

    def execute(self, context: Context) -> Result:
        self._check_bulk("grant")
        check_kind(self.privileges, self.securable)
        objects = self.securable.resolve(context, "GRANT")
        grantee = self.grantee.resolve(context, "GRANT")
        if grantee.kind == SHARE:
            shares.check_form(context, grantee, self.securable, self.privileges)
        refused: set[str] = set()
        permitted = False
        for obj in objects:
            refusals = self._grant(context, obj, grantee)
            permitted |= len(refusals) < len(self._wanted(context, obj))
            refused |= refusals
        if refused:
            raise errors.grant_partial(refused) if permitted else errors.grant_refused()
        return self._counted(len(objects)) if isinstance(self.securable, AllObjects) else DONE

    def _grant(self, context: Context, obj: CatalogObject, grantee: CatalogObject) -> set[str]:
        """Grant on one object, and say which privileges the session may not grant."""
        wanted = self._wanted(context, obj)
        check_imported(context, obj, self.privileges, "Grant")
        check_stage(context, obj, wanted)
        check_grantee(context, obj, grantee, wanted)
        if obj.kind == "STAGE" and WRITE in wanted and READ not in {*wanted, *_held(context, obj, grantee)}:
            raise errors.unnumbered("READ must be granted on an internal stage before WRITE.")
        refused = set()
        for privilege in sorted(wanted, key=lambda each: (each != USAGE, each)):
            by = grantor(context, obj, privilege)
            if by is None:
                refused.add(privilege)
                continue
            if grantee.kind == SHARE:
                shares.check(context, grantee, obj, privilege)
            grant = Grant(privilege, obj.id, grantee.id, by, context.now, grant_option=self.grant_option)
            records.add(context, grant)
        return refused


@dataclass(frozen=True)
class RevokePrivileges(_Privileges):
    """REVOKE [GRANT OPTION FOR] <privileges> ON <securable> FROM <grantee> [RESTRICT | CASCADE]."""

    option_only: bool
    cascade: bool

    @property
    def form(self) -> Form:
        return revoke_form(
            self.privileges, self.securable, self.grantee, option_only=self.option_only, cascade=self.cascade
        )

    def execute(self, context: Context) -> Result:
        self._check_bulk("revoke")
        check_kind(self.privileges, self.securable)
        objects = self.securable.resolve(context, "REVOKE")
        grantee = self.grantee.resolve(context, "REVOKE")
        refused: set[str] = set()
        outcomes: list[records.Outcome] = []
        permitted = False
        for obj in objects:
            check_imported(context, obj, self.privileges, "Revoke")
            check_stage(context, obj, self.privileges)
            refusals = self._refusals(context, obj, grantee)
            permitted |= len(refusals) < len(self._wanted(context, obj))
            refused |= refusals
            outcomes.append(self._revoke(context, obj, grantee, refusals))
        if refused:
            raise errors.revoke_partial(refused) if permitted else errors.revoke_refused()
        if skipped := sum(outcome.skipped for outcome in outcomes):
            raise errors.dependents_skipped(sum(outcome.revoked for outcome in outcomes), skipped)
        return self._counted(sum(outcome.revoked > 0 for outcome in outcomes))

    def _refusals(self, context: Context, obj: CatalogObject, grantee: CatalogObject) -> set[str]:
        """The privileges that the session has no say in: it neither may grant them nor did so."""
        own = {grant.privilege for grant in revocable(context, obj, _instances(context, obj, grantee))}
        return {
            privilege
            for privilege in self._wanted(context, obj)
            if privilege not in own and grantor(context, obj, privilege) is None
        }

    def _revoke(
        self, context: Context, obj: CatalogObject, grantee: CatalogObject, refused: set[str]
    ) -> records.Outcome:
        wanted = set(self._wanted(context, obj)) - refused
        held = _held(context, obj, grantee)
        if obj.kind == "STAGE" and READ in wanted and WRITE in held - wanted and not self.option_only:
            raise errors.unnumbered("WRITE must be revoked on an internal stage before READ.")
        instances = [grant for grant in _instances(context, obj, grantee) if grant.privilege in wanted]
        taken = revocable(context, obj, instances)
        outcome = records.take(context, obj, taken, option_only=self.option_only, cascade=self.cascade)
        if grantee.kind == SHARE and obj.kind == "DATABASE" and USAGE in wanted:
            shares.withdraw(context, grantee, obj)
        return outcome


def _instances(context: Context, obj: CatalogObject, grantee: CatalogObject) -> list[Grant]:
    return [grant for grant in context.catalog.grants_on(obj) if grant.to == grantee.id]


def _held(context: Context, obj: CatalogObject, grantee: CatalogObject) -> set[str]:
    return {grant.privilege for grant in _instances(context, obj, grantee)}


def check_imported(context: Context, obj: CatalogObject, privileges: Sequence[str], verb: str) -> None:
    """On a database that was made from a share only IMPORTED PRIVILEGES can be granted, and on others they can't be."""
    imported = any(shares.is_imported(step) for step in context.catalog.lineage(obj))
    wants_imported = IMPORTED in privileges
    if imported and obj.kind != "DATABASE":
        raise errors.imported_object(verb)
    if imported and not wants_imported:
        raise errors.imported_database()
    if wants_imported and not imported:
        raise errors.wrong_privilege(obj.kind, IMPORTED)
