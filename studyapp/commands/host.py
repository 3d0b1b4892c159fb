"""relstudy admin host: several studies on one port."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.studyapp.web.options import ServerOptions


@dataclass(frozen=True, kw_only=True)
class HostOptions(CommandOptions):
    """Options of `relstudy admin host` beside the server's."""

    url: str = option("", "Public address of the host; a study's is URL/NAME.", shown="where it listens")
    set_up: bool = option(False, "Print a link with which studies are set up in the browser, as `relstudy start` does.")


@click.command()
@click.argument(
    "folders", type=click.Path(path_type=Path, file_okay=False), nargs=-1, required=True, metavar="FOLDER..."
)
@taking(ServerOptions, "server")
@taking(HostOptions)
def host(folders: tuple[Path, ...], server: ServerOptions, options: HostOptions) -> None:
    """Serve several studies, each at /NAME/, the name of its folder.

    A FOLDER is a study or a folder of studies. A study that is put into a folder of studies is served from its first
    visitor on; one that is taken out, or in which there is a file called `stopped`, is not served any more. None of
    this needs a restart. Each study has its own database: study.db in its folder or, where DATABASE_URL holds `{name}`,
    the PostgreSQL database of its name. One that cannot be served is reported, and the others go on.

    \b
    Examples:
      relstudy admin host studies --url https://lab.example.org/studies --trusted-proxy 127.0.0.1
      relstudy admin host studies --set-up
      touch studies/colours/stopped
    """
    from relstudy.studyapp.web.admin.further_studies import SetUp
    from relstudy.studyapp.web.host import run_host

    set_up = None
    if options.set_up:
        place = next((folder for folder in folders if not (folder / "study.toml").exists()), None)
        if place is None:
            raise click.UsageError("--set-up needs a folder of studies, to which new ones are added")
        set_up = SetUp.of(place)
    run_host(folders, server, options.url.rstrip("/"), set_up=set_up)
