"""Whose a network address is."""

from __future__ import annotations

import contextlib
import ipaddress


def customer(address: str) -> str:
    """Who an address counts as: itself or, of IPv6, its network, which is one customer's.

    Examples
    --------
    >>> customer("203.0.113.7"), customer("2001:db8::7"), customer("")
    ('203.0.113.7', '2001:db8::/64', '')
    """
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(address).version == 6:
            return str(ipaddress.ip_network(f"{address}/64", strict=False))
    return address
