"""relstudy sample --next --judge: a further round where a judge leaves most open."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.sampling.expected_gain import ExpectedGain
from relstudy.studyapp.sampling.further_pairs import DrawnStudy, drawn_pairs, extend, sources_of_rounds, taking_part
from relstudy.studyapp.sampling.judge_round import draw_judge_round
from relstudy.studyapp.sampling.next_round import draw_next_round_from
from relstudy.studyapp.sampling.options import JudgeRoundOptions, NextOptions
from relstudy.studyapp.sampling.sampling_design import Design, candidate_probabilities
from tests.commands import relstudy, succeeds

ITEMS, QUERIES = 24, 8
ROUND = ("--next", "--judge", "model", "--paradigm", "text")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Eight of 24 texts as queries, seven results of each judged; a judge of every candidate that is often right."""
    folder = tmp_path_factory.mktemp("study")
    names = [f"i{number:02d}" for number in range(ITEMS)]
    pd.DataFrame({"item_id": names, "kind": "text", "text": names}).to_csv(folder / "collection.csv", index=False)
    random = np.random.default_rng(3)
    pairs = pd.DataFrame([(q, r) for q in names for r in names if q != r], columns=PAIR)
    pairs["truth"] = random.normal(size=len(pairs))
    (folder / "scores").mkdir()
    (folder / "judges").mkdir()
    scores = pairs[PAIR].assign(system="run", score=pairs["truth"] + random.normal(size=len(pairs)))
    scores.to_csv(folder / "scores" / "run.csv", index=False)
    options = ("--systems", "run.csv", "--text-queries", QUERIES, "--results", 7, "--base", 0)
    succeeds("sample", folder, *options)
    taken = pd.read_csv(folder / "pairs.csv").merge(pairs, on=PAIR)
    kept = ["inclusion_probability", "query_probability"]
    taken.assign(judgment=(taken["truth"] > 0.3) * 1.0)[[*PAIR, "judgment", *kept]].to_csv(
        folder / "judgments.csv", index=False
    )
    grade = np.digitize(pairs["truth"] + 0.7 * random.normal(size=len(pairs)), [-0.5, 0.3, 1.0])
    pairs[PAIR].assign(rating=grade).to_csv(folder / "judges" / "model.csv", index=False)
    return folder


@pytest.fixture
def study(drawn, tmp_path):
    """A copy that may be changed."""
    for file in drawn.rglob("*.*"):
        target = tmp_path / file.relative_to(drawn)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes())
    return tmp_path


@pytest.mark.slow
def test_a_round_keeps_the_queries_and_combines_the_probabilities(study):
    before = pd.read_csv(study / "pairs.csv")
    done = succeeds("sample", study, *ROUND, "--pairs", 20, "--aim", "precision_at_0.2", "--json")
    told = json.loads(done.stdout)
    after = pd.read_csv(study / "pairs.csv")
    assert told["round"] == 2 and told["new_pairs"] == len(after) - len(before) and set(told["width"]) == {"run"}
    assert set(after["query_id"]) == set(before["query_id"])
    width = told["width"]["run"]
    assert width["expected"] < width["as_before"] < width["now"]
    this = Design.load(study).rounds[-1]
    assert this.judge == "model" and this.aim == "precision_at_0.2" and this.query_draw == 1
    gain = ExpectedGain.of_last_round(study)
    assert gain.round == 2 and gain.new_pairs == told["new_pairs"] and gain.widths[0].expected == width["expected"]
    # each pair's probability by hand: sizes by level, a fifth to all alike, then both rounds and the choice of queries
    levels = pd.read_csv(study / "rounds" / "round-2.csv")
    (shape,) = this.shapes.values()
    size = 0.8 * np.array(shape.densities)[levels["score"]] + 0.2 / (ITEMS - 1)
    levels["second"] = np.minimum(1, this.results * size)
    first = before.assign(first=before["inclusion_probability"] / (QUERIES / ITEMS))
    both = after.merge(levels, on=PAIR).merge(first[[*PAIR, "first"]], on=PAIR)
    assert len(both) == len(before)
    expected = QUERIES / ITEMS * (1 - (1 - both["first"]) * (1 - both["second"]))
    assert both["inclusion_probability"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)
    # pairs already drawn may be drawn again: the others' probabilities add up to what was asked for
    missed = levels.merge(before[PAIR], on=PAIR, how="left", indicator=True)
    assert missed.loc[missed["_merge"] == "left_only", "second"].sum() == pytest.approx(20, abs=1e-6)
    assert after["query_probability"].eq(QUERIES / ITEMS).all()


@pytest.mark.slow
def test_pairs_come_in_as_often_as_their_probability_says(study):
    options = JudgeRoundOptions(study / "judges" / "model.csv", 12, paradigm="text")
    once = draw_judge_round(study, options)
    once.write_sizes(study)
    design, collection, pairs = once.design, Collection.load(study), drawn_pairs(study / "pairs.csv")
    drawn = DrawnStudy(collection, sources_of_rounds(study, collection, design), design, pairs)
    queries = [collection[name] for name in pairs["query_id"].unique()]
    studies = 25
    again = [extend(drawn, queries, "text", np.random.default_rng(seed)) for seed in range(studies)]
    # the size of a draw has a standard deviation below 2, and the mean of 25 below 0.4
    assert np.mean([each.new for each in again]) == pytest.approx(12, abs=1.6)
    counts = pd.concat([each.pairs[each.pairs["round"] == 2] for each in again]).value_counts(PAIR)
    old = pd.MultiIndex.from_frame(pairs[PAIR])
    often, probability = [], []
    for query in queries:
        chances = candidate_probabilities(
            design.rounds[-1], query, collection, taking_part(design.rounds[-1], drawn.sources)
        )
        for position, p in zip(chances.candidates, chances.probability, strict=True):
            pair = (query.id, collection.ids[position])
            if pair not in old:
                often.append(counts.get(pair, 0))
                probability.append(p)
    often, probability = np.array(often), np.array(probability)
    likely = probability > np.median(probability)
    for part in (likely, ~likely):
        spread = np.sqrt((studies * probability[part] * (1 - probability[part])).sum())
        assert abs(often[part].sum() - studies * probability[part].sum()) < 4 * spread


@pytest.mark.slow
def test_a_second_round_stands_on_the_first_and_a_changed_one_is_refused(study):
    succeeds("sample", study, *ROUND, "--pairs", 5, "--aim", "relevant_share")
    told = succeeds("sample", study, *ROUND, "--pairs", 5, "--preview")
    assert "Round 3, shaped by judge model" in told.output and "Nothing was written" in told.output
    succeeds("sample", study, *ROUND, "--pairs", 5)
    gain = ExpectedGain.of_last_round(study)
    assert gain.round == 3 and (study / "rounds" / "round-3.csv").is_file()
    path = study / "rounds" / "round-2.csv"
    path.write_text(path.read_text().replace(",1\n", ",2\n", 1))
    changed = relstudy("sample", study, *ROUND, "--pairs", 5)
    assert changed.exit_code == 1 and "has changed since round 2" in changed.output


def test_new_queries_after_a_judges_round_are_refused(drawn):
    study = DrawnStudy.load(drawn)
    judged = study.with_round(replace(study.design.rounds[0], number=2, judge="model"))
    judgments = pd.read_csv(drawn / "judgments.csv")
    with pytest.raises(RelstudyError, match="round 2 was shaped by judge model, who knows the drawn queries alone"):
        draw_next_round_from(judged, judgments, {"run": None}, NextOptions(paradigm="text"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--next",), "--next goes with --judge NAME"),
        (("--judge", "model"), "--judge is for a round with --next --judge NAME, and this is a first round"),
        ((*ROUND, "--base", 3), "--base is for a first round, and this is a round with --next --judge NAME"),
        (("--mappings", "."), "--mappings is for a round with --from-mappings, and this is a first round"),
        (("--next", "--judge", "nobody"), "there is no such judge; there are: model"),
        ((*ROUND, "--aim", "beauty"), "there is no such index to aim at; there are: relevant_share"),
        ((*ROUND, "--pairs", 9999), "9999 new pairs are wanted, and only 128 candidates are not drawn yet"),
        (("--next", "--judge", "model"), "round 1 has no queries by image"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(drawn, arguments, sentence):
    done = relstudy("sample", drawn, *arguments)
    assert done.exit_code in (1, 2) and sentence in done.output and "Traceback" not in done.output


def test_a_judge_of_the_judged_pairs_alone_cannot_say_where_to_ask(study):
    judged = pd.read_csv(study / "judgments.csv")[PAIR]
    pd.read_csv(study / "judges" / "model.csv").merge(judged, on=PAIR).to_csv(
        study / "judges" / "model.csv", index=False
    )
    done = relstudy("sample", study, *ROUND)
    assert done.exit_code == 1 and "was given the judged pairs alone" in done.output
