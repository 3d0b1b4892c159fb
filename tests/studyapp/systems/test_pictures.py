"""Systems for pictures, on pictures whose answer is obvious."""

from pathlib import Path

import numpy as np
import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems import SYSTEMS, make
from tests.studyapp.systems.pictures import TEXTURES, collection_of, in_colour

FOR_PICTURES = [name for name in SYSTEMS if name not in ("keywords", "bm25") and not name.startswith("annotation")]


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


def test_kept_features_run_no_code_of_whoever_wrote_them(tmp_path):
    import relstudy.studyapp.systems.features as features

    class Runs:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    np.savez(tmp_path / "gift.npz", fingerprint=np.array("same"), colours=np.array([Runs()], dtype=object))
    assert features._read(tmp_path / "gift.npz", "same") is None
    assert not (tmp_path / "ran").exists()


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


@pytest.mark.parametrize("name", ["simplicity", "romm-all", "bm25"])
def test_without_the_extra_the_error_names_it(name, scenes, monkeypatch):
    import sys

    for module in ("skimage", "skimage.color", "skimage.segmentation", "skimage.measure", "bm25s"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RelstudyError, match=r"install it with: pip install 'relstudy\[systems\]'"):
        make(name).fit(scenes)
