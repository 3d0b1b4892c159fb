"""Systems for pictures, on pictures whose answer is obvious."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems import SYSTEMS, make
from relstudy.studyapp.systems.colour import COLOURS as PALETTE
from relstudy.studyapp.systems.colour import hsv, palette_index
from relstudy.studyapp.systems.concepts import Blobs, ConceptModel
from relstudy.studyapp.systems.gabor import gabor_energy
from relstudy.studyapp.systems.gift import BANDS, Gift, InvertedFile, _bands, gift_features
from relstudy.studyapp.systems.segments import normalised_cut, segment_features
from relstudy.studyapp.systems.simplicity import block_features, integrated_region_matching, region_distances, regions
from tests.studyapp.systems.pictures import COLOURS, TEXTURES, collection_of, coloured_textures, in_colour, stripes

FOR_PICTURES = [name for name in SYSTEMS if name not in ("keywords", "bm25") and not name.startswith("annotation")]


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


# Their lists are put together from several models, whose likelihoods are of different height: a picture that another
# model scores may stand above the query itself.
PUT_TOGETHER = ("romm-calib", "romm-calib-likelihood", "romm-test-likelihood", "rwmm-test-likelihood")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FOR_PICTURES if name not in PUT_TOGETHER])
def test_a_picture_matches_itself_best(name, scenes):
    system = make(name).fit(scenes)
    for place, item in enumerate(scenes):
        scores = system.score(item)
        assert scores.shape == (len(scenes),) and np.isfinite(scores).all()
        assert scores[place] >= scores.max() - 1e-9, item.id


@pytest.mark.parametrize("name", ["colour", "gift-colour"])
def test_colour_alone_ignores_texture(name, textures):
    scores = make(name).fit(textures).score(textures["red-across"])
    by_id = dict(zip(textures.ids, scores, strict=True))
    for texture in TEXTURES:
        for other in ("green", "blue"):
            assert by_id[f"red-{texture}"] > by_id[f"{other}-across"]


@pytest.mark.slow
def test_texture_alone_ignores_colour(textures):
    scores = make("gift-texture").fit(textures).score(textures["red-across"])
    by_id = dict(zip(textures.ids, scores, strict=True))
    for other in ("green", "blue"):
        for texture in ("down", "coarse"):
            assert by_id[f"{other}-across"] > by_id[f"red-{texture}"]


@pytest.mark.slow
def test_gift_is_the_mean_of_its_two_halves(scenes):
    whole, colour, texture = (
        make(name).fit(scenes).score(scenes.items[0]) for name in ("gift", "gift-colour", "gift-texture")
    )
    np.testing.assert_allclose(whole, (colour + texture) / 2, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FOR_PICTURES if name != "colour"])
def test_picture_systems_leave_texts_unscored_and_texts_unanswered(name, scenes):
    mixed = Collection([*scenes.items, Item("q", "text", text="red", role="query")])
    system = make(name).fit(mixed)
    assert system.score(mixed["q"]) is None
    scores = system.score(mixed.items[0])
    assert np.isnan(scores[-1]) and np.isfinite(scores[:-1]).all()


@pytest.mark.parametrize("name", FOR_PICTURES)
def test_picture_systems_refuse_a_collection_without_pictures(name):
    with pytest.raises(RelstudyError, match="compares pictures, and the collection has none"):
        make(name).fit(Collection([Item("a", "text", text="x")]))


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


def test_an_unknown_variant_is_named():
    with pytest.raises(RelstudyError, match="no variant 'gift-shape'"):
        Gift("gift-shape")


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


def two_kinds_of_pictures(words: bool) -> Blobs:
    rng = np.random.default_rng(0)
    number = 40
    kind = np.arange(number) % 2
    picture = np.repeat(np.arange(number), 3)
    regions_of = rng.normal(scale=0.3, size=(len(picture), 2)) + np.where(kind[picture] == 0, -2.0, 2.0)[:, None]
    none = np.zeros(0, dtype=np.int64)
    if not words:
        return Blobs(number, regions_of, picture, none, none, 0)
    return Blobs(number, regions_of, picture, kind.astype(np.int64), np.arange(number), 2)


def test_em_finds_the_two_concepts_that_made_the_regions_and_their_words():
    blobs = two_kinds_of_pictures(words=True)
    model = ConceptModel.train(blobs, concepts=2, seed=0)
    order = model.mean[:, 0].argsort()
    # 60 regions each with standard deviation 0.3: standard error 0.04
    np.testing.assert_allclose(model.mean[order], [[-2, -2], [2, 2]], atol=0.16)
    assert (model.word[order].argmax(axis=1) == [0, 1]).all() and model.word.max(axis=1).min() > 0.95
    mixture = model.mixtures(blobs)
    np.testing.assert_allclose(mixture.sum(axis=1), 1)
    assert (mixture.argmax(axis=1) == order[np.arange(40) % 2]).all()


def test_words_tell_the_concepts_of_a_picture_as_its_regions_do():
    blobs = two_kinds_of_pictures(words=True)
    model = ConceptModel.train(blobs, concepts=2, seed=0)
    # one more picture that has words and no regions
    for word in (0, 1):
        more = replace(
            blobs, pictures=41, word=np.r_[blobs.word, [word] * 5], word_picture=np.r_[blobs.word_picture, [40] * 5]
        )
        mixture = model.mixtures(more)[40]
        assert mixture.argmax() == model.word[:, word].argmax() and mixture.max() > 0.9


@pytest.mark.slow
def test_a_held_out_picture_is_known_by_its_regions_and_not_by_its_words(scenes):
    changed = 4
    words = [Item(item.id, "image", path=item.path, keywords=item.keywords) for item in scenes]
    other = next(item.keywords for item in scenes if item.keywords != words[changed].keywords)
    words[changed] = replace(words[changed], keywords=other)
    before, after = (make("rwmm-test").fit(collection) for collection in (scenes, Collection(words)))
    own = before._part[changed]
    for model in {0, 1, 2} - {int(own)}:
        np.testing.assert_array_equal(before._mixtures[model][changed], after._mixtures[model][changed])


def test_each_round_of_em_makes_the_regions_more_likely():
    blobs = two_kinds_of_pictures(words=False)

    def log_likelihood(model):
        mixture = model.mixtures(blobs)
        return np.log((np.exp(model.region_density(blobs.regions)) * mixture[blobs.picture]).sum(axis=1)).sum()

    values = [log_likelihood(ConceptModel.train(blobs, 4, seed=0, rounds=rounds)) for rounds in (0, 2, 10, 30)]
    # the pseudo-counts of the mixtures are not part of this likelihood: a thousandth may be lost to them
    assert all(later >= earlier - 1e-3 * abs(earlier) for earlier, later in pairwise(values))
    assert values[-1] > values[0]


@pytest.mark.slow
def test_query_probability_is_equation_3_4(scenes):
    system = make("romm-all").fit(scenes)
    model, mixture, blobs = system._models[0], system._mixtures[0], system._blobs
    own = blobs.regions[blobs.picture == 2]
    density = np.exp(model.region_density(own))
    expected = [np.log([(density[b] * mixture[d]).sum() for b in range(len(own))]) for d in range(len(scenes))]
    average = np.log(density @ mixture.mean(axis=0))
    np.testing.assert_allclose(
        system.score(scenes.items[2]), [(row - average).mean() for row in expected], rtol=1e-9, atol=1e-9
    )


@pytest.mark.slow
def test_held_out_variants_train_on_neither_query_nor_result(scenes, monkeypatch):
    seen = []
    train = ConceptModel.train.__func__

    def spy(cls, blobs, concepts, seed, rounds=30):
        seen.append(blobs.pictures)
        return train(cls, blobs, concepts, seed, rounds)

    monkeypatch.setattr(ConceptModel, "train", classmethod(spy))
    system = make("romm-test").fit(scenes)
    assert seen == [4, 4, 4]
    fold = system._part
    monkeypatch.setattr(system, "_emission", lambda regions, which: np.full(len(scenes), float(which)))
    used = {row: system.score(item) for row, item in enumerate(scenes)}
    for row, models in used.items():
        assert (models != fold[row]).all() and (models != fold).all()


@pytest.mark.slow
def test_only_the_variants_with_words_learn_from_words_and_they_refuse_to_go_without(textures):
    plain = make("romm-all").fit(textures)
    worded = make("rwmm-all").fit(textures)
    assert plain._blobs.words == 0 and worded._blobs.words == 6
    bare = Collection([Item(item.id, "image", path=item.path) for item in textures])
    with pytest.raises(RelstudyError, match="rwmm-all learns from keywords, and no picture has any"):
        make("rwmm-all").fit(bare)


@pytest.mark.slow
def test_features_are_kept_until_a_picture_changes(tmp_path, monkeypatch):
    import relstudy.studyapp.systems.features as features

    (tmp_path / "collection.csv").write_text("item_id,path\n" + "".join(f"{n},{n}.png\n" for n in "ab"))
    made = collection_of(tmp_path, {"a": in_colour("red", None), "b": in_colour("blue", None)})
    assert len(made) == 2
    calls = []
    work = features._batch
    monkeypatch.setattr(features, "_batch", lambda *given: calls.append(1) or work(*given))
    first = make("gift").fit(Collection.load(tmp_path)).score(Collection.load(tmp_path).items[0])
    again = make("gift-colour").fit(Collection.load(tmp_path))
    assert len(calls) == 1 and first is not None and again is not None
    collection_of(tmp_path, {"a": in_colour("green", TEXTURES["down"]())})
    make("gift").fit(Collection.load(tmp_path))
    assert len(calls) == 2


@pytest.mark.slow
@pytest.mark.parametrize("kept", [b"PK\x03\x04 and no more", b"nothing of the kind", b""])
def test_features_that_cannot_be_read_are_computed_anew(tmp_path, kept):
    (tmp_path / "collection.csv").write_text("item_id,path\n" + "".join(f"{n},{n}.png\n" for n in "ab"))
    collection_of(tmp_path, {"a": in_colour("red", None), "b": in_colour("blue", None)})
    collection = Collection.load(tmp_path)
    expected = make("simplicity").fit(collection).score(collection.items[0])
    (file,) = (tmp_path / "scores" / ".index").glob("*.npz")
    whole = file.read_bytes()
    file.write_bytes(kept)
    np.testing.assert_array_equal(make("simplicity").fit(collection).score(collection.items[0]), expected)
    file.write_bytes(whole[: len(whole) // 2])
    np.testing.assert_array_equal(make("simplicity").fit(collection).score(collection.items[0]), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_PICTURES)
def test_indexing_tells_how_far_it_is(name, scenes):
    told = []

    def progress(items, what, total):
        told.append((what, total, 0))
        for step, item in enumerate(items, start=1):
            yield item
            told[-1] = (what, total, step)

    make(name).fit(scenes, progress)
    assert told
    for what, total, step in told:
        assert what and step == total > 0


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


@pytest.mark.parametrize("name", ["simplicity", "romm-all", "bm25"])
def test_without_the_extra_the_error_names_it(name, scenes, monkeypatch):
    import sys

    for module in ("skimage", "skimage.color", "skimage.segmentation", "skimage.measure", "bm25s"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RelstudyError, match=r"install it with: pip install 'relstudy\[systems\]'"):
        make(name).fit(scenes)
