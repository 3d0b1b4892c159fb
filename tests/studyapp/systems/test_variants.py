"""The variants that follow the sources to the letter, each against its formula written out."""

import numpy as np
import pytest
from scipy.stats import norm

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems import make
from relstudy.studyapp.systems.concepts import FOLDS, SUBSETS, ConceptModel
from relstudy.studyapp.systems.gift import frequency_weights, shared_share
from relstudy.studyapp.systems.simplicity import zone_chi_square
from tests.studyapp.systems.pictures import COLOURS, TEXTURES, collection_of, in_colour


@pytest.fixture(scope="module")
def halves(tmp_path_factory):
    """Twelve pictures of two colours each, left and right or above and below, with the colours as keywords."""
    rows, columns = np.mgrid[:128, :192]
    made, words = {}, {}
    for one in COLOURS:
        for other in COLOURS:
            for form, mask in (("side", columns < 96), ("above", rows < 64)):
                if one != other:
                    texture = TEXTURES["across"]() if form == "side" else None
                    name = f"{one}-{other}-{form}"
                    made[name] = np.where(mask[..., None], in_colour(one, texture), in_colour(other, None))
                    words[name] = f"{one} {other}"
    return collection_of(tmp_path_factory.mktemp("halves"), made, words)


def likelihood(model, mixture, regions):
    """log of Eq. 3.4: the product over regions of the sum over concepts of P(region | l) P(l | d)."""
    total = 0.0
    for region in regions:
        given = norm.pdf(region, model.mean, np.sqrt(model.variance)).prod(axis=1)
        total += np.log((given * mixture).sum())
    return total


@pytest.mark.slow
@pytest.mark.parametrize("name", ["romm-all", "rwmm-all"])
def test_the_likelihood_variant_is_equation_3_4_itself_and_orders_a_query_as_the_ratio_does(halves, name):
    ratio, plain = make(name).fit(halves), make(f"{name}-likelihood").fit(halves)
    for row in (0, 7):
        regions = plain._blobs.regions[plain._blobs.picture == row]
        expected = [likelihood(plain._models[0], mixture, regions) for mixture in plain._mixtures[0]]
        scores = plain.score(halves.items[row])
        np.testing.assert_allclose(scores, expected, rtol=1e-9)
        # they differ by a factor and a constant of the query
        slope, shift = len(regions), scores[0] - len(regions) * ratio.score(halves.items[row])[0]
        np.testing.assert_allclose(scores, slope * ratio.score(halves.items[row]) + shift, rtol=1e-7, atol=1e-7)


@pytest.mark.slow
def test_romm_calib_scores_each_candidate_by_the_model_of_its_own_part(halves, monkeypatch):
    trained = []
    train = ConceptModel.train.__func__

    def spy(cls, blobs):
        trained.append((blobs.pictures, blobs.words))
        return train(cls, blobs)

    monkeypatch.setattr(ConceptModel, "train", classmethod(spy))
    system = make("romm-calib-likelihood").fit(halves)
    assert trained == [(3, 0)] * SUBSETS, "parts of equal size, without words"
    regions = system._blobs.regions[system._blobs.picture == 2]
    part = system._part
    expected = [likelihood(system._models[part[d]], system._mixtures[part[d]][d], regions) for d in range(len(halves))]
    np.testing.assert_allclose(system.score(halves.items[2]), expected, rtol=1e-9)
    with pytest.raises(RelstudyError, match="at least 8 pictures"):
        make("romm-calib").fit(Collection(halves.items[:7]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["annotation-all", "annotation-test"])
def test_predicted_words_are_a_distribution_and_a_query_is_scored_by_their_lift(halves, name):
    system = make(name).fit(halves)
    # a sum of floats over six words: rounding only
    np.testing.assert_allclose(system.predicted.sum(axis=1), 1, rtol=1e-12)
    query = Item("q", "text", text="", keywords=frozenset({"red", "blue", "nothing"}))
    red, blue = (system.predicted[:, system._vocabulary[word]] for word in ("red", "blue"))
    expected = (np.log(red / red.mean()) + np.log(blue / blue.mean())) / 2
    np.testing.assert_allclose(system.score(query), expected, rtol=1e-12)
    assert system.score(Item("q", "text", text="", keywords=frozenset({"nothing"}))) is None
    if name == "annotation-all":
        # whatever the picture's own keywords say: a collection without them predicts from regions alone
        has_red = np.array(["red" in item.keywords for item in halves])
        scores = system.score(Item("q", "text", text="", keywords=frozenset({"red"})))
        assert scores[has_red].min() > scores[~has_red].max()


@pytest.mark.slow
def test_the_words_of_a_held_out_picture_do_not_bear_on_its_annotation(halves):
    before = make("annotation-test").fit(halves)
    changed = [
        Item(item.id, "image", path=item.path, keywords=frozenset({"green"}) if row == 4 else item.keywords)
        for row, item in enumerate(halves)
    ]
    after = make("annotation-test").fit(Collection(changed))
    np.testing.assert_allclose(after.predicted[4], before.predicted[4], rtol=1e-12)
    assert FOLDS == 3


def test_chi_square_is_the_formula_over_sixteen_zones():
    rng = np.random.default_rng(5)
    down, across, labels = rng.random(400), rng.random(400), rng.integers(0, 3, 400)
    found = zone_chi_square(labels, down, across)
    for region in range(3):
        inside = labels == region
        total = 0.0
        for row in range(4):
            for column in range(4):
                zone = (down >= row / 4) & (down < (row + 1) / 4) & (across >= column / 4) & (across < (column + 1) / 4)
                total += ((zone & inside).sum() / inside.sum() - 1 / 16) ** 2 / (1 / 16)
        assert found[region] == pytest.approx(total)


@pytest.mark.slow
def test_classes_set_textures_apart_and_location_tells_left_from_right(tmp_path):
    rows, columns = np.mgrid[:128, :192]
    checks = ((rows // 8 + columns // 8) % 2 == 0)[..., None]
    left = (columns < 96)[..., None]
    red, blue, green = (in_colour(name, None) for name in ("red", "blue", "green"))
    made = {
        "checks": np.where(checks, red, blue),
        "more-checks": np.where(checks, blue, red),
        "left": np.where(left, red, blue),
        "right": np.where(left, blue, red),
        "green-left": np.where(left, red, green),
    }
    collection = collection_of(tmp_path, made)
    system = make("simplicity-classes").fit(collection)
    assert system.textured.tolist() == [True, True, False, False, False]
    by_classes = dict(zip(made, system.score(collection["left"]), strict=True))
    plain = dict(zip(made, make("simplicity").fit(collection).score(collection["left"]), strict=True))
    assert plain["right"] == pytest.approx(0, abs=1e-6), "the same regions, elsewhere"
    assert by_classes["left"] == pytest.approx(0, abs=1e-6) and by_classes["right"] < -1
    assert plain["checks"] > plain["green-left"]
    assert max(by_classes["checks"], by_classes["more-checks"]) < by_classes["green-left"], "the other class comes last"


def test_weights_by_frequency_are_those_written_out():
    rng = np.random.default_rng(3)
    histogram = rng.random((6, 5)) * (rng.random((6, 5)) < 0.6)
    histogram[:, 4] = rng.random(6) + 0.1
    weights = frequency_weights(histogram)
    assert weights[4] == 0, "what every picture has says nothing"
    query = histogram[np.argmax(histogram @ weights)]
    found = shared_share(histogram, query, weights)
    for row in range(6):
        shared = total = 0.0
        for feature in range(5):
            having = sum(histogram[each, feature] > 0 for each in range(6))
            weight = np.log(6 / having) ** 2 if having else 0.0
            shared += min(query[feature], histogram[row, feature]) * weight
            total += query[feature] * weight
        assert found[row] == pytest.approx(shared / total)
