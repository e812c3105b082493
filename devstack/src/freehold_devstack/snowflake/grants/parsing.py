"""The grammar of GRANT and REVOKE."""

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.grants.future import GrantFuture, RevokeFuture
from freehold_devstack.snowflake.grants.grantees import DATABASE_ROLE, ROLE, SHARE, USER, Grantee, parse_grantee
from freehold_devstack.snowflake.grants.granting import GrantPrivileges, RevokePrivileges
from freehold_devstack.snowflake.grants.ownership import GrantOwnership, RevokeOwnership
from freehold_devstack.snowflake.grants.privileges import IMPORTED, check_kind, parse_privileges
from freehold_devstack.snowflake.grants.roles import GrantRole, RevokeRole
from freehold_devstack.snowflake.grants.securables import FutureObjects, parse_securable
from freehold_devstack.snowflake.object_type import Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Parser


def parse_grant(parser: Parser, types: Types) -> Statement:
    """Read what follows GRANT."""
    if role := _parse_role(parser):
        parser.expect("TO")
        grantee = _parse_role_grantee(parser, role)
        return GrantRole(role, grantee, _parse_grant_option(parser, grantee))
    privileges = parse_privileges(parser, types)
    securable = parse_securable(parser, types)
    grantee = _parse_privilege_grantee(parser, "TO")
    if privileges == [OWNERSHIP]:
        return GrantOwnership(securable, grantee, _parse_current_grants(parser))
    if parser.at("COPY", "CURRENT", "GRANTS") or parser.at("REVOKE", "CURRENT", "GRANTS"):
        raise errors.unnumbered("Only OWNERSHIP grant command may specify REVOKE CURRENT GRANTS option.")
    if isinstance(securable, FutureObjects):
        return GrantFuture(privileges, securable, grantee, _parse_grant_option(parser, grantee))
    if IMPORTED in privileges:
        check_kind(privileges, securable)
        return GrantPrivileges(privileges, securable, _only_role(grantee), grant_option=False)
    return GrantPrivileges(privileges, securable, grantee, _parse_grant_option(parser, grantee, users=True))


def parse_revoke(parser: Parser, types: Types) -> Statement:
    """Read what follows REVOKE."""
    option_only = parser.accept("GRANT", "OPTION", "FOR")
    if role := _parse_role(parser):
        parser.expect("FROM")
        grantee = _parse_role_grantee(parser, role)
        return RevokeRole(role, grantee, option_only, _parse_cascade(parser))
    privileges = parse_privileges(parser, types)
    securable = parse_securable(parser, types)
    grantee = _parse_privilege_grantee(parser, "FROM")
    cascade = _parse_cascade(parser)
    if isinstance(securable, FutureObjects):
        return RevokeFuture(privileges, securable, grantee, option_only, cascade)
    if privileges == [OWNERSHIP]:
        return RevokeOwnership(securable, grantee)
    return RevokePrivileges(privileges, securable, grantee, option_only, cascade)


def _parse_role(parser: Parser) -> Grantee | None:
    """Take the role that is granted, if the statement is about one."""
    if parser.accept("DATABASE", "ROLE"):
        return Grantee(DATABASE_ROLE, parser.name(parts=2))
    if parser.accept("ROLE"):
        return Grantee(ROLE, (parser.identifier(),))
    return None


def _parse_role_grantee(parser: Parser, role: Grantee) -> Grantee:
    return parse_grantee(parser, *((ROLE, USER) if role.kind == ROLE else (ROLE, DATABASE_ROLE, USER, SHARE)))


def _parse_privilege_grantee(parser: Parser, preposition: str) -> Grantee:
    parser.expect(preposition)
    kinds = (DATABASE_ROLE, ROLE, USER, SHARE)
    if any(parser.at(*words.split()) for words in (*kinds, "APPLICATION")):
        return parse_grantee(parser, *kinds)
    return Grantee(ROLE, (parser.identifier(),))


def _only_role(grantee: Grantee) -> Grantee:
    if grantee.kind not in {ROLE, USER}:
        raise errors.unnumbered(f"{IMPORTED} can't be granted to a {grantee.kind.lower()}.")
    return grantee


def _parse_grant_option(parser: Parser, grantee: Grantee, *, users: bool = False) -> bool:
    allowed = grantee.kind in {ROLE, DATABASE_ROLE} or (users and grantee.kind == USER)
    return allowed and parser.accept("WITH", "GRANT", "OPTION")


def _parse_current_grants(parser: Parser) -> str | None:
    if parser.at_end():
        return None
    keyword = parser.choose("COPY", "REVOKE")
    parser.expect("CURRENT", "GRANTS")
    return keyword


def _parse_cascade(parser: Parser) -> bool:
    if parser.accept("CASCADE"):
        return True
    parser.accept("RESTRICT")
    return False
