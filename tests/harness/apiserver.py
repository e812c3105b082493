"""What an API server has been asked, by its own count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from freehold_devstack.controlplane import ControlPlane

_REQUEST = re.compile(r"apiserver_request_total{(?P<labels>[^}]*)} (?P<count>\S+)")


def requests(control_plane: ControlPlane, resources: Collection[str]) -> Counter[str]:
    """Requests so far by verb (GET, LIST, WATCH, POST, ...), whoever made them.

    Args:
        control_plane: of the API server.
        resources: plural names of the resource types that count.
    """
    counted: Counter[str] = Counter()
    for found in _REQUEST.finditer(control_plane.kubectl("get", "--raw", "/metrics").stdout):
        labels = dict(re.findall(r'(\w+)="([^"]*)"', found["labels"]))
        if labels["resource"] in resources:
            counted[labels["verb"]] += int(float(found["count"]))
    return counted
