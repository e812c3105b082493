"""What several test suites start and talk to: processes, the Snowflake endpoint, an API server in memory."""
