"""Answers to log-ins, and about the session."""

from __future__ import annotations

from freehold.snowflake.error_table.row import Row, unnumbered

_NETWORK = (
    "Add Freehold's egress address to the network policy of the user or account: CREATE NETWORK RULE ... TYPE = IPV4 "
    "MODE = INGRESS VALUE_LIST = (...), then ALTER NETWORK POLICY ... ADD ALLOWED_NETWORK_RULE_LIST = (...)."
)
_FOR_PEOPLE = "This way to log in needs a person: use a key pair."
_METHOD = (
    "Let the user's authentication policy admit it: ALTER AUTHENTICATION POLICY ... SET AUTHENTICATION_METHODS = (...)."
)

AUTHENTICATION = (
    Row(
        (390100, 390401),
        "unknown user, or wrong credential",
        "Check the user name and the Secret. Each refused log-in counts towards the lock of the user.",
    ),
    Row((390101,), "the user is disabled", "Enable the user: ALTER USER ... SET DISABLED = FALSE."),
    Row(
        (390102,),
        "the user is locked after too many refused log-ins",
        "Wait 15 minutes, or unlock the user: ALTER USER ... SET MINS_TO_UNLOCK = 0.",
    ),
    Row((390120, 390123, 390126, 390127, 390129), "multi-factor authentication refused, locked or late", _FOR_PEOPLE),
    Row((390136, 390137, 390138, 390140), "federated log-in is pending or ended", _FOR_PEOPLE),
    Row((390139,), "the account doesn't accept this authenticator", _FOR_PEOPLE),
    Row(
        (390144,),
        "the token that the key pair signed is invalid",
        "Check that the user exists, that its RSA_PUBLIC_KEY or RSA_PUBLIC_KEY_2 belongs to this private key, that the "
        "account is spelt ORGANIZATION-ACCOUNT, and the clock.",
    ),
    Row((390186,), "the role isn't granted to the user", "Grant the role to the user: GRANT ROLE ... TO USER ..."),
    Row(
        (390189,),
        "the role doesn't exist, or isn't granted to the user",
        "Create the role, or grant it to the user: GRANT ROLE ... TO USER ...",
    ),
    Row((390191,), "another user is logged in at the identity provider", _FOR_PEOPLE),
    Row((390202,), "the authentication policy refuses the way to log in", _METHOD),
    Row((390302,), "the token or the consent was revoked", "Put a new token into the Secret.", reported=True),
    Row((390303,), "the OAuth token is invalid", "Put a new token into the Secret, or correct the integration."),
    Row(
        (390304,),
        "the token's user is mapped to no user of Snowflake",
        "Compare the token's claim with LOGIN_NAME or EMAIL_ADDRESS of the user: DESCRIBE USER ...",
        reported=True,
    ),
    Row(
        (390309,), "the token is another user's", "Correct the user name, or put the user's own token into the Secret."
    ),
    Row(
        (390317,),
        "the token doesn't name the role",
        "Add the scope session:role:... to the token, or ALTER SECURITY INTEGRATION ... SET "
        "EXTERNAL_OAUTH_ANY_ROLE_MODE = 'ENABLE'.",
        reported=True,
    ),
    Row((390420, 390422), "a network policy doesn't admit the address", _NETWORK),
    Row(
        (390432,),
        "the access token needs a network policy",
        "Give the user one, ALTER USER ... SET NETWORK_POLICY = ..., or relax PAT_POLICY of its authentication policy.",
    ),
    Row((390511,), "no URL for single sign-on", _FOR_PEOPLE),
    Row((390913,), "the free trial has ended", "The trial has ended: add billing information to the account."),
    Row((394300, 394305, 394306), "the token that the key pair signed can't be read"),
    Row(
        (394301, 394302, 394303),
        "the token that the key pair signed is too old or too new",
        "Correct the node's clock.",
    ),
    Row(
        (394304,),
        "the public key isn't the user's",
        "Register the public key of this private key with the user: ALTER USER ... SET RSA_PUBLIC_KEY = ...",
    ),
    Row((394307,), "the key pair's token is for another account", "Spell the account as ORGANIZATION-ACCOUNT."),
    Row(
        (394400,),
        "the programmatic access token is invalid, expired or another user's",
        "Put a new token into the Secret: ALTER USER ... ROTATE PROGRAMMATIC ACCESS TOKEN ...",
    ),
    Row((394507, 394633), "the passcode was refused", _FOR_PEOPLE),
    Row((394508,), "a passcode is required", "Use a key pair: multi-factor authentication needs a person."),
    unnumbered("Specified password has expired", "the password has expired", "Put a new password into the Secret."),
    unnumbered("Multi-factor authentication is required", "a password isn't enough", _FOR_PEOPLE),
    unnumbered("MFA authentication is required", "a password isn't enough", _FOR_PEOPLE),
    unnumbered("Duo Security authentication is denied", "multi-factor authentication refused", _FOR_PEOPLE),
    unnumbered("account is suspended", "the account is suspended", "The account's holder has to settle its bill."),
    unnumbered("marked for decommission", "the account is being closed", "Use another account."),
)

SESSION = (
    Row((390104, 390111), "the session doesn't exist any more"),
    Row((390110, 390195), "the identity token has expired or is invalid"),
    Row((390112,), "the session has expired"),
    Row((390113, 390114, 390115), "the session can't be renewed any more"),
    Row((390318,), "the OAuth token has expired", "Where it is kept in a Secret, put a new one there."),
    Row((390400,), "the session can't be renewed: the request was refused"),
)
