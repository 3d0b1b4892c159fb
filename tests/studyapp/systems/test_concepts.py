"""Concept models of regions and words: what EM finds, and Eq. 3.4."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems import make
from relstudy.studyapp.systems.concepts import Blobs, ConceptModel


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
    model = ConceptModel.train(blobs, concepts=2)
    order = model.mean[:, 0].argsort()
    # 60 regions each with standard deviation 0.3: standard error 0.04
    np.testing.assert_allclose(model.mean[order], [[-2, -2], [2, 2]], atol=0.16)
    assert (model.word[order].argmax(axis=1) == [0, 1]).all() and model.word.max(axis=1).min() > 0.95
    mixture = model.mixtures(blobs)
    np.testing.assert_allclose(mixture.sum(axis=1), 1)
    assert (mixture.argmax(axis=1) == order[np.arange(40) % 2]).all()


def test_words_tell_the_concepts_of_a_picture_as_its_regions_do():
    blobs = two_kinds_of_pictures(words=True)
    model = ConceptModel.train(blobs, concepts=2)
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

    values = [log_likelihood(ConceptModel.train(blobs, 4, rounds=rounds)) for rounds in (0, 2, 10, 30)]
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

    def spy(cls, blobs):
        seen.append(blobs.pictures)
        return train(cls, blobs)

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
