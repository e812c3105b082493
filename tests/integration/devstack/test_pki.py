"""The devstack's certificates satisfy the strictest of its clients."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from freehold_devstack.pki import Authority, Pair, kubeconfig


def handshake(folder: Path, server: Pair, client: Pair, trust: bytes, name: str) -> str:
    """The common name that a server sees of its client, both of them checking strictly."""
    for pair, file in ((server, "server"), (client, "client")):
        pair.write(folder, file)
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=trust.decode())
    serving.verify_mode = ssl.CERT_REQUIRED
    serving.load_cert_chain(folder / "server.crt", folder / "server.key")
    asking = ssl.create_default_context(cadata=trust.decode())
    asking.load_cert_chain(folder / "client.crt", folder / "client.key")
    for context in (serving, asking):
        context.verify_flags |= ssl.VERIFY_X509_STRICT
    left, right = socket.socketpair()
    with right:

        def ask() -> None:
            with asking.wrap_socket(left, server_hostname=name) as connection:
                connection.recv(1)

        thread = threading.Thread(target=ask)
        thread.start()
        with serving.wrap_socket(right, server_side=True) as connection:
            presented = connection.getpeercert(binary_form=True)
            connection.send(b".")
        thread.join()
    assert presented
    (common_name,) = x509.load_der_x509_certificate(presented).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(common_name.value)


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_servers_and_clients_trust_each_other_strictly(tmp_path: Path, name: str) -> None:
    authority = Authority()
    server = authority.issue("server", names=("localhost", "127.0.0.1"))
    client = authority.issue("alice", organization="group")
    assert handshake(tmp_path, server, client, authority.pair.certificate, name) == "alice"


@pytest.mark.parametrize("credentials", [Pair(b"certificate", b"key"), "token"])
def test_a_kubeconfig_is_complete_in_itself(credentials: Pair | str) -> None:
    config = yaml.safe_load(kubeconfig("https://server:1", b"ca", credentials, "team"))
    assert config["clusters"][0]["cluster"] == {"server": "https://server:1", "certificate-authority-data": "Y2E="}
    assert config["contexts"][0]["context"]["namespace"] == "team"
    user = config["users"][0]["user"]
    assert user == (
        {"token": "token"}
        if credentials == "token"
        else {"client-certificate-data": "Y2VydGlmaWNhdGU=", "client-key-data": "a2V5"}
    )
