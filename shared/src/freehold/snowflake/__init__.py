"""The Snowflake client layer: everything that the controllers and the command line know about talking to an account.

`client.Snowflake` is the interface; `settings` says as whom and where to, `errors` what an answer means. Installed with
the extra `freehold[snowflake]`; only `driver` imports the connector.
"""
