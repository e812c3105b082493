"""Certificates without cert-manager: replicas share a Secret, keep it fresh, and have its authority trusted.

Whichever replica finds something due makes it and writes the Secret by compare-and-set; the others take what the first
one has written. Trust comes before use: a leaf is served only once the webhook configuration has the bundle for it.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from freehold.kube.client import Kube
from freehold.kube.errors import ApiError, Conflict, NotFound
from freehold.kube.objects import SECRETS, VALIDATING_WEBHOOK_CONFIGURATIONS, Object
from freehold_webhook.authority import BUNDLE, LEAF, LEAF_KEY, maintained
from freehold_webhook.readiness import server_name

INTERVAL = (1.0, 15.0)
"""Seconds between two rounds: after a failure, and after all was well."""

_log = logging.getLogger(__name__)


class SelfManaged:
    """One replica's part in keeping the certificates of all."""

    def __init__(self, kube: Kube, configuration: str, secret: tuple[str, str], folder: Path) -> None:
        """
        Args:
            kube: client; its server's clock is what lifetimes are judged by, for that server checks them.
            configuration: name of our ValidatingWebhookConfiguration.
            secret: namespace and name of the Secret, which the chart makes without content.
            folder: where the pair that is to be served is put, as a mounted Secret would be.
        """
        self._kube = kube
        self._configuration = configuration
        self._namespace, self._secret = secret
        self._folder = folder
        self._known: Mapping[str, bytes] = {}
        self._uid = ""
        self._complaint = ""

    async def run(self, established: asyncio.Event) -> None:
        """Keep the certificates fresh until cancelled.

        Args:
            established: is set once there is a pair to serve.
        """
        while True:
            if well := await self._try():
                established.set()
            await asyncio.sleep(INTERVAL[well])

    async def maintain(self) -> None:
        """One round: renew what is due, have it trusted, put it where it is served from.

        Raises:
            ApiError: something could not be read or written; what was served so far stays.
        """
        configuration = await self._kube.get(VALIDATING_WEBHOOK_CONFIGURATIONS, self._configuration)
        data = await self._agreed(sorted({server_name(each["clientConfig"]) for each in _webhooks(configuration)}))
        await self._have_trusted(configuration, data[BUNDLE])
        self._put(data)
        self._known = data

    async def _try(self) -> bool:
        complaint = ""
        try:
            await self.maintain()
        except NotFound as error:
            complaint = f"{error}: it comes with the chart, apply that again"
        except Conflict:
            # Another replica, or a helm upgrade, was faster: the next round sees what it wrote.
            return False
        except ApiError as error:
            complaint = str(error)
        if complaint and complaint != self._complaint:
            _log.error("the certificates can't be maintained: %s", complaint)
        self._complaint = complaint
        return not complaint

    async def _agreed(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """The content of the Secret once nothing is due in it."""
        secret = await self._kube.get(SECRETS, self._secret, self._namespace)
        stored = {key: base64.b64decode(value) for key, value in (secret.raw.get("data") or {}).items()}
        # One that was made again gets back what is served and trusted; one that was emptied is to get something new.
        remade = not stored and secret.uid != self._uid
        wanted = maintained(self._known if remade else stored, names, self._kube.server_time)
        if wanted != stored:
            encoded = {key: base64.b64encode(value).decode() for key, value in wanted.items()}
            await self._kube.replace(SECRETS, {**secret.raw, "data": encoded})
            _log.info("certificates were renewed")
        self._uid = secret.uid
        return wanted

    async def _have_trusted(self, configuration: Object, bundle: bytes) -> None:
        wanted = base64.b64encode(bundle).decode()
        if all(each["clientConfig"].get("caBundle") == wanted for each in _webhooks(configuration)):
            return
        changed = copy.deepcopy(dict(configuration.raw))
        for each in changed["webhooks"]:
            each["clientConfig"]["caBundle"] = wanted
        await self._kube.replace(VALIDATING_WEBHOOK_CONFIGURATIONS, changed)
        _log.info("the API server was told to trust new certificates")

    def _put(self, data: Mapping[str, bytes]) -> None:
        for name in (LEAF, LEAF_KEY):
            if data[name] != self._known.get(name):
                path = self._folder / name
                path.touch(mode=0o600)
                path.write_bytes(data[name])


def _webhooks(configuration: Object) -> Sequence[Mapping[str, Mapping[str, str]]]:
    return configuration.raw.get("webhooks") or ()
