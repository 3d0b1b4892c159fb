"""The modules of evidence/simulations, for the small versions of their tables."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.places import ROOT

FOLDER = ROOT / "evidence" / "simulations"


def simulation(name: str) -> ModuleType:
    """One of them, loaded once, and able to import its neighbours."""
    known = f"simulation_{name}"
    if known not in sys.modules:
        sys.path.insert(0, str(FOLDER))
        try:
            spec = importlib.util.spec_from_file_location(known, FOLDER / f"{name}.py")
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[known] = module  # dataclasses look their module up
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(FOLDER))
    return sys.modules[known]
