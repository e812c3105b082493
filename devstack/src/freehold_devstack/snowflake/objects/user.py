"""USER: https://docs.snowflake.com/en/sql-reference/sql/create-user and the pages beside it."""

from functools import partial

from freehold_devstack.snowflake import attachments, errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.auth.key_pair import KEYS
from freehold_devstack.snowflake.catalog import CatalogObject
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.grammar import Act, Action, Part, Property, uncovered
from freehold_devstack.snowflake.grants import records
from freehold_devstack.snowflake.object_type import Lifecycle, ObjectType, Rights
from freehold_devstack.snowflake.parameters import SESSION_PARAMETERS, STORED_SESSION_PARAMETERS, USER_PARAMETERS
from freehold_devstack.snowflake.parser import Parser, phrases
from freehold_devstack.snowflake.users import access_tokens
from freehold_devstack.snowflake.users.rules import TYPES, settle
from freehold_devstack.snowflake.users.shown import SHOW, describe
from freehold_devstack.snowflake.users.values import Countdown, Namespace, Words, WorkloadIdentity
from freehold_devstack.snowflake.users.workloads import parse_show_workloads
from freehold_devstack.snowflake.values import Boolean, Choice, ListOf, Reference, choice

_NOT_COVERED = phrases("""
    ADD MFA METHOD OTP, ENROLL MFA, MODIFY MFA METHOD, REMOVE MFA METHOD, RESET PASSWORD, SET ALLOWED_INTERFACES,
    SET DEFAULT_MFA_METHOD, UNSET ALLOWED_INTERFACES
""")
"""Forms of ALTER that are about pages and devices of persons."""

_DEFAULTS = ("DEFAULT_WAREHOUSE", "DEFAULT_NAMESPACE", "DEFAULT_ROLE")
"""What is current after a log-in, which users may change on themselves."""


# --- forms of ALTER --------------------------------------------------------------------------------------------------


def _abort_all_queries(_parser: Parser) -> Act:
    return lambda context, user: context.aborted.add(user.id)


def _attach(kind: str, parser: Parser) -> Act:
    policy = parser.name(parts=3)
    parser.accept("FORCE")

    def act(context: Context, user: CatalogObject) -> None:
        attachments.attach(context, user, kind, policy)

    return act


def _detach(kind: str, _parser: Parser) -> Act:
    def act(context: Context, user: CatalogObject) -> None:
        attachments.detach(context, user, kind)

    return act


def _delegate(preposition: str, parser: Parser) -> Act:
    """What a user lets an integration do: there are none yet that could be let."""
    if parser.choose("AUTHORIZATION", "AUTHORIZATIONS") == "AUTHORIZATION":
        parser.expect("OF", "ROLE")
        parser.identifier()
    elif parser.accept("OF"):
        parser.expect("ANY", "ROLE")
    parser.expect(preposition, "SECURITY", "INTEGRATION")
    integration = parser.identifier()

    def act(context: Context, user: CatalogObject) -> None:
        context.resolve_reference("SECURITY INTEGRATION", (integration,), "ALTER")
        raise errors.unsupported(f"DELEGATED AUTHORIZATION of user {user.name}")

    return act


# --- the declaration -------------------------------------------------------------------------------------------------

TYPE = ObjectType(
    kind="USER",
    plural="USERS",
    clauses=(Part("ALLOWED_INTERFACES", uncovered("ALLOWED_INTERFACES")),),
    properties=(
        Property("PASSWORD", Words()),
        Property("LOGIN_NAME", Words()),
        *(Property(name, Words()) for name in ("DISPLAY_NAME", "FIRST_NAME", "MIDDLE_NAME", "LAST_NAME", "EMAIL")),
        Property("MUST_CHANGE_PASSWORD", Boolean(), False, unset=False),
        Property("DISABLED", Boolean(), False, unset=False),
        Property("DAYS_TO_EXPIRY", Countdown(365_000)),
        Property("MINS_TO_UNLOCK", Countdown(525_600_000)),
        Property("DEFAULT_WAREHOUSE", Reference("", null=True)),
        Property("DEFAULT_NAMESPACE", Namespace()),
        Property("DEFAULT_ROLE", Reference("", null=True)),
        Property("DEFAULT_SECONDARY_ROLES", ListOf(choice("ALL"), high=1), ("ALL",), unset=("ALL",)),
        Property("MINS_TO_BYPASS_MFA", Countdown(1440)),
        Property("DISABLE_MFA", Boolean(), False, unset=False, only="ALTER"),
        *(Property(name, Words()) for name in KEYS),
        Property("TYPE", Choice({**{each: each for each in TYPES}, "NULL": "PERSON"}), "PERSON", unset="PERSON"),
        Property("WORKLOAD_IDENTITY", WorkloadIdentity()),
        Property("COMMENT", Words()),
    ),
    parameters=USER_PARAMETERS,
    rights=Rights(
        grantable=frozenset({"MONITOR", "IMPERSONATE", access_tokens.PRIVILEGE}),
        show_parameters=OWNERSHIP,
        own_settings=frozenset({*_DEFAULTS, *SESSION_PARAMETERS, *STORED_SESSION_PARAMETERS}),
        known=True,
    ),
    actions=(
        *(Action(words, uncovered(words)) for words in _NOT_COVERED),
        *(Action(f"SET {kind}", partial(_attach, kind), None) for kind in attachments.KINDS),
        *(Action(f"UNSET {kind}", partial(_detach, kind), None) for kind in attachments.KINDS),
        *access_tokens.ACTIONS,
        Action("ABORT ALL QUERIES", _abort_all_queries),
        Action("ADD DELEGATED", partial(_delegate, "TO")),
        Action("REMOVE DELEGATED", partial(_delegate, "FROM")),
    ),
    show=SHOW,
    extra_shows=(
        ("USER PROGRAMMATIC ACCESS TOKENS", access_tokens.parse_show_tokens),
        ("USER PATS", access_tokens.parse_show_tokens),
        ("USER WORKLOAD IDENTITY AUTHENTICATION METHODS", parse_show_workloads),
    ),
    describe=describe,
    lifecycle=Lifecycle(
        settle=settle,
        dropping=records.forget,
    ),
)
