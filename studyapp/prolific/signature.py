"""Whether Prolific sent what came to the webhook (https://docs.prolific.com/api-reference/webhooks/verifying)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math

SECRET_VARIABLE = "PROLIFIC_WEBHOOK_SECRET"
"""Environment variable of the secret that Prolific signs with; it stands in no file and no message."""
SECONDS = 600.0
"""How old a request may be, or how far ahead its clock: an old one that somebody kept counts no more."""


def signature_holds(secret: str, timestamp: str, body: bytes, signature: str, now: float) -> bool:
    """Whether the signature is that of timestamp and body, and the timestamp is not old.

    Examples
    --------
    >>> # printf '1000{}' | openssl dgst -sha256 -hmac s -binary | base64
    >>> by_openssl = "GtjyWkhwFTaoEz/zp6Or4ehv2FJ1QQyCOcZnAs3K8uA="
    >>> signature_holds("s", "1000", b"{}", by_openssl, 1001.0), signature_holds("t", "1000", b"{}", by_openssl, 1001.0)
    (True, False)
    """
    try:
        sent_at = float(timestamp)
    except ValueError:
        return False
    if not math.isfinite(sent_at) or abs(now - sent_at) > SECONDS:
        return False
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return hmac.compare_digest(base64.b64encode(digest), signature.encode())
