"""relstudy start: set up a study in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.studyapp.web.options import ServerOptions


@dataclass(frozen=True, kw_only=True)
class StartOptions(CommandOptions):
    """Options of `relstudy start` beside the server's."""

    browser: bool | None = option(None, "Open the browser.", flags=("--browser/--no-browser",), shown="yes")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path("studies"), required=False)
@taking(ServerOptions, "server")
@taking(StartOptions)
def start(folder: Path, server: ServerOptions, options: StartOptions) -> None:
    """Set up studies in the browser, and serve those in FOLDER (studies, unless you name one).

    Five steps lead from your files to a study that people rate: items, systems, question and size, raters, check. The
    pages do what `relstudy ask`, `new` and `sample` do, and serve the study as `relstudy admin host` does. Only who has
    the printed link can set up studies.

    \b
    Example:
      relstudy start
      relstudy start studies --no-browser --port 8080
    """
    from relstudy.studyapp.web.admin.further_studies import SetUp
    from relstudy.studyapp.web.host import run_host

    folder.mkdir(parents=True, exist_ok=True)
    run_host([folder], server, set_up=SetUp.of(folder), browser=options.browser is not False)
