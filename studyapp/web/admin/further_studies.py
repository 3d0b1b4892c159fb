"""From a study's pages to where further studies are set up, for editors with an account of the host."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from flask import Blueprint, Flask, abort, current_app, redirect, request
from flask.typing import ResponseReturnValue
from itsdangerous import URLSafeTimedSerializer

from relstudy.studyapp.web.admin.researchers import current_account, find_account, role_required

blueprint = Blueprint("admin_further", __name__, url_prefix="/admin")
EXTENSION = "relstudy-set-up"


@dataclass(frozen=True)
class SetUp:
    """Where studies are made, and the key that lets somebody in.

    Parameters
    ----------
    folder : of the studies
    key : part of the link that is printed
    """

    folder: Path
    key: str

    @classmethod
    def of(cls, folder: Path) -> SetUp:
        """One with a new key."""
        return cls(folder, secrets.token_urlsafe(24))

    @property
    def links(self) -> URLSafeTimedSerializer:
        """What makes links for accounts, and reads them."""
        return URLSafeTimedSerializer(self.key, salt="account")

    def add_to_study(self, app: Flask) -> None:
        """Lead from a study's pages to where further ones are set up."""
        app.extensions[EXTENSION] = self
        app.register_blueprint(blueprint)


def may_set_up() -> bool:
    """True if the researcher of this browser may set up further studies: an editor with an account of the host."""
    here: SetUp | None = current_app.extensions.get(EXTENSION)
    account = current_account()
    if here is None or account is None:
        return False
    found = find_account(account.name)
    return found is not None and found[1].resolve() == here.folder.resolve() and found[0].may("editor")


@blueprint.get("/set-up")
@role_required("editor")
def further() -> ResponseReturnValue:
    """Go on to where studies are set up."""
    account = current_account()
    if account is None or not may_set_up():
        abort(403, description="role")
    link = current_app.extensions[EXTENSION].links.dumps(account.name)
    root = request.script_root.rpartition("/")[0]
    return redirect(f"{request.host_url.rstrip('/')}{root}/start/{link}")
