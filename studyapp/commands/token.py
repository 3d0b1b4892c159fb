"""relstudy admin token: what programs show to ask a running study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.studyapp.config.accounts import Role


@dataclass(frozen=True, kw_only=True)
class TokenOptions(CommandOptions):
    """Options of `relstudy admin token`."""

    make: bool = option(False, "Make the token NAME, and print it, once; one of that name ends.")
    role: Role = option("viewer", "What the token may read or change.")
    remove: bool = option(False, "End the token NAME at once.")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("name", default="")
@taking(TokenOptions)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def token(folder: Path, name: str, options: TokenOptions, as_json: bool) -> None:
    """Let programs ask a study that is being served, or list the tokens by which they may.

    FOLDER is a study or, for all the studies of a host at once, its folder of studies. A viewer's token reads status
    and ratings; an editor's also makes invitations. Only a hash of it is kept.

    \b
    Examples:
      relstudy admin token my-study nightly --make
      relstudy admin token my-study nightly --remove
      relstudy admin token my-study
    """
    from relstudy.common.runtime.console import print_json, print_table
    from relstudy.studyapp.commands.opening import store_of_log
    from relstudy.studyapp.config.accounts import make_token, read_accounts, remove_account
    from relstudy.studyapp.monitoring.audit_log import record_command

    make, role, remove = options.make, options.role, options.remove
    if (make and remove) or ((make or remove) and not name):
        raise click.UsageError("say one thing of one NAME: --make (with --role) or --remove")
    if not make and not remove:
        rows = [[account.name, account.role] for account in read_accounts(folder).values() if account.token]
        if as_json:
            print_json([{"token": of, "role": its_role} for of, its_role in rows])
        elif rows:
            print_table(rows, ["token", "role"])
        else:
            click.echo(f"{folder} has no tokens")
        return
    if remove:
        remove_account(folder, name)
        record_command(store_of_log(folder), "remove token", name)
        result, line = {"name": name, "removed": True}, f"the token {name} opens nothing any more"
    else:
        made = make_token(folder, name, role)
        record_command(store_of_log(folder), "make token", f"{name} {role}")
        result, line = {"name": name, "role": role, "token": made}, made
    if as_json:
        print_json(result)
    else:
        click.echo(line)
