"""Resource types that stand for no object of Snowflake's, each with a reconciler of its own."""
