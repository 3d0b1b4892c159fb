"""relstudy serve: the app behind a production server, several processes on one socket."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.studyapp.web.options import ServerOptions


@dataclass(frozen=True, kw_only=True)
class ServeOptions(CommandOptions):
    """Options of `relstudy serve` beside the server's."""

    secure: bool | None = option(
        None, "Cookies for https only.", flags=("--secure/--no-secure",), shown="by the study's url"
    )
    preview: bool = option(False, "Only show the pages, from the files as they are, without storing ratings.")
    reset_admin: bool = option(False, "Forget the admin password and print a new one-time link.")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@taking(ServerOptions, "server")
@taking(ServeOptions)
def serve(folder: Path, server: ServerOptions, options: ServeOptions) -> None:
    """Serve the rating app and the admin pages of a study.

    The database is study.db in the folder, or the PostgreSQL server that DATABASE_URL names. The first start prints a
    one-time link to choose the admin password. Ctrl-C stops; every acknowledged rating is on disk at any moment.

    With --preview, every page is shown as a rater would meet it, also while the study is served elsewhere: nothing is
    handed out, and nothing is stored.

    \b
    Example:
      relstudy serve my-study --port 8000 --workers 2
      relstudy serve my-study --preview
    """
    from relstudy.studyapp.web.server import run, run_preview

    if options.preview:
        run_preview(folder, server)
    else:
        run(folder, server, secure=options.secure, reset_admin=options.reset_admin)
