"""Budgets: what a ProviderConfig allows is kept to by all processes together, and another one holds at once."""

from __future__ import annotations

import json

from freehold.snowflake.shares import WHOLE, Announcement
from freehold_controllers.sharing import SHARES_ANNOTATION
from freehold_devstack.processes import until
from tests.harness.chart import NAMESPACE
from tests.integration.controllers.conftest import PASSWORD, SILENT
from tests.integration.controllers.tenant import AMPLE, DEADLINE, Tenant

NAMES = [f"w{number}" for number in range(12)]


def times(tenant: Tenant, since: int) -> list[float]:
    """When statements were sent to the account, in seconds; what sets up sessions apart."""
    sent = tenant.endpoint.since(since)
    return [each.time / 1000 for each in sent if each.account == SILENT and each.query_tag.find("Warehouse") > 0]


def test_no_more_is_sent_than_the_budget_allows_until_it_allows_more(newcomer: Tenant, name: str) -> None:
    little = {"perAccount": {"rate": 2, "burst": 1}}
    account = f"FREEHOLD-{SILENT}"
    newcomer.provide("SAM", PASSWORD, account=account, budget=little)
    newcomer.ready("providerconfig", "default")
    before = newcomer.endpoint.sequence
    for number, each in enumerate(NAMES):
        newcomer.apply("Warehouse", each, spec={"name": f"{name}{number}"})
    until(lambda: len(times(newcomer, before)) >= 8, DEADLINE, "some statements to be sent", newcomer.describe)
    sent = times(newcomer, before)
    # One may have been saved up, and the journal's time is that of arrival.
    assert len(sent) <= 2 * (sent[-1] - sent[0]) + 2.5

    newcomer.provider("SAM", account=account, budget=AMPLE)
    newcomer.ready("warehouse", *NAMES)


def test_every_process_tells_the_others_by_its_lease_what_it_may_use(tenant: Tenant) -> None:
    def told(domain: str) -> Announcement:
        found = tenant.control_plane.kubectl("get", "lease", f"freehold-{domain}", f"-n={NAMESPACE}", "-o=json")
        return Announcement.model_validate_json(json.loads(found.stdout)["metadata"]["annotations"][SHARES_ANNOTATION])

    until(lambda: all(told(domain).equal == WHOLE // 3 for domain in ("account", "schema")), DEADLINE, "equal shares")
