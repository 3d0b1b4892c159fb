"""evidence/judges.py as a module."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.places import ROOT


def judges_script() -> ModuleType:
    """The script, loaded once."""
    if "judges_script" not in sys.modules:
        spec = importlib.util.spec_from_file_location("judges_script", ROOT / "evidence" / "judges.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look there for their annotations
        spec.loader.exec_module(module)
    return sys.modules["judges_script"]
