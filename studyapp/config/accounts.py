"""Researchers' accounts beside the first password, and programs' tokens: FOLDER/accounts.json, which only its owner may
read.

FOLDER is a study, or a folder of studies that a host serves; there an account counts for all of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.file_lock import locked
from relstudy.studyapp.config.secret import write_private

Role = Literal["viewer", "editor", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
FIRST = "owner"  # the account that every study has, with the password in FOLDER/admin.hash
SETUP_DAYS = 7
"""Days for which a one-time link chooses a password."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


@dataclass(frozen=True)
class Account:
    """A person who may see a study's pages, or a program that may ask its API.

    Parameters
    ----------
    name : letters, digits, dot, -, _ and @
    role : one of ROLES: a viewer looks, an editor also invites, pauses, closes and forgets, an owner also reads the log
    password : scrypt hash; empty until the person has chosen one
    setup : SHA-256 of the one-time link's token; empty once it is used
    logout : changes with each logout, which ends all of the account's sessions
    token : SHA-256 of a program's token; such an account has no password
    setup_until : when the one-time link expires, seconds since 1970
    """

    name: str
    role: str
    password: str = ""
    setup: str = ""
    logout: str = ""
    token: str = ""
    setup_until: str = ""

    def may(self, role: str) -> bool:
        """True if this account may do what a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


def read_accounts(folder: Path) -> dict[str, Account]:
    """The accounts by name; none if there is no file.

    Raises
    ------
    RelstudyError
        when the file is damaged
    """
    path = folder / "accounts.json"
    try:
        rows = json.loads(path.read_text(encoding="ascii"))
        accounts = [Account(**row) for row in rows]
        if not isinstance(rows, list) or not all(_is_sound(account) for account in accounts):
            raise ValueError
    except FileNotFoundError:
        return {}
    except (*NO_JSON, TypeError):
        raise RelstudyError(
            f"{path}: this is not a list of accounts; restore it, or remove it and make them again"
        ) from None
    except OSError as error:
        raise RelstudyError(f"{path}: cannot be read ({error.strerror})") from None
    return {account.name: account for account in accounts}


@contextlib.contextmanager
def changing_accounts(folder: Path) -> Iterator[dict[str, Account]]:
    """The accounts, to be changed by nobody else meanwhile; written when the block ends without an error."""
    turn = folder / "accounts.lock"
    turn.touch()
    with locked(turn, wait=math.inf):
        accounts = read_accounts(folder)
        before = dict(accounts)
        yield accounts
        if accounts != before:
            write_private(folder / "accounts.json", json.dumps([asdict(account) for account in accounts.values()]))


def invite_account(folder: Path, name: str, role: str) -> str:
    """Make an account, or give an existing one another role; the token of a one-time link to choose its password.

    What it had before, an unused link too, ends with this.
    """
    _require_name(name)
    token = secrets.token_urlsafe(24)
    with changing_accounts(folder) as accounts:
        if name in accounts and accounts[name].token:
            raise RelstudyError(f"{name!r} is a program's token; give the person another name")
        until = str(int(time.time() + 86400 * SETUP_DAYS))
        accounts[name] = Account(name, role, setup=_hashed(token), setup_until=until)
    return token


def make_token(folder: Path, name: str, role: str) -> str:
    """Make a token for a program; one of that name that there was before ends."""
    _require_name(name)
    token = f"rst_{secrets.token_urlsafe(24)}"
    with changing_accounts(folder) as accounts:
        if name in accounts and not accounts[name].token:
            raise RelstudyError(f"{name!r} is a person's account; give the token another name")
        accounts[name] = Account(name, role, token=_hashed(token))
    return token


def account_of_token(folder: Path, token: str) -> Account | None:
    """The account that this token belongs to; None where it is nobody's."""
    return _account_of(folder, token, lambda account: account.token)


def change_role(folder: Path, name: str, role: str) -> None:
    """Give an account another role at once; its password stays."""
    with changing_accounts(folder) as accounts:
        accounts[name] = replace(_existing(accounts, folder, name), role=role)


def remove_account(folder: Path, name: str) -> None:
    """End an account and its sessions."""
    with changing_accounts(folder) as accounts:
        del accounts[_existing(accounts, folder, name).name]


def admit(folder: Path, name: str, role: str) -> Account:
    """The account of somebody whom a sign-on vouches for; one is made, without a password, if there is none.

    Raises
    ------
    RelstudyError
        where the name is a program's, or cannot be one
    """
    _require_name(name)
    with changing_accounts(folder) as accounts:
        if name in accounts and accounts[name].token:
            raise RelstudyError(f"{name!r} is a program's token")
        return accounts.setdefault(name, Account(name, role))


def is_name(name: str) -> bool:
    """True if an account may have this name."""
    return NAME.fullmatch(name) is not None and name != FIRST


def account_of_link(folder: Path, token: str) -> Account | None:
    """The account whose one-time link has this token; None once the link has expired."""
    account = _account_of(folder, token, lambda account: account.setup)
    return account if account is not None and time.time() < float(account.setup_until or "inf") else None


def _account_of(folder: Path, secret: str, kept: Callable[[Account], str]) -> Account | None:
    """The account that keeps the hash of a secret; None where none does."""
    hashed = _hashed(secret)
    matching = [account for account in read_accounts(folder).values() if kept(account)]
    return next((account for account in matching if secrets.compare_digest(kept(account), hashed)), None)


def choose_password(folder: Path, token: str, password_hash: str) -> bool:
    """Keep the password that was chosen by a one-time link, which is used up; False where somebody was quicker."""
    with changing_accounts(folder) as accounts:
        owner = account_of_link(folder, token)
        if owner is None:
            return False
        accounts[owner.name] = replace(owner, password=password_hash, setup="")
    return True


def end_sessions(folder: Path, name: str) -> None:
    """Log an account out everywhere."""
    with changing_accounts(folder) as accounts:
        if name in accounts:
            accounts[name] = replace(accounts[name], logout=secrets.token_hex(8))


def _is_sound(account: Account) -> bool:
    fields = asdict(account).values()
    return account.role in ROLES and all(isinstance(value, str) and value.isascii() for value in fields)


def _require_name(name: str) -> None:
    if not is_name(name):
        raise RelstudyError(
            f"{name!r} cannot be an account's name: letters, digits, . _ @ and - are allowed, not {FIRST!r}"
        )


def _existing(accounts: dict[str, Account], folder: Path, name: str) -> Account:
    if name not in accounts:
        raise RelstudyError(f"{folder} has no account {name!r}; it has {', '.join(accounts) or 'none'}")
    return accounts[name]


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
