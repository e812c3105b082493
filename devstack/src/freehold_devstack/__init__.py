"""Everything that Freehold talks to, on one machine: real Kubernetes and a strict Snowflake endpoint."""
