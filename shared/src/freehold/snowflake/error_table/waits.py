"""Answers that something else than the manifest ends: a grant, another object, time."""

from __future__ import annotations

from freehold.snowflake.error_table.row import Row, unnumbered

_GRANT_OPTION = "Run it as a role that may grant: GRANT MANAGE GRANTS ON ACCOUNT TO ROLE ..."
_WAREHOUSE = "Set spec.warehouse of the ProviderConfig, and GRANT USAGE ON WAREHOUSE ... TO ROLE ..."
_DETACH = "Detach it from what it is set on: POLICY_REFERENCES of the INFORMATION_SCHEMA lists that."
_DETACH_RULE = (
    "Take its network rules out of the policies elsewhere: ALTER NETWORK POLICY ... REMOVE ALLOWED_NETWORK_RULE_LIST = "
    "(...)."
)
_TRUST = (
    "Put the values that DESCRIBE INTEGRATION ... shows into the trust policy; that takes minutes to have an effect."
)

PERMISSION = (
    Row((3001,), "the role lacks a privilege on an object that it sees"),
    Row((3011,), "some of the privileges weren't granted", _GRANT_OPTION),
    Row((3012,), "some of the privileges weren't revoked", _GRANT_OPTION),
    Row((3013,), "the role isn't granted to the user", "Grant the role to the user: GRANT ROLE ... TO USER ..."),
    Row((3102,), "the role may not grant this", _GRANT_OPTION),
    Row((3103,), "the role may not revoke this", _GRANT_OPTION),
    Row(
        (91089,),
        "the task's owner may not run tasks",
        "GRANT EXECUTE TASK ON ACCOUNT TO ROLE ..., or EXECUTE MANAGED TASK where the task has no warehouse.",
    ),
    Row(
        (391529,),
        "third-party packages weren't agreed to",
        "An ORGADMIN accepts the terms once, under Admin, Billing & Terms in Snowsight.",
    ),
)

MISSING = (
    Row(
        (606,),
        "no warehouse is active",
        "Grant USAGE on the ProviderConfig's warehouse to the role; Snowflake says this also when one is configured.",
    ),
    Row(
        (608,),
        "the warehouse is suspended",
        "Resume the warehouse, ALTER WAREHOUSE ... RESUME, or set its AUTO_RESUME.",
    ),
    Row((1757, 2001, 2003, 2043), "an object doesn't exist, or the role can't see it"),
    Row((1999,), "the account doesn't exist", "Name it as ORGANIZATION.ACCOUNT."),
    Row((2037,), "a view can't be read, since what it reads can't", "Mend what the view reads."),
    Row((2141, 2143), "the function or procedure doesn't exist with these argument types"),
    Row((3167,), "the cloud provider doesn't let Snowflake in yet", _TRUST),
    Row((90025,), "there is nothing left to restore", "Create the object anew.", reported=True),
    Row((90268,), "the user doesn't exist", "Create the user first."),
    Row(
        (91003,),
        "a stage's files can't be reached",
        "The cause in brackets decides: location, credential or integration.",
    ),
    Row((91016, 91017), "a file or bucket doesn't exist, or Snowflake isn't let in", "Check bucket, region and role."),
    Row((91083,), "the warehouse doesn't exist", "Create it, and GRANT USAGE ON WAREHOUSE ... TO ROLE ..."),
    Row((91085,), "the task's predecessor doesn't exist", "It must be in the same schema, and have the same owner."),
    Row((91093,), "the external table's stage points elsewhere", "Create the external table anew."),
    Row((390201,), "an object named in the log-in doesn't exist, or the role can't see it"),
    Row((391528, 391531), "Python code needs a warehouse to be checked", _WAREHOUSE),
    Row((391707, 399012, 399019), "a stage, dataset or version doesn't exist"),
    Row((391920,), "the warehouse can't be used", _WAREHOUSE, reported=True),
    Row(
        (394209,),
        "an address isn't one that a user of this account has verified",
        "Its user verifies it in Snowsight, under Settings, Profile.",
    ),
    Row((395069,), "the service's template or its stage doesn't exist"),
    Row((397007, 397012, 397013), "an image doesn't exist"),
    Row((398529,), "the gateway's service doesn't exist, or the role can't see it"),
    Row((91930,), "the table's changes aren't tracked yet", "ALTER TABLE ... SET CHANGE_TRACKING = TRUE."),
    Row((500130,), "the share has no database yet", "GRANT USAGE ON DATABASE ... TO SHARE ... comes first."),
    Row((505001,), "what is referred to doesn't exist, or the role can't see it"),
    unnumbered(
        "Pipe Notifications bind failure", "the bucket's notifications can't be bound", "Set the queue up first."
    ),
    unnumbered(r"Any policy of kind .* is not attached", "no such policy is attached"),
    unnumbered(r"Programmatic access token .* not found", "the token doesn't exist"),
    unnumbered(
        r"Integration .* associated with the stage",
        "the stage's integration is gone",
        "ALTER STAGE ... SET STORAGE_INTEGRATION = ...",
    ),
    unnumbered(
        "does not currently have a database",
        "the share has no database yet",
        "GRANT USAGE ON DATABASE ... TO SHARE ... comes first.",
    ),
)

EXISTS = (
    Row((1030,), "files are there already", "Choose another path."),
    Row((1998,), "an object of another kind has the name", "Choose another name."),
    Row((2002,), "the name is taken"),
    Row(
        (3041,),
        "the name is taken, by an object that the role can't see",
        "The object exists but the role can't see it: choose another name, or ask its owner for a grant.",
    ),
    Row((3524,), "an integration with this issuer exists", "Drop the other one, or adopt it."),
    Row((92917, 399020), "the version exists"),
    Row((99106,), "there is a live version already"),
    Row((390950,), "an integration of this type exists, and one is allowed", "Adopt it.", reported=True),
    unnumbered("Object found is of type", "an object of another kind has the name", "Choose another name."),
    unnumbered("Integration of this type already exists", "an integration of this type exists", "Adopt it."),
)

CONFLICT = (
    Row((625,), "another transaction holds the lock", "SHOW LOCKS names the holder: wait for it, or end it."),
    Row((1430,), "the column exists by now: somebody else has added it"),
    Row(
        (1492,),
        "the network policy is in use",
        "Detach it: ALTER ACCOUNT UNSET NETWORK_POLICY, or the same of the user or integration that is named.",
    ),
    Row((1520,), "the object is being changed by somebody else", reported=True),
    Row((3036, 3935), "grants depend on it", "Revoke them first; SHOW GRANTS lists them."),
    Row((3101, 3122), "the group is being refreshed"),
    Row((3504,), "a future grant names another owner", "REVOKE OWNERSHIP ON FUTURE ... FROM ROLE ... comes first."),
    Row((3512,), "the future grant of WRITE goes before that of READ"),
    Row((3529,), "the column has another masking policy", "ALTER TABLE ... MODIFY COLUMN ... UNSET MASKING POLICY."),
    Row((3531,), "the policy is in use", _DETACH),
    Row((3549,), "the object has another policy of this kind", "Unset that one first."),
    Row((90063, 90064), "the warehouse is in that state already"),
    Row((91421,), "the graph's root task is running", "ALTER TASK ... SUSPEND the root, change, then RESUME it."),
    Row((91423,), "the graph of tasks was changed meanwhile", reported=True),
    Row((93088,), "the version is in use"),
    Row((93128,), "the application owns objects", "Drop them first, or drop the application with CASCADE."),
    Row((98507, 98508), "policies elsewhere use network rules of it", _DETACH_RULE),
    Row((391480,), "another index is being built"),
    Row((393926,), "the storage location is the active one", "Add another location first."),
    Row((393950,), "refused for something else that is in use", reported=True),
    Row((604009,), "an earlier operation is still running"),
    unnumbered(
        "it is the current primary role", "the role is the session's own", "Let the ProviderConfig use another role."
    ),
    unnumbered("associated with one or more entities", "the policy is in use", _DETACH),
    unnumbered("associated with some network policies", "network policies use the rule", _DETACH_RULE),
    unnumbered("not in paused state", "the pipe is running", "ALTER PIPE ... SET PIPE_EXECUTION_PAUSED = TRUE."),
    unnumbered("The existing policy must be removed", "there is another policy", "Unset that one first."),
    unnumbered("primary connection in a replication", "the connection has secondary ones", "Drop those first."),
    unnumbered("create a secondary connection", "the connection isn't shared with this account"),
    unnumbered("account has no old url", "the account has no former URL"),
)

THROTTLED = (
    Row((610,), "the user has too many statements under way"),
    Row(
        (90073,),
        "the resource monitor's quota is used up",
        "Raise the resource monitor's quota, ALTER RESOURCE MONITOR ... SET CREDIT_QUOTA = ..., or wait for its next "
        "interval.",
    ),
    Row((390701,), "the account has too many requests"),
)

TRANSIENT = (
    Row((603,), "internal error of Snowflake", "If it stays, give the incident of the Event to Snowflake's support."),
    Row((604,), "the statement was cancelled"),
    Row((605,), "the statement isn't running"),
    Row((619,), "the statement was cancelled for another one"),
    Row((630,), "the statement took too long"),
    Row((695,), "the table's schema is still changing"),
    Row(
        (91369,),
        "the external volume isn't set up yet",
        "If it stays, check the volume: SYSTEM$VERIFY_EXTERNAL_VOLUME.",
    ),
)
