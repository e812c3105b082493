"""Answers that only another manifest ends, or another edition of Snowflake."""

from __future__ import annotations

from freehold.snowflake.error_table.row import Row, unnumbered

_QUALIFY = "Name it in full: database, schema, name."
_RETYPE = "Snowflake only widens types in place: add a column of the new type, or make the table anew."
_OWN_ADDRESS = "Add Freehold's egress address to the policy first."
_PASTE_KEY = "Give the key's base64 text alone, without header, footer and line breaks."

SYNTAX = (
    Row((8,), "more than one statement in a request"),
    Row((900,), "the statement is empty"),
    Row((1003, 1494), "the statement isn't understood"),
    Row((2211,), "a session variable doesn't exist"),
    Row((90208,), "the function's argument types are missing"),
    unnumbered("IF NOT EXISTS and OR REPLACE are incompatible", "options that exclude each other"),
    unnumbered("duplicate property", "a property is given twice"),
)

UNSUPPORTED = (
    Row(
        (2,), "the account lacks the feature", "Remove the field, or use an account of an edition that has the feature."
    ),
    Row((1423,), "the property's feature isn't enabled", "It needs a higher edition: remove the field."),
    Row((2004,), "the account lacks this function or column"),
    Row((2139, 2140), "the account lacks this function"),
    Row((3078,), "the feature isn't enabled", reported=True),
    Row((99201,), "not possible for Iceberg tables", reported=True),
    Row((391404,), "trial accounts have no hybrid tables"),
    Row((391801,), "objects of this type have no tags"),
    Row((511300,), "private links aren't supported here"),
)

TERMINAL = (
    # Statements and bodies
    Row((7,), "the statement can't be prepared"),
    Row((709,), "the statement isn't known any more"),
    Row((904,), "a column or variable doesn't exist", "Check the name, its case and its quotes in the body."),
    Row((906,), "the name has too many parts", "Shorten it to ORGANIZATION.ACCOUNT."),
    Row((939,), "a function is called with too many arguments"),
    Row((979, 1104), "a column is neither grouped by nor aggregated"),
    Row((1007, 1038), "a value of the wrong type"),
    Row((1044,), "a function is called with arguments of the wrong types"),
    Row((1045,), "an argument must be a string"),
    Row((2014,), "an expression isn't allowed in VALUES"),
    Row((2016,), "a function doesn't support the argument's type"),
    Row((2018,), "an argument must be a constant"),
    Row((2023,), "an expression's type doesn't match the column's"),
    Row((2028,), "a column's name is ambiguous", "Qualify it with its table.", reported=True),
    Row((90030,), "the query answers with too much"),
    Row((90105, 391918), "no database is given", _QUALIFY),
    Row((90106,), "no schema is given", _QUALIFY),
    Row((90153, 90201), "SHOW would answer with more than 10,000 rows"),
    Row(
        (100035, 100038, 100039, 100051, 100069, 100071), "the data doesn't fit: a value can't be read or is too large"
    ),
    Row((100072, 100078, 100108, 100115), "the data doesn't fit: NULL isn't allowed, or a value can't be read"),
    Row((100132,), "the procedure failed"),
    Row((390142,), "the request can't be read", "Look for a proxy that changes requests."),
    # Objects
    Row((949,), "a function of this name and these arguments exists"),
    Row((1432,), "a table keeps one column at least"),
    Row((1482, 11201, 11202, 11207, 11208), "not possible with virtual columns"),
    Row((1471,), "the column holds NULLs", "Fill them first: UPDATE ... SET ... WHERE ... IS NULL."),
    Row((2019,), "the file format can't give more than one column"),
    Row((2025,), "two columns have one name", "Rename one of them."),
    Row((2026,), "the list of columns is invalid", reported=True),
    Row((2040,), "the data type doesn't exist"),
    Row((2035,), "not allowed before something is set up outside", reported=True),
    Row((2057,), "the view declares other columns than its query has", "Make both agree.", reported=True),
    Row((2119,), "a temporary table can't become a permanent one"),
    Row((2212,), "a materialized view reads one table only"),
    Row((2263,), "the column's default isn't allowed"),
    Row((2857,), "FROZEN WHERE and this primary key exclude each other"),
    Row((2108, 40050, 40052, 40053), "the column can't become of that type", _RETYPE),
    Row((90084,), "there are as many objects as Snowflake allows", "Ask Snowflake's support to raise the limit."),
    Row((90088, 90089, 90348), "the account's or administrator's name isn't allowed"),
    Row((90207,), "the function returns another type than it declares"),
    Row((90337,), "there are as many reader accounts as allowed", "Drop some, or ask Snowflake's support."),
    Row((91361,), "an Iceberg table needs its columns declared"),
    Row((91385, 91386), "Iceberg tables don't have this type"),
    Row((93037, 512023), "there are as many versions as allowed", "Drop one of them."),
    Row((93079,), "the application isn't available any more"),
    Row((93200, 393925), "the external volume's location is wrong", reported=True),
    Row((99207,), "PARTITION BY and CLUSTER BY exclude each other"),
    Row((100357,), "the function's code can't be run", "Check handler, imports and packages."),
    Row((391407,), "hybrid tables have no CLUSTER BY"),
    Row((391464,), "indexed columns have no collation"),
    Row((391516,), "TARGET_PATH needs a body"),
    Row((391525,), "a package doesn't exist", "SELECT ... FROM INFORMATION_SCHEMA.PACKAGES lists what there is."),
    Row((393962,), "government regions need S3GOV locations"),
    Row((395018,), "the service's specification has an unknown option"),
    Row((399115,), "the search service's query isn't allowed"),
    Row((604001,), "Postgres has no such compute family"),
    # Properties and values
    Row((682,), "the resource constraint is a generation", "Use the field for the generation.", reported=True),
    Row((1008, 1422, 1425, 1435), "a value isn't allowed", "If Snowflake documents it, it needs a higher edition."),
    Row((1011,), "the URL isn't allowed"),
    Row((1420,), "objects of this kind don't have the property", "Remove the field; the account may not have it yet."),
    Row((1481,), "a value isn't allowed", reported=True),
    Row((2029,), "a required property is missing"),
    Row((3002,), "the password policy refuses the password", "Choose another one."),
    Row((3639,), "the property is deprecated"),
    Row((4101,), "catalog integrations don't have this option", reported=True),
    Row((4800,), "CLIENT_POLICY needs DRIVERS in CLIENT_TYPES"),
    Row((9024,), "the function's arguments take up too much"),
    Row((10402,), "the table isn't bound to the warehouse"),
    Row((90263,), "the start has passed", "Use IMMEDIATELY, or a time to come."),
    Row((98506,), "the network policy would lock Freehold out", _OWN_ADDRESS),
    Row((98519,), "an empty network policy can't be used", "Add an address or a rule to it first."),
    Row((511503,), "users of this type don't have the property", "Remove the field, or change the user's type."),
    # Grants, shares, policies, tags
    Row((3008,), "objects of this type don't have the privilege"),
    Row(
        (3028,),
        "imported databases are granted as a whole",
        "Use GRANT IMPORTED PRIVILEGES ON DATABASE ... TO ROLE ...",
    ),
    Row((3033,), "a share has one database", "GRANT REFERENCE_USAGE ON DATABASE ... TO SHARE ... for the others."),
    Row((3038,), "internal stages have READ and WRITE, external ones USAGE"),
    Row((3042,), "a system role isn't granted like that", reported=True),
    Row((3111,), "objects of this type aren't granted in bulk"),
    Row((3104, 3105), "objects of a share can't be granted on"),
    Row((90838,), "a share holds secure objects only", "Make it SECURE, or SECURE_OBJECTS_ONLY = FALSE of the share."),
    Row((98806,), "an application's role can't be granted to the application"),
    Row((391892,), "the tag's ON_CONFLICT isn't allowed", reported=True),
    # Tasks, stages, replication
    Row(
        (3127,),
        "the integration doesn't allow the location",
        "ALTER STORAGE INTEGRATION ... SET STORAGE_ALLOWED_LOCATIONS.",
    ),
    Row((3813,), "no failover within a region"),
    Row((3909,), "replication to the primary's own account can't be disabled"),
    Row((91456, 91457), "there is nothing to retry", reported=True),
    Row((91857,), "only serverless tasks have TARGET_COMPLETION_INTERVAL"),
    # Numbers that nobody tells
    unnumbered(
        r"cannot be activated\. Requestor IP address", "the network policy would lock Freehold out", _OWN_ADDRESS
    ),
    unnumbered("has at least one cycle", "the tasks run in a circle"),
    unnumbered("more than one root task", "the graph of tasks has two roots"),
    unnumbered("finalize a non-root task", "only a root has a finalizer task"),
    unnumbered("on non-root task", "only a root has this property"),
    unnumbered("on a non-serverless task", "only serverless tasks have this property"),
    unnumbered(
        "cannot be resumed as ownership had changed",
        "the pipe has a new owner",
        "SELECT SYSTEM$PIPE_FORCE_RESUME('...').",
    ),
    unnumbered("New public key rejected", "the public key isn't one", _PASTE_KEY),
    unnumbered("Integration based stages are not allowed", "the stage's integration has the private link"),
    unnumbered("share a database role that is granted", "the database role reaches objects that aren't secure"),
    unnumbered("read-only secondary database", "the database is a replica", "Change its primary."),
    unnumbered("can have at most one suspend", "a resource monitor has one trigger of each kind"),
    unnumbered("cannot be added to non-empty table", "a NOT NULL column of a table with rows needs a default"),
    unnumbered("cannot change column", "the column can't become of that type", _RETYPE),
    unnumbered("Cannot unset property", "the integration's property can't be unset"),
    unnumbered("is not clustered", "the table has no clustering key"),
    unnumbered("SQL does not support type", "the language lacks the type"),
    unnumbered("Unsupported vector element type", "vectors have no such elements"),
    unnumbered(r"Integration .* is not a .* integration", "the integration is of another kind"),
)
