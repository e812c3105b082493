"""Freehold: a Kubernetes control plane for Snowflake and PostgreSQL; the library that all its processes share."""
