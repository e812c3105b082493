"""Readiness: whether the API server, with the bundle that it was given, would accept the certificate that we serve."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from freehold.kube.client import Kube
from freehold.kube.errors import ApiError, NotFound
from freehold.kube.objects import VALIDATING_WEBHOOK_CONFIGURATIONS, Object
from freehold_webhook.certificates import Certificates

INTERVAL = (1.0, 15.0)
"""Seconds between two looks: while not ready, and while ready."""

_log = logging.getLogger(__name__)


class Readiness:
    """Knows whether this process should be asked.

    Attributes:
        why_not: what is missing, for the probe; None when ready.
    """

    def __init__(self, kube: Kube, configuration: str) -> None:
        """
        Args:
            kube: client.
            configuration: name of our ValidatingWebhookConfiguration.
        """
        self._kube = kube
        self._configuration = configuration
        self.why_not: str | None = "there is no certificate to serve yet"

    async def run(self, certificates: Certificates) -> None:
        """Look at our configuration again and again, until cancelled.

        Args:
            certificates: what we serve.
        """
        while True:
            await self._look(certificates)
            await asyncio.sleep(INTERVAL[self.why_not is None])

    async def _look(self, certificates: Certificates) -> None:
        before = self.why_not
        try:
            found = await self._kube.get(VALIDATING_WEBHOOK_CONFIGURATIONS, self._configuration)
            self.why_not = why_not_trusted(found, certificates)
        except NotFound:
            self.why_not = f"there is no ValidatingWebhookConfiguration {self._configuration}"
        except ApiError as error:
            # That tells nothing: who was ready stays so, or admission would be skipped after an API server's restart.
            if self.why_not is not None:
                self.why_not = f"the webhook configuration can't be read: {error}"
        if self.why_not != before:
            _log.info("%s", "ready" if self.why_not is None else f"not ready: {self.why_not}")


def why_not_trusted(configuration: Object, certificates: Certificates) -> str | None:
    """Why the API server would refuse our certificate; None when it wouldn't.

    Args:
        configuration: a ValidatingWebhookConfiguration.
        certificates: what we serve.
    """
    for webhook in configuration.raw.get("webhooks") or ():
        client = webhook["clientConfig"]
        bundle = base64.b64decode(client.get("caBundle") or "").decode()
        if not bundle:
            return f"webhook {webhook['name']} has no caBundle yet: whoever issues the certificate fills it in"
        name = server_name(client)
        if why := certificates.why_not_trusted(bundle, name):
            return f"the caBundle of webhook {webhook['name']} doesn't verify our certificate for {name}: {why}"
    return None


def server_name(client: Mapping[str, Any]) -> str:
    """The name that the API server verifies our certificate for.

    Args:
        client: clientConfig of a webhook.
    """
    if service := client.get("service"):
        return f"{service['name']}.{service['namespace']}.svc"
    return urlsplit(client["url"]).hostname or ""
