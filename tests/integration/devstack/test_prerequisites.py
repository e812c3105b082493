"""What the machine lacks is named with its remedy."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from freehold_devstack import build, cache, prerequisites
from freehold_devstack.errors import BuildError, DevstackError, MissingPrerequisiteError
from freehold_devstack.instance import Instance
from freehold_devstack.prerequisites import Tier


@pytest.fixture
def ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


@pytest.fixture
def empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of all programs there are."""
    monkeypatch.setattr(prerequisites, "SYSTEM_PATH", str(tmp_path))
    return tmp_path


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def program(folder: Path, name: str, output: str, code: int = 0) -> None:
    script(folder, name, f"echo '{output}' >&{2 if code else 1}; exit {code}")


@pytest.mark.usefixtures("ordinary_user")
def test_the_cluster_tier_tells_an_ordinary_user_the_ways_out() -> None:
    with pytest.raises(MissingPrerequisiteError, match=r"needs root on Linux\n.*sudo.*KUBECONFIG"):
        prerequisites.ensure(Tier.CLUSTER)


def test_the_cluster_tier_tells_a_root_that_may_not_mount_what_its_container_lacks(empty_machine: Path) -> None:
    program(empty_machine, "unshare", "unshare: unshare failed: Operation not permitted", code=1)
    with pytest.raises(MissingPrerequisiteError, match=r"root may not .*Operation not permitted\n.*--privileged"):
        prerequisites.ensure(Tier.CLUSTER)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")
def test_an_overlay_can_be_made_on_the_cache_but_not_on_another_overlay(tmp_path: Path) -> None:
    for name in ("lower", "upper", "work", "merged"):
        (tmp_path / name).mkdir()
    overlay = "mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged"
    script = f'cd "$1"; {overlay}; shift; exec "$@" merged .'
    probe = (
        "import sys; from pathlib import Path; from freehold_devstack.prerequisites import overlays\n"
        "print(*(overlays(Path(path)) for path in sys.argv[1:]))"
    )
    command = ("unshare", "--mount", "sh", "-ec", script, "sh", tmp_path, sys.executable, "-c", probe)
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False True\n"
    assert list((tmp_path / "merged").iterdir()) == []


@pytest.mark.usefixtures("ordinary_user", "empty_machine")
def test_missing_programs_are_named_with_the_command_that_installs_them() -> None:
    with pytest.raises(MissingPrerequisiteError, match=r"run: sudo apt-get install .*util-linux"):
        prerequisites.ensure(Tier.CONTROL_PLANE)


@pytest.mark.parametrize("code", [0, 100])
def test_a_package_whose_service_would_run_is_installed_without_it(
    monkeypatch: pytest.MonkeyPatch, empty_machine: Path, code: int
) -> None:
    policy, answers, disabled = (empty_machine / name for name in ("policy", "answers", "disabled"))
    monkeypatch.setattr(prerequisites, "POLICY", policy)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    script(empty_machine, "apt-get", f"{policy}; echo $? >> {answers}; exit {code}")
    script(empty_machine, "systemctl", f'echo "$*" > {disabled}')
    with contextlib.nullcontext() if code == 0 else pytest.raises(MissingPrerequisiteError, match="apt-get install"):
        prerequisites.install(["containerd"])
    assert answers.read_text() == "101\n101\n"
    assert disabled.read_text() == "disable --now containerd\n"
    assert not policy.exists()


def test_the_machines_own_policy_for_services_stays(monkeypatch: pytest.MonkeyPatch, empty_machine: Path) -> None:
    script(empty_machine, "policy", "exit 102")
    monkeypatch.setattr(prerequisites, "POLICY", empty_machine / "policy")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    script(empty_machine, "apt-get", "")
    prerequisites.install(["runc"])
    assert "exit 102" in (empty_machine / "policy").read_text()


@pytest.mark.usefixtures("ordinary_user", "empty_machine")
def test_missing_go_says_which_release_is_needed() -> None:
    with pytest.raises(MissingPrerequisiteError, match=r"Go is missing; Go 1\.26\.0 .*\ninstall Go 1\.26\.0 or newer"):
        prerequisites.go("1.26.0")


def test_go_of_a_release_that_fetches_no_other_is_refused(empty_machine: Path) -> None:
    program(empty_machine, "go", "go1.19.8\n")
    with pytest.raises(MissingPrerequisiteError, match=r"Go 1\.26\.0 builds .*go is go1\.19\.8\n.*GOTOOLCHAIN=auto"):
        prerequisites.go("1.26.0")


def test_go_that_may_not_fetch_the_needed_release_is_refused_for_that_reason(empty_machine: Path) -> None:
    program(empty_machine, "go", "go1.24.4\nlocal")
    with pytest.raises(MissingPrerequisiteError, match=r"is go1\.24\.4, and GOTOOLCHAIN=local has it fetch no other\n"):
        prerequisites.go("1.26.0")


@pytest.mark.parametrize("settings", ["go1.26.8\nlocal", "go1.26.0\n", "go1.21.0\nauto", "go1.22.1\ngo1.22.1+auto"])
def test_go_that_is_or_may_fetch_the_needed_release_is_used(empty_machine: Path, settings: str) -> None:
    program(empty_machine, "go", settings)
    assert prerequisites.go("1.26.0") == str(empty_machine / "go")


def test_go_is_installed_from_apt_where_it_is_new_enough_by_lists_that_are_fetched_first(
    monkeypatch: pytest.MonkeyPatch, empty_machine: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(prerequisites, "POLICY", empty_machine / "policy")
    monkeypatch.delenv("GOTOOLCHAIN", raising=False)
    lists, installed = empty_machine / "lists", empty_machine / "go"
    script(empty_machine, "apt-cache", f'[ ! -e {lists} ] || echo "  Candidate: 2:1.26~2"')
    script(
        empty_machine,
        "apt-get",
        f'case "$*" in *update) : > {lists};; *golang-go) printf "#!/bin/sh\necho go1.26.1\n" > {installed}; '
        f"/bin/chmod +x {installed};; esac",
    )
    assert prerequisites.go("1.26.0") == str(installed)
    installed.unlink()
    with pytest.raises(MissingPrerequisiteError, match="Go is missing"):
        prerequisites.go("1.27.0")


def test_a_failed_build_shows_what_the_compiler_said_and_keeps_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = tmp_path / "module"
    module.mkdir()
    (module / "go.mod").write_text("module broken\n\ngo 1.21\n\nrequire (\n\tk8s.io/kubernetes v1.2.3\n)\n")
    (module / "main.go").write_text("package main\n\nfunc main() { absent() }\n")
    monkeypatch.setattr(build, "MODULE", module)
    monkeypatch.setenv("FREEHOLD_CACHE", str(tmp_path / "cache"))
    (module / "pause").mkdir()
    (module / "pause/main.go").write_text("package main\n\nfunc main() {}\n")
    monkeypatch.setenv("GOPROXY", "off")
    with pytest.raises(BuildError, match=r"undefined: absent"):
        build.ensure()
    assert list((tmp_path / "cache/kubernetes").iterdir()) == []


def test_go_keeps_its_caches_at_home_unless_that_cannot_be_written_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FREEHOLD_CACHE", "/caches")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.of_go() == {}
    elsewhere = {"GOCACHE": "/caches/gocache", "GOMODCACHE": "/caches/gomodcache"}
    monkeypatch.setenv("HOME", str(tmp_path / "absent"))
    assert cache.of_go() == elsewhere
    monkeypatch.delenv("HOME")
    assert cache.of_go() == elsewhere


def test_a_cache_key_changes_with_every_input(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    keys = [cache.key("flag", tmp_path)]
    (tmp_path / "a").write_text("2")
    keys.append(cache.key("flag", tmp_path))
    (tmp_path / "a").rename(tmp_path / "b")
    keys += [cache.key("flag", tmp_path), cache.key("other flag", tmp_path), cache.key("fl", "ag", tmp_path)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", ["Upper", "a/b", "..", "x" * 41, "-a"])
def test_a_name_that_is_no_folder_name_is_refused(name: str) -> None:
    with pytest.raises(DevstackError, match="is no name for a devstack"):
        Instance(name)
