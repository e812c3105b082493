"""One state machine for every Snowflake kind: a pure function decides, a thin shell acts."""
