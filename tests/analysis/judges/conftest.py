"""A small world, and a study of it."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.analysis.judges.made import World


@pytest.fixture(scope="package")
def world() -> World:
    return World.made(queries=36, results=40)


@pytest.fixture(scope="package")
def study(world: World) -> pd.DataFrame:
    return world.study(8)
