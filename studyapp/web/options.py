"""The options of a server, the same for `relstudy serve` and `relstudy admin host`."""

from __future__ import annotations

from dataclasses import dataclass

from relstudy.common.options.declaration import CommandOptions, option


@dataclass(frozen=True, kw_only=True)
class ServerOptions(CommandOptions):
    """Where a server listens, and how much of the machine it takes."""

    host: str = option("127.0.0.1", "Address to listen on; 0.0.0.0 for all.")
    port: int = option(8000, "0: any free port.", at_least=0, at_most=65535)
    workers: int = option(2, "Number of processes.", at_least=1, at_most=64)
    threads: int = option(4, "Threads of each process.", at_least=1, at_most=64)
    trusted_proxy: str | None = option(
        None, "Address of the proxy in front whose X-Forwarded headers are believed.", shown="no proxy"
    )
    per_address: int = option(
        0, "Maximum connections per address and process, except the proxy; 0: no limit.", at_least=0
    )
    quiet: bool = option(False, "No log line for every request.")
