"""relstudy admin invite: personal links, crowd links, completion codes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.wording import quoted
from relstudy.common.tables.formats.overwriting import require_free, with_overwrite


@dataclass(frozen=True, kw_only=True)
class InviteOptions(CommandOptions):
    """Options of `relstudy admin invite`."""

    count: int = option(0, "Number of personal links.", flags=("-n", "--count"), at_least=0, at_most=100_000)
    extra_pairs: int = option(
        0,
        "Unique pairs that these people are asked for beyond the study's pairs_per_rater.",
        at_least=0,
        at_most=1_000_000,
    )
    group: str = option("", "The group of the study that these people will be in.")
    url: str = option("", "Public address of the app.", shown="the study's url, else where it was last served")
    output: Path | None = option(None, "Write the links to this CSV file (mode 0600).", flags=("-o", "--out"))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, given in (("--extra-pairs", self.extra_pairs), ("--group", self.group)):
            if given and not self.count:
                raise click.UsageError(f"{name} goes with -n: it is for the people of these links.")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@taking(InviteOptions)
@with_overwrite
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def invite(folder: Path, options: InviteOptions, as_json: bool) -> None:
    """Make personal links, and show the crowd link and the open address.

    A personal link makes its holder one rater, on any machine. Links are shown once: only a hash of each is kept.

    \b
    Examples:
      relstudy admin invite my-study -n 12 -o links.csv
      relstudy admin invite my-study -n 1 --extra-pairs 400
    """
    from relstudy.common.runtime.console import print_json, print_table, say
    from relstudy.common.runtime.wording import count_of, listed
    from relstudy.studyapp.assignment.invitations import crowd_link
    from relstudy.studyapp.assignment.invitations import invite as make
    from relstudy.studyapp.assignment.versions import read_address
    from relstudy.studyapp.commands.opening import open_study
    from relstudy.studyapp.monitoring.audit_log import record_command

    study, store = open_study(folder)
    with store.read() as connection:
        served_at = read_address(connection)
    base = (options.url or study.url or served_at or "http://localhost:8000").rstrip("/")
    if options.output is not None:
        require_free(options.output)
    made = make(store, study, options.count, options.extra_pairs, options.group) if options.count else []
    if made:
        record_command(store, "invite", str(options.count))
    links = [invitation.below(base) for invitation in made]
    crowd = crowd_link(study)
    open_to_all = f"{base}/" if study.entry.open_rule else None
    result = {
        "personal": links,
        "crowd": base + crowd if crowd else None,
        "open": open_to_all,
        "completion_url": study.entry.completion_url or None,
    }
    if options.output is not None:
        import pandas as pd

        from relstudy.common.tables.formats.table_files import write_table

        table = pd.DataFrame(links, columns=["rater_id", "link", "completion_code"])
        write_table(table, options.output, private=True)
        say(f"{count_of(len(links), 'link')} written to {options.output}")
    if as_json:
        print_json(result)
        return
    if not (options.url or study.url):
        where = "where the study was last served" if served_at else "the default"
        click.echo(f"Links use {base} ({where}). Change it with --url, or url in study.toml.")
    if links and options.extra_pairs:
        click.echo(
            f"Whoever holds one of these links is asked for {count_of(options.extra_pairs, 'unique pair')} more than "
            "others."
        )
    if links and options.output is None:
        print_table([list(map(str, link.values())) for link in links], list(links[0]))
    if crowd:
        click.echo(f"crowd link: {base + crowd}")
    if study.outcomes_without_way_back:
        lacking = listed(study.outcomes_without_way_back, "or")
        click.echo(f"Not led back to the platform: who ends as {lacking}; give each a code in [entry.outcomes].")
    if open_to_all:
        click.echo(f"open to all: {open_to_all}")
    if not (links or crowd or open_to_all):
        say(f"say how many personal links to make, such as: relstudy admin invite {quoted(folder)} -n 12")
