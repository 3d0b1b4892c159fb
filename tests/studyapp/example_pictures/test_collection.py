"""Example pictures: various, with graded truth that words and colours only partly reveal."""

import numpy as np
import pytest
from PIL import Image
from scipy.stats import spearmanr

from relstudy.common.tables.formats.table_files import read_table
from relstudy.studyapp.example_pictures.collection import make_collection, write_collection
from relstudy.studyapp.example_pictures.truth import HOURS, PLACES, WISHES, closeness, to_scale, wish_closeness
from scripts.painting.latent import draw_scenes, keywords
from scripts.painting.scenes import paint

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def collection():
    return make_collection(320, seed=0, wishes=len(WISHES))


def off_diagonal(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


def words(collection):
    return [set(text.split(";")) for text in collection.items["keywords"][: len(collection.scenes)]]


def test_the_pictures_are_what_was_painted(tmp_path):
    """As webp of quality 60 a picture is 3 to 5 of 255 off; another scene's is some 50."""
    made = make_collection(1000)
    assert list(made.scenes) == draw_scenes(1000, seed=0)
    assert made.items["keywords"].tolist() == [";".join(keywords(scene)) for scene in made.scenes]
    write_collection(make_collection(3), tmp_path)
    for number, scene in enumerate(made.scenes[:3], start=1):
        with Image.open(tmp_path / "pictures" / f"pic{number:04d}.webp") as written:
            apart = np.abs(np.asarray(written.convert("RGB"), float) - np.asarray(paint(scene), float))
        assert apart.mean() < 8


def test_another_seed_chooses_other_pictures_and_there_are_a_thousand():
    assert make_collection(20, seed=1).files != make_collection(20, seed=2).files
    assert len(set(make_collection(1000, seed=5).files)) == 1000
    with pytest.raises(ValueError, match="1,000 example pictures, not 1,001"):
        make_collection(1001)


def test_a_larger_collection_begins_with_the_smaller_one():
    small, large = make_collection(20, seed=3), make_collection(50, seed=3)
    assert small.scenes == large.scenes[:20]
    assert small.items.equals(large.items.head(20))
    np.testing.assert_allclose(small.truth, large.truth[:20, :20])


@pytest.mark.parametrize("place", PLACES)
def test_every_place_can_be_painted_at_every_hour_without_a_flat_or_broken_picture(place):
    scenes = draw_scenes(1500, seed=1)
    for hour in HOURS:
        scene = next(scene for scene in scenes if scene.place == place and scene.hour == hour)
        with np.errstate(all="raise", under="ignore"):
            picture = paint(scene, 192, 128)
        pixels = np.asarray(picture.convert("L"), dtype=float)
        assert picture.size == (192, 128)
        # A picture in which something can be seen has contrast, and more than a few shades.
        assert pixels.std() > 6
        assert len(np.unique(pixels)) > 40


def test_all_places_and_hours_occur_in_a_default_collection(collection):
    assert {scene.place for scene in collection.scenes} == set(PLACES)
    assert {scene.hour for scene in collection.scenes} == set(HOURS)


def test_truth_is_symmetric_between_pictures_stays_on_the_scale_and_is_highest_for_the_picture_itself(collection):
    count = len(collection.scenes)
    square = collection.truth[:count]
    np.testing.assert_allclose(square, square.T)
    assert square.min() >= 1
    assert square.max() <= 5
    assert (np.diag(square) >= square.max(axis=1) - 1e-9).all()


def test_most_pairs_are_poor_matches_and_a_few_in_a_hundred_are_good(collection):
    values = off_diagonal(collection.truth[: len(collection.scenes)])
    assert 0.02 < (values > 3).mean() < 0.10
    assert np.median(values) < 1.5
    # Graded, not all or nothing: each tenth of the upper scale is in use.
    counts, _ = np.histogram(values, bins=np.linspace(2, 5, 11))
    assert (counts > 50).all()


def test_every_picture_has_a_good_match(collection):
    square = collection.truth[: len(collection.scenes)].copy()
    np.fill_diagonal(square, 0)
    assert (square.max(axis=1) > 3).mean() > 0.97


def test_each_latent_part_raises_the_truth_on_its_own():
    scenes = draw_scenes(400, seed=2)
    near = closeness(scenes)
    same_place = np.array([[a.place == b.place for b in scenes] for a in scenes])
    same_hour = np.array([[a.hour == b.hour for b in scenes] for a in scenes])
    same_subject = np.array([[bool(a.subject) and a.subject == b.subject for b in scenes] for a in scenes])
    off = ~np.eye(400, dtype=bool)
    assert near[off & same_subject].mean() > near[off & same_place & ~same_subject].mean()
    assert near[off & same_place].mean() > near[off & ~same_place].mean() + 0.2
    assert near[off & same_place & same_hour].mean() > near[off & same_place & ~same_hour].mean() + 0.05


def test_keywords_and_colours_each_reveal_only_a_part_of_the_truth(collection):
    count = len(collection.scenes)
    sets = words(collection)
    overlap = np.array([[len(a & b) / min(len(a), len(b)) for b in sets] for a in sets])
    thumbs = np.array(
        [np.asarray(paint(scene, 96, 64).resize((6, 4))).ravel() for scene in collection.scenes[:120]], float
    )
    likeness = -np.abs(thumbs[:, None] - thumbs[None]).mean(axis=2)
    truth = collection.truth[:count]
    by_words = np.corrcoef(off_diagonal(overlap), off_diagonal(truth))[0, 1]
    by_colour = np.corrcoef(off_diagonal(likeness), off_diagonal(truth[:120, :120]))[0, 1]
    assert 0.3 < by_words < 0.7
    assert 0.05 < by_colour < 0.5


def test_titles_do_not_give_relevance_away(collection):
    titles = collection.items["title"][: len(collection.scenes)]
    numbers = titles.str.extract(r"^Picture (\d+)$")[0].astype(float).to_numpy()
    assert np.isfinite(numbers).all()
    apart = -np.abs(numbers[:, None] - numbers[None])
    truth = collection.truth[: len(collection.scenes)]
    # 0.02: about six standard errors of a correlation over 100,000 pairs of which 320 pictures are independent.
    assert abs(spearmanr(off_diagonal(apart), off_diagonal(truth)).statistic) < 0.02


def test_a_text_query_is_answered_best_by_pictures_that_show_what_it_asks_for(collection):
    near = wish_closeness(WISHES, collection.scenes)
    for wish, row in zip(WISHES, near, strict=True):
        best = collection.scenes[int(np.argmax(row))]
        assert wish.thing is None or wish.thing in best.things, wish.text
        assert wish.place is None or best.place == wish.place or wish.thing is not None, wish.text
    relevant = (to_scale(near) > 3).sum(axis=1)
    assert (relevant >= 3).all()
    assert (relevant <= 80).all()


def test_relevance_looks_pairs_up_by_their_ids(collection):
    values = collection.relevance(["pic0003", "text02"], ["pic0010", "pic0001"])
    assert values.tolist() == [collection.truth[2, 9], collection.truth[len(collection.scenes) + 1, 0]]


def test_the_written_collection_reads_back_as_it_was_made(tmp_path):
    small = make_collection(18, seed=4, wishes=2)
    counts = []
    write_collection(small, tmp_path, done=counts.append)
    table = read_table(tmp_path / "collection.csv", "item_id", "kind", "path", "keywords").frame
    assert sum(counts) == 18
    assert table["item_id"].tolist() == small.query_ids
    for path in table["path"][:18]:
        with Image.open(tmp_path / path) as picture:
            assert picture.format == "WEBP"
            assert picture.size == (384, 256)
