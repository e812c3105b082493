"""The endpoint as a process of its own: the command line, the README's example as printed, and the admin client."""

import asyncio
import json
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import freehold_devstack
from freehold_devstack import cli
from freehold_devstack.errors import DevstackError
from freehold_devstack.snowflake.__main__ import app
from freehold_devstack.snowflake.control_client import ControlClient, RefusedError
from freehold_devstack.snowflake.tls import issue
from tests.endpoint.conftest import Connect, rows

COMMAND = Path(sys.executable).with_name("devstack")
README = Path(freehold_devstack.__file__).parents[2] / "README.md"
DEADLINE_SECONDS = 30
SEED = "accounts: [{users: {U: {password: p, roles: [SYSADMIN]}}}]"


@asynccontextmanager
async def served(folder: Path, *arguments: str) -> AsyncIterator[str]:
    """The first line that the command prints, while it serves."""
    process = await asyncio.create_subprocess_exec(
        COMMAND, "snowflake", *arguments, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(DEADLINE_SECONDS):
            yield (await process.stdout.readline()).decode()
    finally:
        process.terminate()
        async with asyncio.timeout(DEADLINE_SECONDS):
            assert await process.wait() == 0


async def run(folder: Path, *command: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(DEADLINE_SECONDS):
        printed, _ = await process.communicate()
    return process.returncode, printed.decode()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def blocks(language: str) -> list[str]:
    """The section's blocks of code in a language."""
    section = README.read_text().split("## The Snowflake endpoint alone\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


async def test_the_examples_of_the_readme_work_as_printed(tmp_path: Path) -> None:
    [seed, issuer], [client, admin, _], [said, told], [shown] = map(blocks, ("yaml", "python", "text", "console"))
    port = str(free_port())
    (tmp_path / "seed.yaml").write_text(seed + issuer)
    (tmp_path / "client.py").write_text(client.replace("8443", port))
    (tmp_path / "admin.py").write_text(admin)
    command, ready = shown.replace("8443", port).splitlines()
    async with served(tmp_path, *command.removeprefix("$ devstack snowflake ").split()) as line:
        assert line == f"{ready}\n"
        assert await run(tmp_path, sys.executable, "-W", "ignore", "client.py") == (0, said)
        assert await run(tmp_path, sys.executable, "admin.py") == (0, told)


async def test_a_certificate_can_be_given(tmp_path: Path, connect: Connect) -> None:
    given = issue(tmp_path / "given", ["127.0.0.1"])
    (tmp_path / "seed.yaml").write_text(SEED)
    ready = tmp_path / "ready.json"
    certificate = (f"--ca={given.ca}", f"--cert={given.cert}", f"--key={given.key}")
    async with served(tmp_path, "--seed=seed.yaml", f"--ready-file={ready}", *certificate):
        control = ControlClient.read(ready)
        connection = await connect(
            None, user="U", password="p", port=control.port, custom_root_store_path=str(given.ca)
        )
        assert await rows(connection, "SELECT CURRENT_USER()") == [("U",)]
        await connection.close()
    assert not (tmp_path / "tls").exists()


async def test_a_command_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    code, printed = await run(tmp_path, str(COMMAND), "snowflake", "--nope")
    assert (code, "Usage: devstack snowflake" in printed) == (2, True)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (f"--cert={__file__}", "--cert, --key and --ca go together"),
        ("--seed=none.yaml", "does not exist"),
        ("--control-token-file=none", "does not exist"),
        ("--port=70000", "less than or equal to 65535"),
    ],
)
def test_a_wrong_option_is_refused_with_what_is_wrong(tmp_path: Path, option: str, said: str) -> None:
    check_refused(tmp_path, option, said)


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("accounts: [", "is not YAML"),
        ("accounts: [{nam: A}]", "accounts.0.nam: Extra inputs are not permitted"),
        ("accounts: [{name: lower}]", "accounts.0.name: String should match pattern"),
        ("accounts: [{users: {U: {roles: [NOBODY]}}}]", "no such role: NOBODY"),
        ("accounts: [{roles: {R: {owner: NOBODY}}}]", "no such role: NOBODY"),
        ("accounts: [{users: {U: {rsa_public_key: AAAA}}}]", "users.U.rsa_public_key"),
        ("accounts: [{name: A}, {name: B}]", "the locator FH00001, already"),
        ("accounts: [{statements: [CREATE THING]}]", "account DEVSTACK, CREATE THING: SQL compilation error"),
    ],
)
def test_a_seed_that_makes_no_sense_is_refused_with_what_is_wrong(tmp_path: Path, seed: str, said: str) -> None:
    (tmp_path / "seed.yaml").write_text(seed)
    check_refused(tmp_path, f"--seed={tmp_path / 'seed.yaml'}", said)


def test_what_cannot_be_served_is_refused_in_a_few_words(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("not a state\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        check_refused(tmp_path, f"--port={taken.getsockname()[1]}", "address already in use")
    check_refused(tmp_path, f"--state={other}", "other.txt, line 1")
    assert other.read_text() == "not a state\n"
    check_refused(tmp_path, f"--ready-file={tmp_path / 'none' / 'ready.json'}", "No such file")


def check_refused(folder: Path, option: str, said: str) -> None:
    """The command calls an option wrong, and says why, wherever the frame around that breaks its lines."""
    result = CliRunner().invoke(app, [f"--tls-dir={folder / 'tls'}", option])
    assert (result.exit_code, type(result.exception)) == (2, SystemExit)
    assert re.sub(r"\s", "", said) in re.sub(r"[\s│]", "", result.output)


async def test_the_admin_side_has_a_client(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    async with served(tmp_path, f"--ready-file={ready}"):
        control = ControlClient.read(ready)
        await asyncio.to_thread(use, control)


def use(control: ControlClient) -> None:
    assert control.sql("CREATE ROLE r", role="USERADMIN") == [{"status": "Role R successfully created."}]
    with pytest.raises(RefusedError, match="002002"):
        control.sql("CREATE ROLE r", role="USERADMIN")
    [created, _] = control.statements("CREATE ROLE")
    assert control.effects(created) == ["create ROLE R {owner: 'USERADMIN'}"]
    control.each_once("CREATE")
    with pytest.raises(AssertionError, match="CREATE ROLE r"):
        control.only_reads()
    control.freeze("DEVSTACK")
    control.thaw("FREEHOLD-DEVSTACK")
    with pytest.raises(RefusedError, match="no account ELSEWHERE"):
        control.freeze("ELSEWHERE")
    with pytest.raises(RefusedError, match="no account ELSEWHERE"):
        control.fault("SELECT", "hang", account="ELSEWHERE")
    control.skew(60)
    control.fault("SELECT", "error", number=603)
    control.clear_faults()


async def test_a_person_runs_sql_in_the_account_of_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = SimpleNamespace(name="demo", state=SimpleNamespace(directory=tmp_path), joined=nullcontext)
    monkeypatch.setattr(cli, "choose", lambda _name: instance)
    with pytest.raises(DevstackError, match="has no Snowflake account"):
        cli.sql("SHOW ROLES")
    folder = tmp_path / "snowflake"
    folder.mkdir()
    (folder / "seed.yaml").write_text(SEED)
    async with served(folder, "--seed=seed.yaml", f"--port={free_port()}", "--ready-file=ready.json"):
        asked = await asyncio.to_thread(CliRunner().invoke, cli.app, ["sql", "SHOW ROLES LIKE 'PUB%'"])
        assert json.loads(asked.stdout)["name"] == "PUBLIC"
        with pytest.raises(DevstackError, match="002003"):
            await asyncio.to_thread(cli.sql, "DROP DATABASE NONE")
