"""[webhook]: a program that is told of each rater who finishes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from relstudy.common.http import is_private
from relstudy.studyapp.config.toml_checker import VARIABLE, TomlChecker


@dataclass(frozen=True)
class WebhookSettings:
    """Which program is told that a rater has finished.

    Parameters
    ----------
    url : where to, by https or on this machine; empty: nobody is told
    secret_variable : name of the environment variable that holds the secret to sign with
    """

    url: str = ""
    secret_variable: str = ""


def read_webhook(check: TomlChecker, data: dict[str, Any]) -> WebhookSettings:
    """The table [webhook] of study.toml; faults are left with `check`."""
    path = ("webhook",)
    check.keys(data, path, ("url", "secret_variable"))
    if not data:
        return WebhookSettings()
    url = check.text(data, path, "url", None)
    if not is_private(url):
        check.fault((*path, "url"), url, "an address with https:// is allowed, or with http:// on this machine")
    variable = check.text(data, path, "secret_variable", None)
    if not re.fullmatch(VARIABLE, variable):
        # it may be the secret itself, which stands in no message
        allowed = "the name of an environment variable is allowed (capitals, digits and _), never the secret itself"
        check.fault((*path, "secret_variable"), None, allowed)
    return WebhookSettings(url, variable)
