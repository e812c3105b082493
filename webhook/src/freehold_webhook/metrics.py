"""What the webhook counts and times."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

from freehold.metrics import REGISTRY

REQUESTS = Counter(
    "freehold_admission_requests",
    "Admission requests by kind, operation, verdict (allowed, denied, undecided) and, unless allowed, its reason.",
    ["kind", "operation", "verdict", "reason"],
    registry=REGISTRY,
)
DURATION = Histogram(
    "freehold_admission_duration_seconds",
    "Time to decide an admission request.",
    ["kind", "operation"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0),
    registry=REGISTRY,
)
CLAIMS = Counter(
    "freehold_admission_claims",
    "Claims that admission asked for, by outcome (created, taken, kept, refused, undecided); dry runs don't count.",
    ["outcome"],
    registry=REGISTRY,
)
CERTIFICATE_EXPIRY = Gauge(
    "freehold_webhook_certificate_expiry_timestamp_seconds",
    "When the certificate that is served expires, in Unix time.",
    registry=REGISTRY,
)
CERTIFICATE_FAILURES = Counter(
    "freehold_webhook_certificate_failures",
    "New certificates that could not be loaded; the old one is still served.",
    registry=REGISTRY,
)
