"""relstudy host: several studies on one port."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument(
    "folders", type=click.Path(path_type=Path, file_okay=False), nargs=-1, required=True, metavar="FOLDER..."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: any free port.")
@click.option("--url", default="", help="Public address of the host; a study's is URL/NAME. Default: where it listens.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Number of processes.")
@click.option("--threads", default=4, show_default=True, type=click.IntRange(1, 64), help="Threads in each process.")
@click.option("--trusted-proxy", help="Address of the proxy in front whose X-Forwarded headers are believed.")
@click.option(
    "--per-address",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Most connections of one address in each process, the proxy excepted; 0: any number.",
)
@click.option("--quiet", is_flag=True, help="No log line for every request.")
def host(
    folders: tuple[Path, ...],
    host: str,
    port: int,
    url: str,
    workers: int,
    threads: int,
    trusted_proxy: str | None,
    per_address: int,
    quiet: bool,
) -> None:
    """Serve several studies, each at /NAME/, the name of its folder.

    A FOLDER is a study or a folder of studies. A study that is put into a folder of studies is served from its first
    visitor on; one that is taken out, or in which there is a file called `stopped`, is not served any more. None of
    this needs a restart. Each study has its own database: study.db in its folder or, where DATABASE_URL holds `{name}`,
    the PostgreSQL database of its name. One that cannot be served is told, and the others go on.

    \b
    Examples:
      relstudy host studies --url https://lab.example.org/studies --trusted-proxy 127.0.0.1
      touch studies/colours/stopped
    """
    from relstudy.studyapp.web.host import Hosting, run_host

    url = url.rstrip("/")
    run_host(Hosting(folders, host, port, workers, threads, url, trusted_proxy, quiet, per_address))
