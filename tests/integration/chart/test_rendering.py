"""What helm makes of the chart, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from freehold.claim_contest import ROLLBACK
from freehold_webhook.admission import BUDGET
from tests.harness.chart import CHART, NAMESPACE
from tests.integration.chart.release import ROOT, Release

pytestmark = pytest.mark.xdist_group("chart")


def of_kind(manifests: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def containers(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The containers of all Deployments, by name."""
    templates = (deployment["spec"]["template"]["spec"] for deployment in of_kind(manifests, "Deployment"))
    return {container["name"]: container for template in templates for container in template["containers"]}


def test_lint_finds_nothing(release: Release) -> None:
    release.control_plane.helm("lint", "--strict", str(CHART))


def test_how_many_controllers_there_are_is_left_to_who_scales_them_unless_a_value_says_it(release: Release) -> None:
    def replicas(*values: str) -> dict[str, int | None]:
        deployments = of_kind(release.manifests(*values), "Deployment")
        return {each["metadata"]["name"]: each["spec"].get("replicas") for each in deployments}

    assert replicas() == {"freehold-webhook": 2, "freehold-account": None, "freehold-schema": None}
    assert replicas("schema.replicas=0") == {"freehold-webhook": 2, "freehold-account": None, "freehold-schema": 0}


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("image.tga=1", "additional properties 'tga' not allowed"),
        ("webhook.replica=1", "additional properties 'replica' not allowed"),
        ("crds.keeep=false", "additional properties 'keeep' not allowed"),
        ("allowedHost=x", "additional properties 'allowedHost' not allowed"),
        ("logLevel=loud", "/logLevel"),
        ("webhook.replicas=-1", "/webhook/replicas"),
        ("account.replicas=many", "/account/replicas"),
        ("image.digest.webhook=latest", "/image/digest/webhook"),
        ("certificates.duration=90d", "/certificates/duration"),
        ("certificates.mode=none", "/certificates/mode"),
        ("certificates.mode=provided", "certificates.mode=provided needs certificates.secretName"),
        ("certificates.caBundle=/etc/ca.crt", "/certificates/caBundle"),
        ("claimRestorers={it's}", "/claimRestorers/0"),
        ("conflictDetail=all", "/conflictDetail"),
        ("extraEnv[0].value=x", "/extraEnv/0"),
        ("otherReleases={other}", "/otherReleases/0"),
        ("watchNamespaces={*}", "/watchNamespaces/0"),
        ("allowedHosts={https://example.com}", "/allowedHosts/0"),
        ("allowedHosts={.example.com:99999}", "/allowedHosts/0"),
        ("image.registry=https://registry.example.com", "/image/registry"),
        ("image.registry=registry.example.com/", "/image/registry"),
        ("image.registry=", "set image.registry to the registry that Freehold's images were pushed to"),
    ],
)
def test_a_value_that_means_nothing_is_refused_by_name(release: Release, value: str, complaint: str) -> None:
    refused = release.render(value, check=False)
    assert refused.returncode != 0
    assert complaint in refused.stderr


@pytest.mark.parametrize("values", [(), ("strictAdmission=true", "crds.keep=false", "image.pullSecrets[0].name=pull")])
def test_the_api_server_takes_every_manifest_as_it_is(release: Release, values: tuple[str, ...]) -> None:
    rendered = {"apiVersion": "v1", "kind": "List", "items": release.manifests(*values)}
    dry_run = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-")
    assert len(release.kubectl(*dry_run, manifest=rendered).stdout.splitlines()) == len(rendered["items"])


def test_rendering_twice_gives_the_same_bytes(release: Release) -> None:
    assert release.render().stdout == release.render().stdout


def test_the_definitions_are_those_of_the_generator_and_kept(release: Release) -> None:
    rendered = {
        manifest["metadata"]["name"]: manifest for manifest in of_kind(release.manifests(), "CustomResourceDefinition")
    }
    generated = [yaml.safe_load(path.read_text()) for path in sorted((ROOT / "crds").glob("*.yaml"))]
    assert sorted(rendered) == sorted(definition["metadata"]["name"] for definition in generated)
    for definition in generated:
        manifest = rendered[definition["metadata"]["name"]]
        assert manifest["spec"] == definition["spec"]
        assert manifest["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def test_the_definitions_go_with_the_release_if_one_says_so(release: Release) -> None:
    definitions = of_kind(release.manifests("crds.keep=false"), "CustomResourceDefinition")
    assert definitions
    assert all("helm.sh/resource-policy" not in each["metadata"].get("annotations", {}) for each in definitions)


def test_the_definitions_can_be_left_out(release: Release) -> None:
    assert not of_kind(release.manifests("crds.enabled=false"), "CustomResourceDefinition")


def test_the_plain_certificates_are_those_of_the_chart(release: Release) -> None:
    charted = [each for each in release.manifests() if each["apiVersion"] == "cert-manager.io/v1"]
    assert without_labels(charted) == without_labels(plain("webhook.yaml"))


def test_the_plain_manifests_without_cert_manager_grant_what_the_chart_does(release: Release) -> None:
    charted = release.manifests("certificates.mode=selfManaged")
    ours = [each for each in charted if each["metadata"]["name"] == "freehold-webhook-authority"]
    manifests = plain("self-managed.yaml")
    assert without_labels(ours) == without_labels(
        [each for each in manifests if each["metadata"]["name"] == "freehold-webhook-authority"]
    )
    [bundle] = of_kind(manifests, "ClusterRole")
    [role] = (each for each in of_kind(charted, "ClusterRole") if each["metadata"]["name"] == "freehold-webhook")
    assert all(rule in role["rules"] for rule in bundle["rules"])


def plain(name: str) -> list[dict[str, Any]]:
    """Manifests for those who don't use the chart."""
    return list(yaml.safe_load_all((ROOT / "certs" / name).read_text()))


def without_labels(manifests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The manifests in an order of their own, without what marks those of a release."""
    bare = [
        {**each, "metadata": {key: value for key, value in each["metadata"].items() if key != "labels"}}
        for each in manifests
    ]
    return sorted(bare, key=repr)


@pytest.mark.parametrize(
    ("values", "image"),
    [
        (("image.registry=registry.example.com", "image.tag=1.2.3"), "registry.example.com/freehold/webhook:1.2.3"),
        (
            ("image.registry=a.example", "image.tag=v1", f"image.digest.webhook=sha256:{'0' * 64}"),
            f"a.example/freehold/webhook@sha256:{'0' * 64}",
        ),
        (("image.registry=10.1.2.3:5000/my-team", "image.tag=v1"), "10.1.2.3:5000/my-team/freehold/webhook:v1"),
    ],
)
def test_an_image_is_named_by_registry_tag_and_digest(release: Release, values: tuple[str, ...], image: str) -> None:
    assert containers(release.manifests(*values))["webhook"]["image"] == image


def test_strict_admission_denies_also_while_no_webhook_answers(release: Release) -> None:
    manifests = release.manifests("strictAdmission=true")
    [configuration] = of_kind(manifests, "ValidatingWebhookConfiguration")
    assert [webhook["failurePolicy"] for webhook in configuration["webhooks"]] == ["Fail"]
    assert "--strict" in containers(manifests)["webhook"]["args"]


def test_the_api_server_waits_for_a_decision_longer_than_one_takes_and_asks_about_dry_runs(release: Release) -> None:
    [configuration] = of_kind(release.manifests(), "ValidatingWebhookConfiguration")
    for webhook in configuration["webhooks"]:
        # Beside the decision: giving claims back, the way there and back.
        assert webhook["timeoutSeconds"] > BUDGET + ROLLBACK
        assert webhook["sideEffects"] == "NoneOnDryRun"


def test_what_is_told_of_owners_is_the_same_at_admission_and_in_conditions(release: Release) -> None:
    for container in containers(release.manifests("conflictDetail=none")).values():
        assert "--conflict-detail=none" in container["args"]


def test_a_release_of_some_namespaces_is_asked_about_those_alone(release: Release) -> None:
    manifests = release.manifests("watchNamespaces={team-a,team-b}")
    [configuration] = of_kind(manifests, "ValidatingWebhookConfiguration")
    named = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["team-a", "team-b"]}
    assert [each["namespaceSelector"] for each in configuration["webhooks"]] == [{"matchExpressions": [named]}]
    for component in ("account", "schema"):
        assert "--watch-namespaces=team-a,team-b" in containers(manifests)[component]["args"]


def test_monitoring_scrapes_every_pod_and_brings_alerts(release: Release) -> None:
    labels = ("monitoring.serviceMonitor.labels.release=p", "monitoring.prometheusRule.labels.release=p")
    manifests = release.manifests(
        "monitoring.serviceMonitor.enabled=true", "monitoring.prometheusRule.enabled=true", *labels
    )
    [monitor], [rule] = of_kind(manifests, "ServiceMonitor"), of_kind(manifests, "PrometheusRule")
    assert monitor["metadata"]["labels"]["release"] == rule["metadata"]["labels"]["release"] == "p"
    selected = monitor["spec"]["selector"]["matchLabels"].items()
    [service] = (each for each in of_kind(manifests, "Service") if selected <= each["metadata"]["labels"].items())
    for deployment in of_kind(manifests, "Deployment"):
        pod = deployment["spec"]["template"]
        assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
        ports = {port["name"]: port["containerPort"] for port in pod["spec"]["containers"][0]["ports"]}
        assert ports["health"] == service["spec"]["ports"][0]["port"]
    assert rule["spec"] == yaml.safe_load((CHART / "files/alerts.yaml").read_text())


def test_further_environment_reaches_every_process(release: Release) -> None:
    values = ("extraEnv[0].name=OTEL_EXPORTER_OTLP_ENDPOINT", "extraEnv[0].value=http://collector:4318")
    found = containers(release.manifests(*values))
    assert found.keys() == {"webhook", "account", "schema"}
    for container in found.values():
        assert container["env"][-1] == {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}


def test_the_hosts_of_the_installation_reach_every_process(release: Release) -> None:
    manifests = release.manifests("allowedHosts={.example.com,10.1.2.3:8443}")
    for container in containers(manifests).values():
        assert "--allowed-hosts=.example.com,10.1.2.3:8443" in container["args"]


def test_the_privileged_roles_that_are_allowed_reach_every_process_and_are_none_by_default(release: Release) -> None:
    for values, expected in ((), []), (("allowedPrivilegedRoles={ORGADMIN,ACCOUNTADMIN}",), ["ORGADMIN,ACCOUNTADMIN"]):
        for container in containers(release.manifests(*values)).values():
            given = [each for each in container["args"] if each.startswith("--allowed-privileged-roles=")]
            assert [each.partition("=")[2] for each in given] == expected


def test_the_namespaces_of_the_workload_identity_reach_every_process_and_are_the_releases_own_by_default(
    release: Release,
) -> None:
    for values, expected in ((), NAMESPACE), (("workloadIdentityNamespaces={one,two}",), "one,two"):
        for container in containers(release.manifests(*values)).values():
            assert f"--workload-identity-namespaces={expected}" in container["args"]


def test_a_token_for_snowflake_is_projected_into_the_controllers_alone_and_only_if_asked_for(release: Release) -> None:
    def tokens(*values: str) -> dict[str, Any]:
        found = {}
        for deployment in of_kind(release.manifests(*values), "Deployment"):
            pod = deployment["spec"]["template"]["spec"]
            for source in (
                each for volume in pod["volumes"] for each in volume.get("projected", {}).get("sources", ())
            ):
                [container] = pod["containers"]
                assert "--workload-identity-token=/var/run/secrets/snowflake/token" in container["args"]
                mount = {"name": "snowflake", "mountPath": "/var/run/secrets/snowflake", "readOnly": True}
                assert mount in container["volumeMounts"]
                found[container["name"]] = source["serviceAccountToken"]
        return found

    assert tokens() == {}
    given = tokens("workloadIdentity.enabled=true", "workloadIdentity.audience=https://snowflake.example")
    assert given.keys() == {"account", "schema"}
    assert {(each["path"], each["audience"]) for each in given.values()} == {("token", "https://snowflake.example")}


def test_pods_meet_the_restricted_security_standard(release: Release) -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "restricted", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
    }
    release.kubectl("apply", "-f", "-", manifest=namespace)
    release.kubectl("create", "serviceaccount", "pod", "--namespace", "restricted")
    for deployment in of_kind(release.manifests("workloadIdentity.enabled=true"), "Deployment"):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": deployment["metadata"]["name"], "namespace": "restricted"},
            "spec": deployment["spec"]["template"]["spec"] | {"serviceAccountName": "pod"},
        }
        release.kubectl("create", "--dry-run=server", "-f", "-", manifest=pod)


def test_the_packaged_chart_has_the_definitions(release: Release, tmp_path: Path) -> None:
    release.control_plane.helm("package", str(CHART), "--destination", str(tmp_path))
    [archive] = tmp_path.glob("freehold-*.tgz")
    assert release.render(chart=archive).stdout == release.render().stdout
