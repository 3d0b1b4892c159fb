"""GIFT and colour histograms: palette, filters, inverted file."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from relstudy.studyapp.systems import make
from relstudy.studyapp.systems.colour import COLOURS as PALETTE
from relstudy.studyapp.systems.colour import hsv, palette_index
from relstudy.studyapp.systems.gabor import gabor_energy
from relstudy.studyapp.systems.gift import BANDS, InvertedFile, _bands, gift_features
from tests.studyapp.systems.pictures import COLOURS, TEXTURES, in_colour, stripes


@pytest.mark.slow
def test_gift_is_the_mean_of_its_two_halves(scenes):
    whole, colour, texture = (
        make(name).fit(scenes).score(scenes.items[0]) for name in ("gift", "gift-colour", "gift-texture")
    )
    np.testing.assert_allclose(whole, (colour + texture) / 2, rtol=1e-12)


def test_the_palette_has_162_colours_and_four_greys():
    grid = np.stack(np.meshgrid(*[np.arange(0, 256, 5, dtype=np.uint8)] * 3), axis=-1).reshape(-1, 3)
    index = palette_index(grid)
    assert index.min() == 0 and index.max() == PALETTE - 1 == 165
    greys = palette_index(np.repeat(np.array([[10], [90], [150], [250]], dtype=np.uint8), 3, axis=1))
    assert greys.tolist() == [162, 163, 164, 165]


def test_what_is_nearly_black_is_a_grey_whatever_its_hue():
    dark = np.array([[12, 0, 0], [0, 15, 3], [0, 0, 18]], dtype=np.uint8)
    assert palette_index(dark).tolist() == [162, 162, 162]
    assert (palette_index(dark * 3) < 162).all()


@pytest.mark.slow
@given(st.tuples(*[st.integers(0, 255)] * 3))
@settings(max_examples=200)
def test_hue_saturation_and_value_are_those_of_the_standard_library(pixel):
    import colorsys

    expected = colorsys.rgb_to_hsv(*(channel / 255 for channel in pixel))
    found = [float(channel) for channel in hsv(np.array(pixel, dtype=np.uint8))]
    # float32 against float64; hue is a circle
    assert min(abs(found[0] - expected[0]), 1 - abs(found[0] - expected[0])) < 1e-5
    assert found[1:] == pytest.approx(expected[1:], abs=1e-6)


def test_mode_colours_are_the_most_frequent_of_each_block():
    pixels = np.zeros((256, 256, 3), dtype=np.uint8)
    pixels[:, :, 0] = 255
    pixels[:16, :9] = (0, 0, 255)
    modes = gift_features(pixels)["modes"]
    red, blue = palette_index(np.array([[255, 0, 0], [0, 0, 255]], dtype=np.uint8))
    assert len(modes) == 256 + 64 + 16 + 4
    assert modes[0] == blue and (modes[1:] == red).all()


@pytest.mark.parametrize(("step", "angle"), [(step, step * np.pi / 4) for step in range(4)])
@pytest.mark.parametrize(("scale", "period"), [(0, 4.0), (1, 8.0), (2, 16.0)])
def test_a_grating_excites_the_filter_of_its_scale_and_orientation_most(step, angle, scale, period):
    energy = gabor_energy(0.5 + 0.2 * stripes(angle, period)).mean(axis=(1, 2))
    assert energy.argmax() == scale * 4 + step


def test_the_filters_are_the_formula_of_the_paper_less_its_response_to_plain_brightness():
    from relstudy.studyapp.systems.gabor import MARGIN, SIGMA_TIMES_FREQUENCY

    impulse = np.zeros((96, 96))
    impulse[48, 48] = 1.0
    energy = gabor_energy(impulse)
    rows, columns = np.mgrid[-48:48, -48:48]
    for scale, frequency in enumerate((0.25, 0.125)):
        sigma = SIGMA_TIMES_FREQUENCY / frequency
        bell = np.exp(-(rows**2 + columns**2) / (2 * sigma**2)) / (2 * np.pi * sigma**2)
        kernel = bell * np.cos(2 * np.pi * frequency * columns) - bell * np.exp(-2 * (np.pi * sigma * frequency) ** 2)
        # ours has nothing above half a cycle per pixel, where the sampled formula folds 3.5 standard deviations back
        inner = slice(MARGIN, -MARGIN)
        assert abs(energy[scale * 4][inner, inner] - kernel[inner, inner] ** 2).max() < 1e-3 * kernel.max() ** 2


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_inverted_file_equals_the_sum_over_all_features(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, size=(9, 6))
    query = codes[rng.integers(9)]
    weights = np.log(9 / np.maximum([(codes[:, slot] == query[slot]).sum() for slot in range(6)], 1)) ** 2
    expected = ((codes == query) * weights).sum(axis=1) / weights.sum() if weights.sum() else np.zeros(9)
    np.testing.assert_allclose(InvertedFile(codes, 4).score(query), expected, atol=1e-12)


def test_a_feature_that_every_picture_has_counts_nothing():
    codes = np.array([[0, 1], [0, 2], [0, 1]])
    assert InvertedFile(codes, 3).score(np.array([0, 2])).tolist() == [0.0, 1.0, 0.0]


def test_texture_bands_hold_equal_shares_of_the_collection():
    energy = np.random.default_rng(0).lognormal(size=(200, 12 * 256)).astype(np.float32)
    shares = np.bincount(_bands(energy).ravel(), minlength=BANDS) / energy.size
    np.testing.assert_allclose(shares, 1 / BANDS, atol=1e-3)


def test_the_features_of_gift_lie_where_the_picture_has_them():
    striped = in_colour("red", TEXTURES["across"](), contrast=120)
    pixels = np.where((np.arange(192) < 96)[None, :, None], striped, in_colour("blue", None))
    found = gift_features(pixels)
    square = np.asarray(Image.fromarray(pixels).resize((256, 256), Image.Resampling.BILINEAR))
    np.testing.assert_allclose(
        found["histogram"], np.bincount(palette_index(square).ravel(), minlength=PALETTE) / 256**2
    )
    energy = found["energy"].reshape(12, 16, 16)
    # stretched to 256 pixels the stripes have a period of 5.3 and lie in the left half; filters 0 to 3 are the finest
    assert (energy[0][:, 1:7].min() > 20 * energy[0][:, 9:15].max()) and energy[0].sum() > 5 * energy[1:4].sum(
        axis=(1, 2)
    ).max()
    blue = palette_index(np.array([COLOURS["blue"]], dtype=np.uint8))[0]
    modes = found["modes"]
    # 16 x 16 blocks of 16 pixels, then 8 x 8 of 32, 4 x 4 of 64 and 2 x 2 of 128, row by row
    for start, across in ((0, 16), (256, 8), (320, 4), (336, 2)):
        level = modes[start : start + across**2].reshape(across, across)
        assert (level[:, across // 2 :] == blue).all() and (level[:, : across // 2] != blue).all()


@pytest.mark.slow
def test_the_score_of_gift_is_the_mean_of_its_likenesses_written_out(scenes):
    features = [gift_features(np.asarray(scenes.picture(place))) for place in range(len(scenes))]
    bands = _bands(np.array([each["energy"] for each in features])).reshape(len(scenes), 12, 256)
    # how often each band occurs in each filter, as a share of all blocks and filters
    textures = np.array([[[(own == band).mean() / 12 for band in range(BANDS)] for own in each] for each in bands])
    colours = np.array([each["histogram"] for each in features])
    modes = np.array([each["modes"] for each in features], dtype=np.int64)
    codes = bands.reshape(len(scenes), -1).astype(np.int64)
    system = make("gift").fit(scenes)
    for row in (0, 5):
        expected = (
            np.minimum(colours, colours[row]).sum(axis=1)
            + InvertedFile(modes, PALETTE).score(modes[row])
            + np.minimum(textures, textures[row]).sum(axis=(1, 2))
            + InvertedFile(codes, BANDS).score(codes[row])
        ) / 4
        # histograms are kept in single precision
        np.testing.assert_allclose(system.score(scenes.items[row]), expected, atol=1e-5)
