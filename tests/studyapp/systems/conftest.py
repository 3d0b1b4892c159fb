"""Collections that several modules ask systems about."""

import numpy as np
import pytest

from tests.studyapp.systems.pictures import COLOURS, TEXTURES, collection_of, coloured_textures, in_colour


@pytest.fixture(scope="module")
def textures(tmp_path_factory):
    words = {name: name.replace("-", " ") for name in coloured_textures()}
    return collection_of(tmp_path_factory.mktemp("pictures"), coloured_textures(), words)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """Twelve different pictures: halves and discs of three colours, smooth and striped."""
    rows, columns = np.mgrid[:128, :192]
    disc = (rows - 64) ** 2 + (columns - 96) ** 2 < 45**2
    half = columns < 96
    made = {}
    names = list(COLOURS)
    for number, (one, other) in enumerate((a, b) for a in names for b in names if a != b):
        striped = TEXTURES[list(TEXTURES)[number % 3]]()
        for form, mask in (("disc", disc), ("half", half)):
            ground = in_colour(one, None)
            made[f"{one}-{other}-{form}"] = np.where(mask[..., None], in_colour(other, striped), ground)
    return collection_of(tmp_path_factory.mktemp("scenes"), made, {name: name.replace("-", " ") for name in made})
