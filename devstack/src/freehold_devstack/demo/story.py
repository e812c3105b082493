"""The story: what a person does with Freehold and what comes of it, each step checking what it shows."""

from collections.abc import Callable
from typing import Any

from freehold_devstack.demo.account import USER
from freehold_devstack.demo.stage import Stage

Step = Callable[[Stage], None]

SYSTEM = "freehold-system"
"""The namespace that Freehold is installed in."""

SCHEMA_PODS = "app.kubernetes.io/component=schema"
"""Labels of the schema controller's pods."""

RESOURCES = "warehouse/loading database/sales schema/sales-raw"
"""What team-a.yaml declares."""


def install(stage: Stage) -> None:
    """Install Freehold by helm"""
    stage.screen.say("cert-manager runs already. Freehold may log in at this Snowflake only:")
    stage.run(
        f"helm install freehold charts/freehold --namespace {SYSTEM} --create-namespace --wait"
        f" --hide-notes --set image.registry=registry.example --set allowedHosts={{{stage.account.host}}}"
    )
    stage.run(f"kubectl get certificates,pods --namespace {SYSTEM}")
    pods = stage.read("get", "pods", f"--namespace={SYSTEM}")["items"]
    stage.expect(len(pods) == 4, "two pods of the webhook, and one of each controller")
    stage.expect(all(_ready(pod) for pod in pods), "all pods ready")
    bundle = stage.read("get", "validatingwebhookconfiguration", "freehold")["webhooks"][0]["clientConfig"]
    stage.expect("caBundle" in bundle, "cert-manager to have told the API server which certificate to trust")


def declare(stage: Stage) -> None:
    """Declare an account, a warehouse, a database and a schema"""
    stage.screen.say("The platform team hands out the account:")
    stage.run(f"kubectl create secret generic snowflake --namespace {SYSTEM} --from-file=private_key.pem")
    stage.run("kubectl apply -f providerconfig.yaml")
    stage.run(f"kubectl wait providerconfig/default --namespace {SYSTEM} --for=condition=Ready --timeout=60s")
    stage.run(f"kubectl get providerconfigs --namespace {SYSTEM}")
    stage.screen.say("Team A declares what it needs:")
    stage.run("kubectl create namespace team-a")
    stage.run("kubectl apply -f team-a.yaml")
    stage.run(f"kubectl wait {RESOURCES} --namespace team-a --for=condition=Ready --timeout=60s")
    stage.run("kubectl get snowflake --namespace team-a")
    stage.run("kubectl get claims")


def look_at_statements(stage: Stage) -> None:
    """See what Snowflake was asked to do"""
    changes = _show_changes(stage, 0)
    for created in ('CREATE WAREHOUSE "LOADING"', 'CREATE DATABASE "SALES"', 'CREATE SCHEMA "SALES"."RAW"'):
        sent = [each for each in changes if each.startswith(created)]
        stage.expect(len(sent) == 1, f"{created} to have been sent once")


def refuse_second_owner(stage: Stage) -> None:
    """Refuse a second owner, at once and by kubectl itself"""
    stage.run("kubectl create namespace team-b")
    stage.screen.say("Team B wants a database of the same name. It is told that there is an owner, not who in team A:")
    for dry_run in (" --dry-run=server", ""):
        refusal = stage.run(f"kubectl apply -f second-owner.yaml{dry_run}", exit_code=1)
        stage.expect('"SALES"' in refusal and "Database" in refusal, "the owner's kind and the object's name")
        stage.expect("team-a" not in refusal, "nothing about resources of another namespace")
    stage.screen.say("A colleague within team A is told which resource owns it:")
    for dry_run in (" --dry-run=server", ""):
        refusal = stage.run(f"kubectl apply -f same-team.yaml{dry_run}", exit_code=1)
        stage.expect("team-a/sales" in refusal, "the owner's name")
    stage.run("kubectl get databases --all-namespaces")


def leave_strangers_alone(stage: Stage) -> None:
    """Leave alone what somebody else has made"""
    before = len(stage.account.statements())
    stage.run("kubectl apply -f legacy.yaml")
    taken = "--for=jsonpath='{.status.conditions[?(@.type==\"Ready\")].reason}'=ResourceAlreadyExists"
    stage.run(f"kubectl wait database/legacy --namespace team-b {taken} --timeout=60s")
    stage.run("kubectl get database/legacy --namespace team-b")
    stage.run("kubectl events --namespace team-b --for database/legacy")
    stage.screen.say("Snowflake itself says who was first:")
    changes = _show_changes(stage, before)
    stage.expect(changes == ['CREATE DATABASE "LEGACY"'], "nothing but a plain CREATE to have been tried")


def repair(stage: Stage) -> None:
    """Repair what was changed behind Freehold's back"""
    before = len(stage.account.statements())
    stage.screen.command("ALTER WAREHOUSE LOADING SET AUTO_SUSPEND = 86400", prompt="ACCOUNTADMIN>")
    stage.account.execute("ACCOUNTADMIN", "ALTER WAREHOUSE LOADING SET AUTO_SUSPEND = 86400")
    stage.screen.say("Freehold would see it within its resync interval, five minutes; it can be told to look now:")
    stage.run("kubectl annotate warehouse/loading --namespace team-a freehold.dev/reconcile-now=please")
    stage.wait_for(
        lambda: any(each.user == USER and each.changes for each in stage.account.statements(before)),
        30,
        "Freehold to change it back",
    )
    changes = _show_changes(stage, before)
    stage.expect(changes == ['ALTER WAREHOUSE "LOADING" SET AUTO_SUSPEND = 60'], "what differs to be set, no more")
    stage.run("kubectl events --namespace team-a --for warehouse/loading")


def scale(stage: Stage) -> None:
    """Scale a controller"""
    stage.run(f"kubectl scale deployment/freehold-schema --namespace {SYSTEM} --replicas=3")
    stage.run(f"kubectl rollout status deployment/freehold-schema --namespace {SYSTEM} --timeout=60s")
    stage.run(f"kubectl get pods --namespace {SYSTEM} --selector {SCHEMA_PODS}")
    pods = stage.read("get", "pods", f"--namespace={SYSTEM}", f"--selector={SCHEMA_PODS}")["items"]
    stage.expect(len(pods) == 3 and all(_ready(pod) for pod in pods), "three pods ready")
    stage.screen.say("One of them is active, the others stand by:")
    stage.run(f"kubectl get lease/freehold-schema --namespace {SYSTEM}")
    active = _active(stage)
    stage.expect(active in {pod["metadata"]["name"] for pod in pods}, "one of the three to hold the Lease")
    stage.run(f"kubectl delete pod/{active} --namespace {SYSTEM} --wait=false")
    stage.wait_for(lambda: _active(stage) not in {"", active}, 30, "another one to take over")
    stage.run(f"kubectl get lease/freehold-schema --namespace {SYSTEM}")


def delete(stage: Stage) -> None:
    """Delete, and drop exactly what is owned"""
    before = len(stage.account.statements())
    stage.run("kubectl delete -f team-a.yaml -f legacy.yaml --timeout=60s")
    drops = _show_changes(stage, before)
    stage.expect(
        sorted(drops) == ['DROP DATABASE "SALES"', 'DROP SCHEMA "SALES"."RAW"', 'DROP WAREHOUSE "LOADING"'],
        "a DROP of each object that team A has declared, and nothing else",
    )
    stage.run("kubectl get claims")
    stage.screen.command("SHOW DATABASES", prompt="ACCOUNTADMIN>")
    databases = stage.account.execute("ACCOUNTADMIN", "SHOW DATABASES")
    for row in databases:
        stage.screen.output(f"{row['name']}, owned by {row['owner']}: {row['comment']}")
    stage.expect([row["name"] for row in databases] == ["LEGACY"], "the stranger's database to be there")


def uninstall(stage: Stage) -> None:
    """Uninstall"""
    stage.run("kubectl delete -f providerconfig.yaml --timeout=60s")
    stage.run(f"helm uninstall freehold --namespace {SYSTEM} --wait --cascade foreground")
    stage.run(f"kubectl get pods --namespace {SYSTEM}")
    stage.expect(not stage.read("get", "pods", f"--namespace={SYSTEM}")["items"], "no pod left")
    stage.screen.say("The resource definitions stay, so that no declaration is ever lost with the chart:")
    stage.run("kubectl api-resources --api-group=snowflake.freehold.dev")
    stage.run("kubectl get databases --all-namespaces")


def _show_changes(stage: Stage, since: int) -> list[str]:
    """Show what Freehold has sent since then; returns the statements that change something."""
    sent = [each for each in stage.account.statements(since) if each.user == USER]
    changes = [each for each in sent if each.changes]
    for each in changes:
        stage.screen.output(each.text if each.outcome == "ok" else f"{each.text} -- refused: {each.outcome}")
    stage.screen.say(f"and {len(sent) - len(changes)} statements that only read or set up a session")
    return [each.text for each in changes]


def _active(stage: Stage) -> str:
    """The pod that holds the schema controller's Lease; empty while none does."""
    lease = stage.read("get", "lease/freehold-schema", f"--namespace={SYSTEM}")
    return str(lease["spec"].get("holderIdentity", "")).partition("_")[0]


def _ready(pod: dict[str, Any]) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"]["conditions"])


STORY: tuple[Step, ...] = (
    install,
    declare,
    look_at_statements,
    refuse_second_owner,
    leave_strangers_alone,
    repair,
    scale,
    delete,
    uninstall,
)
"""All steps, in the only order that makes sense."""

ENDING = (delete, uninstall)
"""What is left out where people want to go on by themselves."""
