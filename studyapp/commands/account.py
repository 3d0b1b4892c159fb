"""relstudy admin account: researchers' own passwords and roles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.studyapp.config.accounts import Role


@dataclass(frozen=True, kw_only=True)
class AccountOptions(CommandOptions):
    """Options of `relstudy admin account`."""

    role: Role | None = option(
        None, "What the account may do; alone it changes that of NAME.", shown="viewer, for a new account"
    )
    invite: bool = option(False, "Make NAME's account, or a new link for it: its password is chosen by it.")
    remove: bool = option(False, "End NAME's account and its sessions at once.")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("name", default="")
@taking(AccountOptions)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def account(folder: Path, name: str, options: AccountOptions, as_json: bool) -> None:
    """Give researchers accounts of their own on the admin pages, or list these.

    FOLDER is a study or, for all the studies of a host at once, the folder of studies that `relstudy admin host`
    serves. A viewer looks and downloads ratings; an editor also invites, pauses, closes, erases, and downloads who the
    raters are; an owner also reads the log. The first password of a study stays its owner's.

    \b
    Examples:
      relstudy admin account my-study anna --invite --role editor
      relstudy admin account my-study anna --role viewer
      relstudy admin account my-study anna --remove
      relstudy admin account my-study
    """
    from relstudy.common.runtime.console import print_json, print_table
    from relstudy.studyapp.config.accounts import change_role, invite_account, read_accounts, remove_account

    role, invite, remove = options.role, options.invite, options.remove
    if sum([invite, remove, bool(role) and not invite]) > 1 or ((invite or remove or role) and not name):
        raise click.UsageError("say one thing of one NAME: --invite (with --role), --role, or --remove")
    result: dict[str, object] = {}
    if invite:
        token = invite_account(folder, name, role or "viewer")
        result = {"account": name, "role": role or "viewer", "link": f"{_address(folder)}/admin/setup/{token}"}
        line = f"{name} ({role or 'viewer'}) chooses a password, once, at {result['link']}"
        _record(folder, "make account", f"{name} {role or 'viewer'}")
    elif remove:
        remove_account(folder, name)
        result, line = {"account": name, "removed": True}, f"{name} has no account any more"
        _record(folder, "remove account", name)
    elif role:
        change_role(folder, name, role)
        result, line = {"account": name, "role": role}, f"{name} is {role} from now on"
        _record(folder, "change account", f"{name} {role}")
    else:
        accounts = [
            account for account in read_accounts(folder).values() if name in ("", account.name) and not account.token
        ]
        rows = [[account.name, account.role, "yes" if account.password else "not yet"] for account in accounts]
        if as_json:
            print_json([dict(zip(("account", "role", "password"), row, strict=True)) for row in rows])
        elif rows:
            print_table(rows, ["account", "role", "password"])
        else:
            click.echo(f"{folder} has no accounts beside the first password")
        return
    if as_json:
        print_json(result)
    else:
        click.echo(line)


def _record(folder: Path, did: str, about: str) -> None:
    """In the log of the study, or of the host."""
    from relstudy.studyapp.commands.opening import store_of_log
    from relstudy.studyapp.monitoring.audit_log import record_command

    record_command(store_of_log(folder), did, about)


def _address(folder: Path) -> str:
    """Address of the study, or of the first of a host's studies that has been served."""
    from relstudy.studyapp.assignment.versions import read_address
    from relstudy.studyapp.commands.opening import store_of_command
    from relstudy.studyapp.config.study import Study

    is_study = (folder / "study.toml").exists()
    for study in [folder] if is_study else sorted(file.parent for file in folder.glob("*/study.toml")):
        store = store_of_command(study)
        store.migrate()
        with store.read() as connection:
            address = read_address(connection)
        address = address if not is_study else Study.load(study).url or address
        if address or is_study:
            return address or "http://localhost:8000"
    return "http://localhost:8000/NAME"
