"""The controllers: one process a domain, one reconciler for every Snowflake kind."""
