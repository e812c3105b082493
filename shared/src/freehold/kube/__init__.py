"""The Kubernetes access layer: a small client, reflectors, conditions, events and leases."""
