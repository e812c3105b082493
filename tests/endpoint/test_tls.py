"""The test authority and its certificates."""

import ipaddress
from pathlib import Path

from cryptography import x509

from freehold_devstack.snowflake.tls import issue


def test_a_leaf_carries_names_and_addresses_and_is_no_authority(tmp_path: Path) -> None:
    leaf = x509.load_pem_x509_certificate(issue(tmp_path, ["snowflake.test", "10.0.0.1"]).cert.read_bytes())
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["snowflake.test"]
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("10.0.0.1")]
    assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_a_second_certificate_of_a_folder_is_issued_by_the_same_authority(tmp_path: Path) -> None:
    authority = issue(tmp_path, ["one.test"]).ca.read_bytes()
    second = issue(tmp_path, ["two.test"])
    assert second.ca.read_bytes() == authority
    leaf, ca = (x509.load_pem_x509_certificate(file.read_bytes()) for file in (second.cert, second.ca))
    leaf.verify_directly_issued_by(ca)


def test_keys_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    assert issue(tmp_path, ["one.test"]).key.stat().st_mode & 0o077 == 0
