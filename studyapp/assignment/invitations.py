"""Inviting people."""

from __future__ import annotations

import base64
import hmac
import secrets
import time
from dataclasses import dataclass

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.enrolment import enrol, find_rater, token_identity, update_rater
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store


@dataclass(frozen=True)
class Invitation:
    """A personal link: who it makes its holder, the path to hand out, and whether it was made before."""

    rater_id: str
    path: str
    completion_code: str
    was_there: bool = False

    def below(self, address: str) -> dict[str, str]:
        """The invitation as it is handed out, with its link below the study's address."""
        return {"rater_id": self.rater_id, "link": address + self.path, "completion_code": self.completion_code}


def invite(
    store: Store, study: Study, count: int, extra_pairs: int = 0, group: str = "", key: bytes = b""
) -> list[Invitation]:
    """Make personal links. Only the hash of a token is kept, so a link can be shown once.

    Parameters
    ----------
    extra_pairs : unique pairs that these people are asked for beyond `pairs_per_rater`, in whole pages
    group : the group of the study that they will be in; empty: as if they came by themselves
    key : secret that makes the same links again when it is given again; empty: new ones
    """
    if "personal" not in study.entry.rules:
        raise RelstudyError(
            'this study does not admit people by personal link; add "personal" to [entry] rules in study.toml'
        )
    if group and group not in [entry.name for entry in study.groups]:
        names = ", ".join(entry.name for entry in study.groups) or "none"
        raise RelstudyError(f"there is no group {group!r} in this study; its groups: {names}")
    extra_pages = _pages_of(study, extra_pairs)
    invitations = []
    now = time.time()
    key = key or secrets.token_bytes(32)
    with store.write() as connection:
        tokens = [
            base64.urlsafe_b64encode(hmac.digest(key, str(number).encode(), "sha256")[:18]).decode()
            for number in range(count)
        ]
        found = [(token, find_rater(connection, "personal", token_identity(token))) for token in tokens]
        there = [
            Invitation(each.rater_id, f"/enter/{token}", each.completion_code, True) for token, each in found if each
        ]
        if there:
            return there  # without those who were erased since
        for token in tokens:
            rater = enrol(connection, study, "personal", token_identity(token), {}, now)
            update_rater(connection, rater, extra_pages=extra_pages, rater_group=group or None)
            invitations.append(Invitation(rater.rater_id, f"/enter/{token}", rater.completion_code))
    return invitations


def _pages_of(study: Study, extra_pairs: int) -> int:
    """So many pairs beyond the study's number in pages, rounded up."""
    if not extra_pairs:
        return 0
    limited = [block for block in study.blocks if block.unique and block.pairs_per_rater is not None]
    if not limited:
        raise RelstudyError(
            "extra pairs go beyond a block's pairs_per_rater, and this study has no block of unique pairs with a number"
        )
    return -(-extra_pairs // limited[0].results_per_page)


def crowd_link(study: Study) -> str | None:
    """The path and parameters to enter on the crowd platform; None when the study has no crowd rule."""
    entry = study.entry
    if not entry.platform_rule:
        return None
    values = {}
    if entry.platform_rule == "prolific":
        values = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "STUDY_ID": "{{%STUDY_ID%}}", "SESSION_ID": "{{%SESSION_ID%}}"}
    names = [entry.id_parameter, *entry.keep_parameters]
    return "/join?" + "&".join(f"{name}={values.get(name, '${' + name + '}')}" for name in names)
