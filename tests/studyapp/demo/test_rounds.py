"""A second round on the demo panel (Shirahatti and Barnard 2005, section 5.4): even responses, right weights."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from relstudy.calibration.reliability.scale_use import uniformity_table
from relstudy.common.tables.formats.table_files import write_table
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
from relstudy.studyapp.demo.pipeline import score_file
from relstudy.studyapp.demo.show import run_command
from relstudy.studyapp.example_pictures.collection import make_collection

pytestmark = pytest.mark.slow

IDS = {"pair_id": str, "query_id": str, "result_id": str}
SYSTEMS = ("keywords", "eye")


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """Panel and pairs after one round by rank and one by predicted responses, the panel rating without pages."""
    folder = tmp_path_factory.mktemp("rounds")
    collection = make_collection(320, seed=0)
    panel = SimulatedPanel(draw_raters(12, seed=0), collection, seed=0)
    _write_unpainted(collection, folder)
    size = ["--queries", "100", "--results", "20"]
    systems = f"keywords,{folder / 'scores' / 'eye.csv'}"
    run_command("sample", str(folder), "--systems", systems, *size, "--base", "60")
    write_table(panel.rate(pd.read_csv(folder / "pairs.csv", dtype=IDS), 2), folder / "ratings.csv")
    tables = ["-o", str(folder), "--pairs", str(folder / "pairs.csv"), "--handed-out", "random"]
    run_command("calibrate", str(folder / "ratings.csv"), *tables)
    for name in SYSTEMS:
        judgments = ["--judgments", str(folder / "judgments.csv"), "-o", str(folder / "mappings")]
        run_command("fit", str(score_file(folder, name)), *judgments, "--method", "isotonic")
    run_command("sample", str(folder), "--from-mappings", *size, "--seed", "1")
    return panel, pd.read_csv(folder / "pairs.csv", dtype=IDS)


def _write_unpainted(collection, folder):
    """The collection with one dot for every picture, since nobody looks here, and a system that saw them dimly."""
    (folder / "pictures").mkdir()
    Image.new("RGB", (1, 1)).save(folder / "pictures" / "dot.jpg")
    for path in collection.items["path"]:
        (folder / path).hardlink_to(folder / "pictures" / "dot.jpg")
    write_table(collection.items, folder / "collection.csv")
    ids = collection.items["item_id"].to_numpy()
    query, result = np.nonzero(~np.eye(len(ids), dtype=bool))
    # Noise of three times the truth's spread: a correlation of about .32 with it, as colours have.
    noise = np.random.default_rng(11).normal(scale=3 * collection.truth.std(), size=collection.truth.shape)
    scores = {"system": "eye", "query_id": ids[query], "result_id": ids[result]}
    (folder / "scores").mkdir()
    write_table(
        pd.DataFrame({**scores, "score": (collection.truth + noise)[query, result]}), folder / "scores" / "eye.csv"
    )


def test_one_iteration_brings_the_uniformity_error_below_005(rounds):
    panel, pairs = rounds
    ratings = panel.rate(pairs, 2).merge(pairs[["pair_id", "source", "round"]], on="pair_id")
    table = uniformity_table(ratings, [1, 2, 3, 4, 5]).set_index(["round", "source"])
    before, after = table.loc[(1, "all"), "error"], table.loc[(2, "all"), "error"]
    assert before > 0.10
    assert after < 0.05
    # Each category is used by a tenth at least; in the first round good matches are rarer than that.
    assert table.loc[(2, "all"), [f"share_{value}" for value in range(1, 6)]].min() > 0.10


def test_weights_of_both_rounds_together_stand_for_the_whole_collection(rounds):
    panel, pairs = rounds
    weight = 1 / pairs["inclusion_probability"].to_numpy()
    # The weights add up to the number of pairs; pairs of one query come together, 20 to 40 of them, so the sum
    # scatters.
    assert weight.sum() == pytest.approx(320 * 319, rel=0.15)
    relevance = panel.collection.relevance(list(pairs["query_id"]), list(pairs["result_id"]))
    whole = panel.collection.truth[~np.eye(320, dtype=bool)]
    good = panel.consensus(relevance) > 3
    assert np.average(good, weights=weight) == pytest.approx((panel.consensus(whole) > 3).mean(), rel=0.15)
    # Without weights the shaped sample says several times too much.
    assert good.mean() > 4 * (panel.consensus(whole) > 3).mean()
