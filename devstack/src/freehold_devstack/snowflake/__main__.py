"""The endpoint as a process of its own: what the command `devstack snowflake` becomes."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from freehold_devstack.snowflake.endpoint import SnowflakeEndpoint
from freehold_devstack.snowflake.seed import Seed
from freehold_devstack.snowflake.tls import Certificate, issue

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def _file(text: str) -> typer.models.OptionInfo:
    """An option that names a file to read."""
    option: typer.models.OptionInfo = typer.Option(help=text, exists=True, dir_okay=False)
    return option


@app.command()
def serve(
    seed: Annotated[
        Path | None,
        _file(
            "YAML or JSON file with accounts, users, roles and statements to start with; "
            "by default the account FREEHOLD-DEVSTACK without users."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 picks a free one.", min=0, max=65535)] = 0,
    state: Annotated[
        Path | None,
        typer.Option(
            help="File that keeps catalog and journal over restarts; it wins over the users, roles and statements "
            "of the seed, which still says what accounts there are."
        ),
    ] = None,
    tls_dir: Annotated[
        Path, typer.Option(help="Folder of the test CA, made if it isn't there, and the certificate it issues.")
    ] = Path("tls"),
    san: Annotated[
        list[str] | None, typer.Option(help="Further host name or address of the certificate; repeatable.")
    ] = None,
    cert: Annotated[Path | None, _file("Certificate to use instead, with --key and --ca.")] = None,
    key: Annotated[Path | None, _file("Its private key.")] = None,
    ca: Annotated[Path | None, _file("The CA that clients have to trust for it.")] = None,
    control_token_file: Annotated[
        Path | None,
        _file("File with the token that guards the admin side; by default a random one, told by --ready-file."),
    ] = None,
    ready_file: Annotated[
        Path | None,
        typer.Option(help="JSON file written once it serves: host, port, CA, the admin side's token, process number."),
    ] = None,
) -> None:
    """Serve Snowflake's SQL protocol, alone, until interrupted."""
    given = [path for path in (cert, key, ca) if path is not None]
    if given and len(given) < 3:
        raise typer.BadParameter("--cert, --key and --ca go together")
    with _blamed_on("--seed"):
        seeded = Seed() if seed is None else Seed.load(seed)
    if cert and key and ca:
        certificate = Certificate(ca, cert, key)
    else:
        certificate = issue(tls_dir, dict.fromkeys([*(san or []), host, "localhost", "127.0.0.1"]))
    with _blamed_on("--seed or --state"):
        endpoint = SnowflakeEndpoint(
            seeded,
            certificate,
            host=host,
            port=port,
            state=state,
            control_token=control_token_file.read_text().strip() if control_token_file else None,
        )
    accounts = ", ".join(f"{each.organization}-{each.name}" for each in seeded.accounts)
    with _blamed_on("--host, --port, --cert, --key or --ready-file"):
        asyncio.run(_serve(endpoint, accounts, ready_file))


@contextmanager
def _blamed_on(options: str) -> Iterator[None]:
    """Have what these options make impossible told as a wrong use of them."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint=options) from error


async def _serve(endpoint: SnowflakeEndpoint, accounts: str, ready_file: Path | None) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with endpoint:
        if ready_file is not None:
            _announce(endpoint, ready_file)
        where = f"{endpoint.host}:{endpoint.port}"
        typer.echo(f"Snowflake endpoint ready on {where} for {accounts}, CA {endpoint.certificate.ca}")
        await stopped.wait()


def _announce(endpoint: SnowflakeEndpoint, path: Path) -> None:
    """Write the file whole or not at all: whoever waits for it may read it at once."""
    ready = {
        "host": endpoint.host,
        "port": endpoint.port,
        "ca": str(endpoint.certificate.ca.resolve()),
        "control_token": endpoint.control_token,
        "pid": os.getpid(),
    }
    partial = path.with_name(f".{path.name}.partial")
    partial.touch(mode=0o600)
    partial.write_text(json.dumps(ready))
    partial.replace(path)


if __name__ == "__main__":
    app(prog_name="devstack snowflake")
