"""relstudy serve: the app behind a production server, several processes on one socket."""

from __future__ import annotations

from pathlib import Path

import click

from relstudy.studyapp.commands.server_options import server_options


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@server_options
@click.option("--secure/--no-secure", default=None, help="Cookies for https only; default: by the study's url.")
@click.option("--preview", is_flag=True, help="Only show the pages, from the files as they are; nobody can rate.")
@click.option("--reset-admin", is_flag=True, help="Forget the admin password and print a new one-time link.")
def serve(
    folder: Path,
    host: str,
    port: int,
    workers: int,
    threads: int,
    trusted_proxy: str | None,
    secure: bool | None,
    per_address: int,
    quiet: bool,
    preview: bool,
    reset_admin: bool,
) -> None:
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
    from relstudy.studyapp.web.server import Serving, run, run_preview

    serving = Serving(folder, host, port, workers, threads, trusted_proxy, secure, quiet, per_address)
    if preview:
        run_preview(serving)
    else:
        run(serving, reset_admin=reset_admin)
