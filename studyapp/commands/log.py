"""relstudy admin log: who did what with a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option


@dataclass(frozen=True, kw_only=True)
class LogOptions(CommandOptions):
    """Options of `relstudy admin log`."""

    entries: int = option(50, "Number of entries.", flags=("-n", "--entries"), at_least=1, at_most=1_000_000)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@taking(LogOptions)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def log(folder: Path, options: LogOptions, as_json: bool) -> None:
    """Show actions on the admin pages and by commands, the newest first; times in UTC.

    FOLDER is a study or, for what was done to the accounts of a host, its folder of studies.

    \b
    Example:
      relstudy admin log my-study
    """
    from dataclasses import asdict

    from relstudy.common.runtime.console import print_json, print_table
    from relstudy.common.runtime.wording import moment
    from relstudy.studyapp.commands.opening import open_database, store_of_log
    from relstudy.studyapp.monitoring.audit_log import read_entries

    store = open_database(folder)[1] if (folder / "study.toml").exists() else store_of_log(folder)
    logged = read_entries(store, options.entries)
    if as_json:
        print_json([asdict(entry) for entry in logged])
    elif logged:
        rows = [[moment(e.at, "%Y-%m-%d %H:%M:%S"), e.who, e.did, e.about] for e in logged]
        print_table(rows, ["time", "who", "did", "about"])
    else:
        click.echo("nothing has been done yet on the admin pages, or by a command that changes the study")
