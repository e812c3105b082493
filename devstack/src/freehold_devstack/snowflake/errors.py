"""The errors that the endpoint answers with: number, SQLSTATE and the shape of the message, as Snowflake words them."""

from collections.abc import Iterable

COMPILATION = "SQL compilation error:\n"
EXECUTION = "SQL execution error:\n"
ACCESS_CONTROL = "SQL access control error:\n"

UNKNOWN_NUMBER = 999999
"""Sent where Snowflake's own number is not publicly known, so that no client comes to depend on an invented one."""
UNKNOWN_SQLSTATE = "99999"

_SHOWN_STATEMENT = 30
"""Characters of a statement that the error of a request with several statements shows."""

MISSING = 2003
"""Number of the one answer for what is absent and for what is invisible."""

SYNTAX = 1003
UNKNOWN_FUNCTION = 2140


class SqlError(Exception):
    """A refusal of the server.

    Args:
        number: Snowflake's error number, without leading zeros.
        sqlstate: The five characters of the SQLSTATE.
        message: The text, with its family ("SQL compilation error:") where Snowflake prints one.
        line, position: Where a syntax error is, from 1 and from 0; -1 for other errors.
    """

    keeps_changes = False
    """Whether the statement has nevertheless done a part of its work."""

    def __init__(self, number: int, sqlstate: str, message: str, *, line: int = -1, position: int = -1) -> None:
        super().__init__(message)
        self.number = number
        self.sqlstate = sqlstate
        self.message = message
        self.line = line
        self.position = position

    @property
    def code(self) -> str:
        """The number as it is sent: six digits."""
        return f"{self.number:06d}"


class LoginError(SqlError):
    """A refused log-in or an unusable session token; the session endpoints send neither SQLSTATE nor family."""

    def __init__(self, number: int, message: str, *, cause: str = "") -> None:
        super().__init__(number, UNKNOWN_SQLSTATE, message)
        self.cause = cause or message
        """What was really wrong: for the journal, never sent."""


def invalid_payload() -> LoginError:
    """The body of a request that can't be read."""
    return LoginError(390142, "Incoming request does not contain a valid payload.")


def session_lost() -> LoginError:
    return LoginError(390111, "Session no longer exists. New login required to access the service.")


def session_expired() -> LoginError:
    return LoginError(390112, "Your session has expired. Please login again.")


def _located(line: int, position: int) -> str:
    """The family of an error that says which expression it is about."""
    return f"{COMPILATION.rstrip()} error line {line} at position {position}\n"


# --- syntax and limits -----------------------------------------------------------------------------------------------


def syntax(token: str, line: int, position: int) -> SqlError:
    text = f"{COMPILATION}syntax error line {line} at position {position} unexpected '{token}'."
    return SqlError(SYNTAX, "42000", text, line=line, position=position)


def unterminated(line: int, position: int) -> SqlError:
    text = f"{COMPILATION}parse error line {line} at position {position} near '<EOF>'."
    return SqlError(SYNTAX, "42000", text, line=line, position=position)


def empty_statement() -> SqlError:
    return SqlError(900, "42601", f"{COMPILATION}Empty SQL statement.")


def too_long(limit: int) -> SqlError:
    return unnumbered(f"The text of a request is longer than {limit} characters.")


def too_deep() -> SqlError:
    return unnumbered("The statement is nested too deeply.")


def statement_count(actual: int, desired: int) -> SqlError:
    text = f"Actual statement count {actual} did not match the desired statement count {desired}."
    return SqlError(8, "0A000", text)


def unsupported(feature: str) -> SqlError:
    return SqlError(2, "0A000", f"Unsupported feature '{feature}'.")


def unknown_function(name: str) -> SqlError:
    return SqlError(UNKNOWN_FUNCTION, "42601", f"{COMPILATION}Unknown function {name}")


def argument_count(call: str, line: int, position: int, *, expected: int, found: int) -> SqlError:
    """Too few (000938) or too many (000939) arguments in a call of a function."""
    number, many = (938, "not enough") if found < expected else (939, "too many")
    comma = "," if found < expected else ""
    text = f"{many} arguments for function [{call}]{comma} expected {expected}, got {found}"
    return SqlError(number, "22023", f"{_located(line, position)}{text}", line=line, position=position)


def unknown_user_function(name: str) -> SqlError:
    return SqlError(2141, "42601", f"{COMPILATION}Unknown user-defined function {name}")


def unknown_table_function(name: str) -> SqlError:
    return SqlError(2143, UNKNOWN_SQLSTATE, f"{COMPILATION}Unknown user-defined table function {name}")


def variable_argument(text: str) -> SqlError:
    """An argument of a table function that is no constant."""
    requirement = "Table function argument is required to be a constant."
    return SqlError(2018, "22023", f"{COMPILATION}Invalid argument [{text}] for table function. {requirement}")


def unknown_variable(name: str, line: int, position: int) -> SqlError:
    text = f"Session variable '{name}' does not exist"
    return SqlError(2211, "02000", f"{_located(line, position)}{text}", line=line, position=position)


def unnumbered(text: str, *, sqlstate: str = UNKNOWN_SQLSTATE, family: str = COMPILATION) -> SqlError:
    """A refusal that is known to exist while its number is not."""
    return SqlError(UNKNOWN_NUMBER, sqlstate, f"{family}{text}")


# --- objects ---------------------------------------------------------------------------------------------------------


def missing(kind: str, name: str, hint: str = "") -> SqlError:
    """Absent and invisible are one answer by design.

    Args:
        kind: Object type in capitals, e.g. "DATABASE".
        name: The printed name, qualified.
        hint: What follows, if anything.
    """
    text = f"{COMPILATION}{kind.capitalize()} '{name}' does not exist or not authorized.{hint}"
    return SqlError(MISSING, "42S02" if kind.endswith(("OBJECT", "TABLE", "VIEW")) else "02000", text)


def cannot_be_performed() -> SqlError:
    text = f"{COMPILATION}Object does not exist, or operation cannot be performed."
    return SqlError(2043, "02000", text)


def already_exists(name: str) -> SqlError:
    return SqlError(2002, "42710", f"{COMPILATION}Object '{name}' already exists.")


def exists_invisibly(kind: str, name: str) -> SqlError:
    text = (
        f"{COMPILATION}{kind.capitalize()} '{name}' already exists, but current role has no privileges on it. "
        "If this is unexpected and you cannot resolve this problem, contact your system administrator. "
        "ACCOUNTADMIN role may be required to manage the privileges on the object."
    )
    return SqlError(3041, "42710", text)


def no_current(kind: str, verb: str) -> SqlError:
    """An unqualified name in a session that has no current database (090105) or schema (090106)."""
    number = 90105 if kind == "DATABASE" else 90106
    text = (
        f"{COMPILATION}Cannot perform {verb}. This session does not have a current {kind.lower()}. "
        f"Call 'USE {kind}', or use a qualified name."
    )
    return SqlError(number, "22000", text)


def unknown_account(name: str) -> SqlError:
    return SqlError(1999, UNKNOWN_SQLSTATE, f"{COMPILATION}Account '{name}' does not exist.")


def warehouse_state(name: str, wanted: str) -> SqlError:
    """RESUME of what runs (090063) and SUSPEND of what is suspended (090064)."""
    number = 90063 if wanted == "resumed" else 90064
    return SqlError(number, "22000", f"Invalid state. Warehouse '{name}' cannot be {wanted}.")


def not_restorable(kind: str, name: str) -> SqlError:
    return SqlError(90025, "02000", f"{COMPILATION}{kind.capitalize()} {name} did not exist or was purged.")


def too_many_rows(limit: int) -> SqlError:
    text = (
        f"The result set size exceeded the max number of rows({limit}) supported for SHOW statements. "
        "Use LIMIT option to limit result set to a smaller number."
    )
    return SqlError(90153, "22000", f"{COMPILATION}{text}")


# --- properties and values -------------------------------------------------------------------------------------------


def invalid_parameter_value(value: str, parameter: str) -> SqlError:
    return SqlError(1008, "22023", f"{COMPILATION}invalid value [{value}] for parameter '{parameter}'")


def invalid_property_value(value: str, name: str) -> SqlError:
    return SqlError(1422, "22023", f"{COMPILATION}invalid value '{value}' for property '{name}'")


def invalid_property_type(value: str, name: str) -> SqlError:
    """A single value where a list is due."""
    return unnumbered(f"invalid type of property '{value}' for '{name}'")


def invalid_property(name: str, kind: str) -> SqlError:
    return SqlError(1420, "22023", f"{COMPILATION}invalid property '{name}' for '{kind.replace(' ', '_')}'")


def feature_not_enabled(name: str, feature: str) -> SqlError:
    return SqlError(1423, "22023", f"{COMPILATION}invalid property '{name}'; feature '{feature}' not enabled")


def invalid_combination(first: tuple[str, object], second: tuple[str, object]) -> SqlError:
    printed = ((name, str(value).upper() if isinstance(value, bool) else value) for name, value in (first, second))
    pairs = " and ".join(f"'{name}'='{value}'" for name, value in printed)
    return SqlError(1425, "22023", f"{COMPILATION}invalid property combination {pairs}")


def generation_as_constraint(value: str) -> SqlError:
    text = f"{COMPILATION}cannot set resource constraint to '{value}'. use the generation property instead."
    return SqlError(682, UNKNOWN_SQLSTATE, text)


def duplicate_property(name: str) -> SqlError:
    return unnumbered(f"duplicate property '{name}';")


def unset_refused(text: str, name: str, object_name: str) -> SqlError:
    """UNSET of a property that has none; `text` as `Refused` has it."""
    return unnumbered(text.format(property=name, name=object_name)) if text else unsupported("UNSET")


def missing_options(names: Iterable[str]) -> SqlError:
    return SqlError(2029, "42601", f"{COMPILATION}Missing option(s): {', '.join(names)}")


def arguments_missing(name: str) -> SqlError:
    """A function or procedure without the types of its arguments; the message knows functions only."""
    return SqlError(90208, "42601", f"Argument types of function '{name}' must be specified.")


def tags_unsupported(kind: str) -> SqlError:
    return SqlError(391801, "0A000", f"{COMPILATION}Object tagging not supported for object type {kind}.")


def wrong_kind(found: str, specified: str) -> SqlError:
    """Another kind of the same name space holds the name."""
    return unnumbered(f"Object found is of type '{found}', not specified type '{specified}'.")


# --- storage ---------------------------------------------------------------------------------------------------------


def url_prefix(url: str) -> SqlError:
    return SqlError(1011, "42601", f"{COMPILATION}invalid URL prefix found in: '{url}'")


def stage_location_missing(name: str) -> SqlError:
    """What only external stages have, without a URL."""
    return unnumbered(f"invalid stage ({name}): location not specified")


def internal_stage() -> SqlError:
    """What an internal stage can't have, or not have otherwise than it was made with."""
    return unnumbered("Cannot set URL, credentials, or encryption key of an internal or temporary stage.")


def location_refused(url: str, integration: str) -> SqlError:
    text = (
        f"Location {url} is not allowed by integration {integration}. "
        "Please use DESC INTEGRATION to check out allowed and blocked locations."
    )
    return SqlError(3127, "42601", f"{COMPILATION}{text}")


def private_connectivity(storage: str, platform: str) -> SqlError:
    text = f"Privatelink endpoints are not supported with '{storage}' locations on '{platform}' platform."
    return SqlError(511300, "0A000", f"{COMPILATION}{text}")


def invalid_value_reason(value: str, name: str, reason: str) -> SqlError:
    text = f"invalid value '{value}' for property '{name}', Reason: {reason}"
    return SqlError(1435, "22023", f"{COMPILATION}{text}")


def start_has_passed() -> SqlError:
    return SqlError(90263, "42601", f"{COMPILATION}The specified Start time has already passed.")


def notified_user_missing(name: str) -> SqlError:
    return SqlError(90268, "22023", f"{COMPILATION}User {name} does not exist.")


def account_monitor_notifies(name: str) -> SqlError:
    """Only administrators are told what the account's resource monitor finds."""
    return unnumbered(f"NOTIFY_USERS of resource monitor '{name}' must be empty at the level of the account.")


# --- functions and procedures ----------------------------------------------------------------------------------------


def ambiguous_overloading(kind: str, name: str) -> SqlError:
    text = f"Cannot overload {kind} '{name}' as it would cause ambiguous {kind} overloading."
    return SqlError(949, "42723", f"{COMPILATION}{text}")


def signature_too_long() -> SqlError:
    return SqlError(9024, UNKNOWN_SQLSTATE, "Function name (including parameter and return type) too long.")


def return_type(declared: str, actual: str, column: str | None = None) -> SqlError:
    place = "" if column is None else f" for column '{column}'"
    text = f"Declared return type '{declared}'{place} is incompatible with actual return type '{actual}'"
    return SqlError(90207, "42601", text)


def return_columns(declared: int, actual: int) -> SqlError:
    columns = f"declared return signature column count ({declared}) and actual column count ({actual})"
    return unnumbered(f"Mismatch between {columns}", family="")


def handler_refused(language: str) -> SqlError:
    """HANDLER of a function or procedure whose language has none."""
    return SqlError(1420, "22023", f"{COMPILATION}invalid property 'handler' for '{language} function'")


def runtime_retired(language: str, version: str, oldest: str) -> SqlError:
    advice = f"Please update your code to {language} runtime version {oldest} or later."
    return unnumbered(f"{language} runtime version {version} is decommissioned. {advice}")


def packages_not_found(packages: Iterable[str]) -> SqlError:
    text = f"Cannot create a Python function with the specified packages. 'Packages not found: {', '.join(packages)}'"
    return SqlError(391525, "42601", text)


def python_warehouse(kind: str) -> SqlError:
    """CREATE of a Python function (391528) or procedure (391531) in a session without a warehouse."""
    number, called = (391528, "UDFs") if kind == "FUNCTION" else (391531, "stored procedures")
    text = f"{COMPILATION}An active warehouse is required for creating Python {called}."
    return SqlError(number, "42601", text)


def handler_unusable(text: str) -> SqlError:
    return SqlError(100357, "P0000", text)


# --- columns ---------------------------------------------------------------------------------------------------------


def unsupported_data_type(word: str) -> SqlError:
    return SqlError(2040, "42601", f"{COMPILATION}Unsupported data type '{word}'.")


def type_change(column: str, old: str, new: str) -> SqlError:
    return SqlError(2108, "22000", f"{COMPILATION}cannot change column {column} from type {old} to {new}")


def type_narrowed(column: str, old: str, new: str) -> SqlError:
    reason = "reducing the byte-length of a varchar is not supported."
    text = f"{COMPILATION}cannot change column {column} from type {old} to {new} because {reason}"
    return SqlError(40050, "22000", text)


def scale_change(column: str, old: str, new: str) -> SqlError:
    reason = "changing the scale of a number is not supported."
    text = f"{COMPILATION}cannot change column {column} from type {old} to {new} because {reason}"
    return SqlError(40052, "22000", text)


def duplicate_column(column: str) -> SqlError:
    return SqlError(2025, "42S21", f"{COMPILATION}duplicate column name '{column}'")


def virtual_column(number: int, text: str) -> SqlError:
    """https://docs.snowflake.com/en/sql-reference/virtual-columns#error-reference"""
    return SqlError(number, UNKNOWN_SQLSTATE, f"{COMPILATION}{text}")


def column_exists(column: str) -> SqlError:
    return SqlError(1430, "42601", f"{COMPILATION}column '{column}' already exists")


def last_columns() -> SqlError:
    return SqlError(1432, "42601", f"{COMPILATION}cannot drop all the columns of a table")


def collation_change(column: str, old: str, new: str) -> SqlError:
    reason = "they have incompatible collations."
    text = f'{COMPILATION}cannot change column {column} from type "{old}" to "{new}" because {reason}'
    return SqlError(40053, "22000", text)


def invalid_default(expression: str) -> SqlError:
    return SqlError(2263, "22000", f"{COMPILATION}Invalid column default expression [{expression}]")


def default_type(expected: str, actual: str, column: str) -> SqlError:
    text = f"Expression type does not match column data type, expecting {expected} but got {actual} for column {column}"
    return SqlError(2023, "22000", f"{COMPILATION}{text}")


def view_columns(view: str, declared: int, produced: int) -> SqlError:
    text = f"View definition for '{view}' declared {declared} column(s), but view query produces {produced} column(s)."
    return SqlError(2057, "42601", f"{COMPILATION}{text}")


def view_expansion(view: str, cause: "SqlError") -> SqlError:
    return SqlError(2037, "42601", f"{COMPILATION}Failure during expansion of view '{view}': {cause.message}")


def one_policy(name: str, kind: str) -> SqlError:
    text = f"Object {name} already has a {kind}. Only one {kind} is allowed at a time."
    return SqlError(3549, "23505", text)


def masked_already() -> SqlError:
    text = (
        "Specified column already attached to another masking policy. A column cannot be attached to multiple masking "
        "policies. Please drop the current association in order to attach a new masking policy."
    )
    return SqlError(3529, "42601", text)


def temporary_source() -> SqlError:
    text = "Temp table cannot be cloned to a permanent table; clone to a transient table instead."
    return SqlError(2119, "0A000", f"{COMPILATION}{text}")


def ambiguous_column(column: str) -> SqlError:
    return SqlError(2028, "42601", f"{COMPILATION}ambiguous column name '{column}'")


def ungrouped(column: str, line: int, position: int) -> SqlError:
    text = f"'{column}' in select clause is neither an aggregate nor in the group by clause."
    return SqlError(1104, "42601", f"{_located(line, position)}{text}")


def invalid_grouping(expression: str) -> SqlError:
    return SqlError(979, "42601", f"{COMPILATION}[{expression}] is not a valid group by expression")


def invalid_identifier(name: str, line: int = 0, position: int = -1) -> SqlError:
    """A column that is not known. Lines count from 1 and positions from 0; line 0 stands for no place."""
    place = _located(line, position) if line else COMPILATION
    return SqlError(904, "42000", f"{place}invalid identifier '{name}'")


# --- policies and tags -----------------------------------------------------------------------------------------------


def policy_in_use(name: str) -> SqlError:
    text = f"Policy {name} cannot be dropped/replaced as it is associated with one or more entities."
    return SqlError(3531, "23001", f"{COMPILATION}{text}")


def body_type(name: str, expected: str, found: str) -> SqlError:
    """What a policy's body comes to is not what the policy returns."""
    text = f"Expression type does not match column data type, expecting {expected} but got {found} for column {name}"
    return SqlError(2023, "22000", f"{COMPILATION}{text}")


def conflict_rule(reason: str) -> SqlError:
    """A tag's ON_CONFLICT that does not fit the tag."""
    return SqlError(391892, UNKNOWN_SQLSTATE, f"Invalid on_conflict strategy: {reason}")


# --- privileges ------------------------------------------------------------------------------------------------------


def insufficient(kind: str, name: str, hint: str = "") -> SqlError:
    """The object is visible but the role may not do this to it.

    Args:
        kind: Object type in capitals, e.g. "DATABASE".
        name: The printed name without what it is in; an account's locator.
        hint: As in `missing`.
    """
    target = f"{kind.lower().replace(' ', '_')} '{name}'"
    text = f"{ACCESS_CONTROL}Insufficient privileges to operate on {target}.{hint}"
    return SqlError(3001, "42501", text)


def role_not_assigned(role: str) -> SqlError:
    text = (
        f"{ACCESS_CONTROL}Requested role '{role}' is not assigned to the executing user. "
        "Specify another role to activate."
    )
    return SqlError(3013, "42501", text)


def grant_refused() -> SqlError:
    return SqlError(3102, "42501", "Grant not executed: Insufficient privileges.")


def revoke_refused() -> SqlError:
    return SqlError(3103, "42501", "Revoke not executed: Insufficient privileges.")


def grant_partial(privileges: Iterable[str]) -> SqlError:
    text = f"Grant partially executed: privileges [{', '.join(sorted(privileges))}] not granted."
    return _partly_done(SqlError(3011, "42501", text))


def revoke_partial(privileges: Iterable[str]) -> SqlError:
    text = f"Revoke partially executed: privileges [{', '.join(sorted(privileges))}] not revoked."
    return _partly_done(SqlError(3012, "42501", text))


def dependents_skipped(revoked: int, skipped: int) -> SqlError:
    text = (
        f"Revoke partially executed: {revoked} grant(s) revoked, {skipped} grant(s) skipped due to dependent grants "
        "and no CASCADE is specified."
    )
    return _partly_done(SqlError(3935, "23001", text))


def _partly_done(error: SqlError) -> SqlError:
    error.keeps_changes = True
    return error


def wrong_privilege(securable: str, privilege: str) -> SqlError:
    """A privilege that the kind does not have; the kind as SHOW GRANTS calls it."""
    text = f"{COMPILATION}Invalid object type '{securable}' for privilege '{privilege}'."
    return SqlError(3008, UNKNOWN_SQLSTATE, text)


def stage_privilege(privilege: str, location: str) -> SqlError:
    """USAGE on an internal stage, READ or WRITE on an external one."""
    return SqlError(3038, "42601", f"{COMPILATION}Cannot grant or revoke {privilege} on an {location} staging location")


def stage_order() -> SqlError:
    text = (
        "Privilege order violation for the future grants on stage. "
        "WRITE should be revoked before/simultaneously with READ."
    )
    return SqlError(3512, "23001", f"{COMPILATION}{text}")


def bulk_restricted(verb: str, kind: str, grantee: str) -> SqlError:
    """ON ALL of a kind that has no such form; `verb` says "grant … to" or "revoke … from" which kind of grantee."""
    preposition = {"grant": "to", "revoke": "from"}[verb]
    text = f"Bulk {verb} on objects of type {kind} {preposition} {grantee} is restricted."
    return SqlError(3111, "0A000", f"{COMPILATION}{text}")


def imported_database() -> SqlError:
    text = (
        "Granting individual privileges on imported database is not allowed. Use 'GRANT IMPORTED PRIVILEGES' instead."
    )
    return SqlError(3028, UNKNOWN_SQLSTATE, f"{COMPILATION}{text}")


def imported_object(verb: str) -> SqlError:
    """GRANT (003104) and REVOKE (003105) on what an imported database holds."""
    number = {"Grant": 3104, "Revoke": 3105}[verb]
    return SqlError(number, "42501", f"{verb} not executed: Operation not supported on a SHARE object.")


def system_role(role: str, verb: str) -> SqlError:
    return SqlError(3042, "42501", f"{COMPILATION}Role '{role}' is a system object. {verb} cannot be performed.")


def dependent_grant(privilege: str, securable: str, role: str) -> SqlError:
    text = (
        f"{EXECUTION}Dependent grant of privilege '{privilege}' on securable '{securable}' to role '{role}' exists.  "
        "It must be revoked first.  More than one dependent grant may exist: use 'SHOW GRANTS' command to view them.  "
        "To revoke all dependent grants while transferring object ownership, use convenience command 'GRANT OWNERSHIP "
        "ON <target_objects> TO <target_role> REVOKE CURRENT GRANTS'."
    )
    return SqlError(3036, "23001", text)


def future_ownership(kind: str) -> SqlError:
    """A second role for the objects of a kind that a container is yet to hold."""
    text = f"A future grant with privilege 'OWNERSHIP' on objects of type '{kind}' was already made to another role."
    return SqlError(3504, "01000", f"{COMPILATION}{text}")


# --- users -----------------------------------------------------------------------------------------------------------


def not_for_user_type(name: str, user_type: str) -> SqlError:
    return SqlError(511503, "23001", f"{EXECUTION}Cannot set {name} on users with TYPE={user_type}.")


def password_rejected(reason: str) -> SqlError:
    return SqlError(3002, "28P01", f"{EXECUTION}New password rejected by current password policy. Reason: '{reason}'")


def key_rejected(reason: str) -> SqlError:
    return unnumbered(f"New public key rejected by current policy. Reason: '{reason}'", family=EXECUTION)


def key_unsupported() -> SqlError:
    return unnumbered("The provided public key uses an unsupported key algorithm.", family=EXECUTION)


# --- network policies ------------------------------------------------------------------------------------------------


def network_policy_attached(policy: str, kind: str, holder: str) -> SqlError:
    text = (
        f"Cannot perform Drop operation on network policy {policy}. The policy is attached to {kind} with name "
        f"{holder}. Unset the network policy from {kind} and try the Drop operation again."
    )
    return SqlError(1492, "42601", f"{COMPILATION}{text}")


def network_policy_empty(policy: str) -> SqlError:
    return SqlError(98519, "22023", f"Empty network policy {policy} cannot be active.")


def locked_out_by_change(policy: str, address: str) -> SqlError:
    """A change of the policy that governs the session would refuse its own address."""
    text = (
        f"Changes cannot be applied to the network policy {policy} because current IP address/token {address} "
        "is not allowed in it."
    )
    return SqlError(98506, "22023", text)


def locked_out_by_policy(policy: str, address: str) -> SqlError:
    """Attaching a policy would refuse the session's own address."""
    return unnumbered(
        f"Network policy {policy} cannot be activated. Requestor IP address/Token, {address}, must be included in the "
        'allowed_ip_list or allowed network rules. To add the specific IP, execute command "ALTER NETWORK POLICY '
        f"{policy} SET ALLOWED_IP_LIST=('{address}');\". Similarly, a CIDR block of IP addresses can be added instead "
        "of the specific IP address."
    )


def rules_associated(kind: str, name: str) -> SqlError:
    """The end of a database (098507) or schema (098508) with network rules that policies elsewhere list."""
    number = 98507 if kind == "DATABASE" else 98508
    return SqlError(
        number, "2BP01", f"Cannot drop {kind.lower()} {name} as it includes network rule - policy associations."
    )


# --- tasks and streams -----------------------------------------------------------------------------------------------


def task_warehouse(name: str) -> SqlError:
    return SqlError(91083, "42601", f"Nonexistent warehouse {name} was specified.")


def invalid_predecessor(name: str) -> SqlError:
    """A task to run after that is absent, has another owner or is in another schema."""
    return SqlError(91085, "42601", f"Invalid predecessor {name} was specified.")


def task_privilege(privilege: str) -> SqlError:
    """What the owner of a task lacks to run it: EXECUTE TASK or EXECUTE MANAGED TASK."""
    return SqlError(91089, "23001", f"Cannot execute task, {privilege} privilege must be granted to owner role")


def change_tracking_missing(table: str) -> SqlError:
    """A stream that is to begin before its source's changes were tracked."""
    text = f"Change tracking is not enabled or has been missing for the time range requested on table '{table}'."
    return SqlError(91930, "2F003", f"{COMPILATION}{text}")


def graph_running(root: str) -> SqlError:
    text = f"Unable to update graph with root task {root} since that root task is not suspended."
    return SqlError(91421, "22000", text)


def not_serverless(name: str) -> SqlError:
    return SqlError(91857, "42601", f"{name} is only allowed for serverless Tasks.")


# --- shares ----------------------------------------------------------------------------------------------------------


def other_database_shared(kind: str, name: str) -> SqlError:
    text = f"{COMPILATION}{kind.capitalize()} '{name}' does not belong to the database that is being shared."
    return SqlError(3033, "0A000", text)


def reference_before_usage(database: str, share: str) -> SqlError:
    text = (
        f"Cannot grant REFERENCE_USAGE on database {database} to share {share}. "
        "Grant USAGE on a database to share prior to granting REFERENCE_USAGE."
    )
    return SqlError(500130, "22000", text)


def share_without_database(share: str) -> SqlError:
    return unnumbered(
        f"Share '{share}' does not currently have a database. Database can be added using command "
        f"'GRANT USAGE ON DATABASE <name> TO SHARE {share}'."
    )


NOT_SECURE = 'Non-secure object can only be granted to shares with "secure_objects_only" property set to false.'


def not_secure() -> SqlError:
    return SqlError(90838, "0A000", NOT_SECURE)


# --- values ----------------------------------------------------------------------------------------------------------

_NOT_RECOGNIZED = {
    "Boolean": (100037, "22018"),
    "Date": (100040, "22007"),
    "Numeric": (100038, "22018"),
    "Time": (100108, "22007"),
    "Timestamp": (100035, "22007"),
}


def not_recognized(kind: str, value: str) -> SqlError:
    """A text that is no value of the kind: Boolean, Date, Numeric, Time or Timestamp."""
    number, sqlstate = _NOT_RECOGNIZED[kind]
    noun = f"{kind} value" if kind in {"Boolean", "Numeric"} else kind
    return SqlError(number, sqlstate, f"{noun} '{value}' is not recognized")


def out_of_range(value: str) -> SqlError:
    """A number with more digits than its type has."""
    return SqlError(100039, "22003", f"Numeric value '{value}' is out of range")


def text_too_long(value: str) -> SqlError:
    return SqlError(100078, "22000", f"String '{value}' is too long and would be truncated")


def not_hexadecimal(value: str) -> SqlError:
    return SqlError(100115, "22000", f"The following string is not a legal hex-encoded value: '{value}'")


def bad_json(cause: str) -> SqlError:
    return SqlError(100069, "22P02", f"Error parsing JSON: {cause}")


def failed_cast(value: str, target: str) -> SqlError:
    return SqlError(100071, "22000", f"Failed to cast variant value {value} to {target}")


# --- execution -------------------------------------------------------------------------------------------------------


def multi_statement_failed(text: str, line: int, position: int, inner: str) -> SqlError:
    """A statement of several in one request has failed; the error hides its number."""
    shown = text if len(text) <= _SHOWN_STATEMENT else f"{text[:_SHOWN_STATEMENT]}..."
    script = "    throw `Execution of multiple statements failed on statement {0} (at line {1}, position {2}).`"
    return SqlError(
        100132,
        "P0000",
        f'JavaScript execution error: Uncaught Execution of multiple statements failed on statement "{shown}" '
        f"(at line {line}, position {position}).\n{inner} in SYSTEM$MULTISTMT at '{script}.replace('{{1}}', LINES[i])' "
        "position 4\nstackstrace: \nSYSTEM$MULTISTMT line: 10",
    )


def not_preparable() -> SqlError:
    return SqlError(7, "0A000", "Statement provided can not be prepared.")


def not_executing() -> SqlError:
    return SqlError(605, "57014", "Identified SQL statement is not currently executing.")


def no_warehouse() -> SqlError:
    text = "No active warehouse selected in the current session. Select an active warehouse with the 'use warehouse' "
    return SqlError(606, "57P03", f"{text}command.")


def internal() -> SqlError:
    """The server's own fault."""
    return SqlError(603, "XX000", "SQL execution internal error: Processing aborted due to error 300002:0.")


def canceled() -> SqlError:
    return SqlError(604, "57014", "SQL execution canceled")


def timed_out(seconds: float) -> SqlError:
    text = f"Statement reached its statement or warehouse timeout of {seconds:g} second(s) and was canceled."
    return SqlError(630, "57014", text)


def unknown_query(query_id: str) -> SqlError:
    return SqlError(709, "02000", f"Statement {query_id} not found")
