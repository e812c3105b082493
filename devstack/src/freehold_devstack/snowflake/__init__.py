"""A strict stand-in for Snowflake's SQL endpoint, written from its documentation and not from what clients send it."""
