"""A port is given to one process at a time."""

from __future__ import annotations

import socket

import pytest

from freehold_devstack.supervisor import free_ports


def test_a_port_that_was_given_out_can_be_listened_on_while_others_find_it_taken() -> None:
    (port,) = free_ports(1)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("", port))
    for _ in range(2):
        with socket.create_server(("", port)):
            pass
