"""The options of a server, the same for `relstudy serve` and `relstudy host`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all."),
    click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: any free port."),
    click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Number of processes."),
    click.option(
        "--threads", default=4, show_default=True, type=click.IntRange(1, 64), help="Threads of each process."
    ),
    click.option("--trusted-proxy", help="Address of the proxy in front whose X-Forwarded headers are believed."),
    click.option(
        "--per-address",
        default=0,
        show_default=True,
        type=click.IntRange(0),
        help="Most connections of one address in each process, the proxy excepted; 0: any number.",
    ),
    click.option("--quiet", is_flag=True, help="No log line for every request."),
)


def server_options(command: Command) -> Command:
    """Give a command the options of a server."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
