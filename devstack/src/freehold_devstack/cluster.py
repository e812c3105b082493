"""The cluster tier: control plane, scheduler, image registry and real nodes, in networks of their own. Needs root."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from freehold_devstack import build, images
from freehold_devstack.controlplane import ControlPlane
from freehold_devstack.images import Image
from freehold_devstack.prerequisites import Tier
from freehold_devstack.supervisor import Plan


class Cluster(ControlPlane):
    """A control plane with nodes.

    Nothing in it reaches beyond the machine, nor does the machine reach into it, but for commands and threads that
    step into its network by `command`, `spawn` and `joined`.

    Args:
        name: what it is called; a new name by default.
        nodes: how many.
        owner: see ControlPlane.
        detached: see ControlPlane.
    """

    tier: ClassVar[Tier] = Tier.CLUSTER

    def __init__(
        self, name: str | None = None, *, nodes: int = 1, owner: int | None = None, detached: bool = False
    ) -> None:
        super().__init__(name, owner=owner, detached=detached)
        self._nodes = nodes

    def add_images(self, added: Iterable[Image]) -> None:
        """Have the nodes find these images; for a reference that they have pulled already, the old one stays there."""
        folder = self.state.directory / "images"
        for image in added:
            link = folder / image.archive.name
            link.unlink(missing_ok=True)
            link.hardlink_to(image.archive)  # the cache may forget its own

    def kill_node(self, index: int) -> None:
        """Cut the power of a node: everything on it goes at once."""
        self.stop_component(f"node{index}")

    def start_node(self, index: int) -> None:
        """Start a node again that was killed; its disk is as it was."""
        self.start_component(f"node{index}")

    def _plan(self, binaries: build.Binaries) -> Plan:
        return replace(super()._plan(binaries), nodes=self._nodes)

    def _launch(self, plan: Plan) -> None:
        pause = images.pause(build.Binaries(Path(plan.binaries)))
        super()._launch(plan)
        self.add_images([pause])
