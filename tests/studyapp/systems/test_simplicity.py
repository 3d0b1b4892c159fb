"""SIMPLIcity: regions of a picture, and how alike they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.studyapp.systems.concepts import normalised_cut, segment_features
from relstudy.studyapp.systems.simplicity import block_features, integrated_region_matching, region_distances, regions
from tests.studyapp.systems.pictures import COLOURS


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_integrated_region_matching_equals_the_greedy_loop_of_its_paper(seed):
    rng = np.random.default_rng(seed)
    ours, theirs, number = 3, 4, 5
    distance = rng.random((number, ours, theirs))
    query_area = rng.dirichlet(np.ones(ours))
    area = rng.dirichlet(np.ones(theirs), size=number)
    expected = []
    for picture in range(number):
        left, right, total = query_area.copy(), area[picture].copy(), 0.0
        for place in np.argsort(distance[picture], axis=None):
            i, j = divmod(int(place), theirs)
            matched = min(left[i], right[j])
            left[i] -= matched
            right[j] -= matched
            total += matched * distance[picture, i, j]
        expected.append(total)
    np.testing.assert_allclose(integrated_region_matching(distance, query_area, area), expected, rtol=1e-9)


def test_two_halves_of_different_colour_are_two_regions_of_equal_area():
    pixels = np.concatenate([np.full((64, 64, 3), 30), np.full((64, 64, 3), 220)], axis=1).astype(np.uint8)
    found = regions(pixels)
    np.testing.assert_allclose(np.sort(found["area"])[-3:], [0, 0.5, 0.5])
    assert found["area"].sum() == pytest.approx(1)


def test_there_are_as_many_regions_as_it_takes_to_explain_the_picture():
    thirds = np.zeros((60, 120, 3), dtype=np.uint8)
    for place, colour in enumerate(((220, 30, 30), (30, 200, 40), (40, 40, 230))):
        thirds[:, 40 * place : 40 * (place + 1)] = colour
    found = regions(thirds)
    np.testing.assert_allclose(np.sort(found["area"])[::-1], [1 / 3, 1 / 3, 1 / 3, 0, 0, 0, 0, 0], atol=1e-6)


def test_the_shape_of_a_disc_is_one_in_every_order():
    rows, columns = np.mgrid[:160, :160]
    disc = (rows - 80) ** 2 + (columns - 80) ** 2 < 60**2
    found = regions(np.where(disc[..., None], (230, 40, 40), (20, 20, 20)).astype(np.uint8))
    inside = np.argmin(abs(found["area"] - disc.mean()))
    # blocks of four pixels make the rim of thirty across a little rough
    np.testing.assert_allclose(found["shape"][inside], 1, atol=0.03)


def test_wavelet_bands_tell_the_direction_of_fine_stripes():
    lines = np.zeros((32, 32, 3), dtype=np.uint8)
    lines[::2] = 255
    flat, _ = block_features(np.full((32, 32, 3), 90, dtype=np.uint8))
    horizontal, shape = block_features(lines)
    vertical, _ = block_features(lines.transpose(1, 0, 2))
    assert shape == (8, 8)
    assert abs(flat[:, 3:]).max() < 1e-9
    assert (horizontal[:, 3] > 10).all() and abs(horizontal[:, 4:]).max() < 1e-6
    assert (vertical[:, 4] > 10).all() and abs(vertical[:, [3, 5]]).max() < 1e-6


def test_normalised_cut_separates_two_colours():
    lab = np.zeros((64, 96, 3))
    lab[:, :48] = (30, 40, 0)
    lab[:, 48:] = (80, -40, 20)
    labels = normalised_cut(lab)
    assert not set(np.unique(labels[:, :44])) & set(np.unique(labels[:, 52:]))


def test_a_region_is_described_by_its_size_place_and_colour():
    from skimage.color import rgb2lab

    pixels = np.zeros((64, 96, 3), dtype=np.uint8)
    pixels[:, :24], pixels[:, 24:] = COLOURS["red"], COLOURS["blue"]
    pixels[:32] = (240, 240, 240)
    lab = rgb2lab(pixels)
    labels = normalised_cut(lab)
    found = segment_features(pixels)
    number = labels.max()
    assert (found["area"] > 0).sum() == number >= 3 and found["area"].sum() == pytest.approx(1)
    for region in range(number):
        inside = labels == region + 1
        rows, columns = np.nonzero(inside)
        place = [inside.mean(), rows.mean() / 64, columns.mean() / 96]
        expected = [*place, *lab[inside].mean(axis=0), *lab[inside].std(axis=0)]
        np.testing.assert_allclose(found["features"][region, :9], expected, rtol=1e-4, atol=1e-4)


def test_simplicity_describes_a_block_by_its_mean_in_luv():
    from skimage.color import rgb2luv

    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, size=(12, 20, 3), dtype=np.uint8)
    features, (down, across) = block_features(pixels)
    assert (down, across) == (3, 5)
    luv = rgb2luv(pixels)
    for block in range(15):
        row, column = divmod(block, 5)
        own = luv[4 * row : 4 * row + 4, 4 * column : 4 * column + 4].reshape(16, 3)
        np.testing.assert_allclose(features[block, :3], own.mean(axis=0))


def test_alike_shapes_bring_regions_of_different_colour_nearer():
    features = np.array([[[1.0, 0, 0, 0, 0, 0]]])
    query = np.zeros((1, 6))
    for apart, damped in ((0.0, 0.5), (0.5, 0.85), (0.8, 1.0)):
        shape = np.array([[[apart, 0, 0]]])
        assert region_distances(features, shape, query, np.zeros((1, 3)))[0, 0, 0] == damped
