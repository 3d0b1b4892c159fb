"""The report of a study: what it says, what it computes, what it refuses."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import itertools
import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from relstudy.analysis.commands.report import report
from relstudy.analysis.pipeline import ScoringRun
from relstudy.analysis.report.collection import Items
from relstudy.analysis.report.curve_picture import precision_recall
from relstudy.analysis.report.inputs import PageTables, page_tables
from relstudy.analysis.report.layout import Answer, Examples, Folded, Overview, Page, Paragraph, Picture, Sentences
from relstudy.analysis.report.opening import disagreements_section
from relstudy.analysis.report.pictures import mapping
from relstudy.analysis.report.raters_sections import raters_section
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.report.tables import Table
from relstudy.analysis.report.trust import coverage_sentence
from relstudy.analysis.report.words import system_sentences
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.study_run import read_study_folder, score_study
from relstudy.analysis.verdict.verdict import verdict_of
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.common.tables.formats import table_files as readers
from relstudy.studyapp.cli import main
from tests.analysis.report.pages import page_of, run_of, tables_of
from tests.commands import relstudy
from tests.places import EXAMPLE

pytestmark = pytest.mark.slow

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<svg onload=alert(2)>{{7*7}}$x$"


class Elements(HTMLParser):
    """Every element of a page, with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def of(self, tag: str) -> Iterator[dict[str, str]]:
        return (attributes for name, attributes in self.found if name == tag)


def table_of(page: Page, name: str) -> Table:
    return next(table for table in page.tables() if table.file == name)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A copy of the example, without its fitted mappings, which take longer than the plain one."""
    shutil.copytree(EXAMPLE, tmp_path / "study", ignore=shutil.ignore_patterns("mappings"))
    return tmp_path / "study"


def sentences_of(page: Page) -> Sentences:
    """The one block of sentences about systems, wherever it is folded away."""
    folds = [block for section in page.sections for block in section.blocks if isinstance(block, Folded)]
    return next(block for fold in folds for block in fold.blocks if isinstance(block, Sentences))


def test_the_page_stands_alone(html: str) -> None:
    elements = Elements(html)
    assert not list(elements.of("script"))
    assert not list(elements.of("link"))
    for _, attributes in elements.found:
        for name in ("src", "href", "xlink:href", "action", "srcset", "poster"):
            assert attributes.get(name, "#")[:1] == "#" or attributes[name].startswith("data:text/"), attributes
    assert not re.search(r"@import|url\((?!#)", html)


def test_every_id_stands_once_and_every_reference_has_its_target(html: str) -> None:
    elements = Elements(html)
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    wanted = [a["href"][1:] for a in elements.of("a") if a["href"].startswith("#")]
    wanted += re.findall(r"url\(#(\w+)\)", html)
    wanted += [a["xlink:href"][1:] for a in elements.of("use")]
    labels = (a["aria-labelledby"] for _, a in elements.found if "aria-labelledby" in a)
    assert set(wanted) | set(labels) <= set(ids)


def test_headings_stand_in_order_under_one_title(html: str) -> None:
    levels = [int(tag[1]) for tag, _ in Elements(html).found if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_every_table_has_a_caption_and_says_what_heads_what(html: str) -> None:
    elements = Elements(html)
    count = len(list(elements.of("table")))
    assert count == len(list(elements.of("caption"))) > 8
    assert all(a.get("scope") in ("col", "row", "colgroup") for a in elements.of("th"))


def test_the_page_has_a_sentence_for_each_of_the_first_systems_best_first(page: Page, result: ScoreResult) -> None:
    verdict = verdict_of(result)
    answer = page.sections[0].blocks[0]
    overview = next(block for block in page.sections[0].blocks if isinstance(block, Overview))
    assert isinstance(answer, Answer) and answer.headline == verdict.headline
    assert tuple(row.name for row in overview.rows) == verdict.standings.names
    block = sentences_of(page)
    values = [result[item.subject].indices["pearson"].value or 0.0 for item in block.items]
    assert tuple(item.subject for item in block.items) == verdict.standings.names[:3]
    for item, value in zip(block.items, values, strict=True):
        assert item.text.startswith(f"accounts for {100 * value**2:.0f} %")
        rank = result[item.subject].indices["normalised_rank"].value
        assert rank is not None
        assert f"above a poor one {100 * (1 - rank):.0f} times in 100" in item.text
        assert item.text.endswith(".")


def test_agreement_stands_beside_that_before_calibration_and_raters_are_said_to_be_resampled(
    html: str, tables: PageTables
) -> None:
    before, after = tables.agreement[0].one.value, tables.agreement[-1].one.value
    assert before is not None and after is not None
    assert f"<dt>{after:.2f}</dt>" in html and f"; {before:.2f} before calibration<" in html
    assert "bootstrap replicates over queries and raters (seed 0" in html


def test_the_table_of_systems_holds_the_numbers_of_the_result(page: Page, result: ScoreResult) -> None:
    rows = list(csv.DictReader(io.StringIO(table_of(page, "systems").csv())))
    for row in rows:
        system = result[row["System"]]
        assert system.collection is not None
        assert float(row["Correlation"]) == system.collection.pearson.value
        assert float(row["Correlation low"]) == system.collection.pearson.low
        assert float(row["Pooled AP"]) == system.indices["average_precision"].value
        assert float(row["Pooled pairwise accuracy low"]) == 1 - (system.indices["normalised_rank"].high or 0)
    for row in csv.DictReader(io.StringIO(table_of(page, "correlations").csv())):
        assert float(row["Over judged pairs"]) == result[row["System"]].mapped.pearson.value
        assert float(row["Spearman"]) == result[row["System"]].collection.spearman.value  # type: ignore[union-attr]


def test_bold_in_the_column_that_decides_is_the_best_set_and_the_distances_are_those_of_the_first_screen(
    page: Page, result: ScoreResult
) -> None:
    ranked, table = verdict_of(result).standings, table_of(page, "systems")
    names = [column.name for column in table.columns]
    assert names[2] == result.primary.index.title and names[3] == "Difference from the leader"
    assert [str(table.rows[row][0]) for row, column in sorted(table.marked()) if column == 2] == ranked.best
    overview = next(block for block in page.sections[0].blocks if isinstance(block, Overview))
    behind = {row.name: row.behind for row in overview.rows if row.behind is not None}
    for cells in table.rows[1:]:
        shown, whole = behind[str(cells[0])], cells[3]
        assert isinstance(whole, Estimate) and shown.value == pytest.approx(100 * (whole.value or 0))


def test_uniformity_is_the_mean_distance_from_even_shares_by_source(page: Page, tables: PageTables) -> None:
    ratings = pd.read_csv(EXAMPLE / "ratings.csv", dtype=str)
    pairs = pd.read_csv(EXAMPLE / "pairs.csv", dtype=str)
    joined = ratings.dropna(subset="rating").merge(pairs[["pair_id", "source"]], on="pair_id")
    rows = {row[0]: row for row in table_of(page, "uniformity").rows}
    for source in ("keywords", "gift"):
        chosen = joined.loc[joined["source"].str.split(";").map(lambda names, s=source: s in names), "rating"]
        shares = np.array([(chosen.astype(float) == value).mean() for value in range(1, 6)])
        assert rows[source][1] == len(chosen)
        assert rows[source][-1] == pytest.approx(np.abs(shares - 0.2).mean(), abs=1e-12)
    assert rows["all pairs"][1] == len(joined)


def test_judgments_are_joined_to_their_pairs_whatever_the_order_of_rows(study: Path) -> None:
    before = tables_of(study)
    pairs = pd.read_csv(study / "pairs.csv", dtype=str, keep_default_na=False)
    pairs.sample(frac=1, random_state=3).to_csv(study / "pairs.csv", index=False)
    after = tables_of(study)
    assert (before.pair_column("source") == after.pair_column("source")).all()  # type: ignore[union-attr]


@pytest.mark.parametrize("falls", [0.0, 1.0])
def test_an_order_effect_is_on_the_page_with_its_interval_where_places_are_known(study: Path, falls: float) -> None:
    rng = np.random.default_rng(2)
    for name in ("ratings.csv", "calibrated.csv"):
        table = pd.read_csv(study / name, dtype=str, keep_default_na=False)
        page = table.groupby(["rater_id", "query_id"], sort=False)
        table["position"], table["study_block"] = page.ngroup() + 1, "main"
        if name == "ratings.csv":
            table["place"] = page["pair_id"].transform(lambda pairs: 1 + rng.permutation(len(pairs))).astype(int)
            places = table.set_index(["rater_id", "pair_id"])["place"]
        table["place"] = places.reindex(pd.MultiIndex.from_frame(table[["rater_id", "pair_id"]])).to_numpy()
        last = page["place"].transform("max").astype(int).clip(lower=2)
        lower = pd.to_numeric(table["rating"]) - falls * (table["place"].astype(int) - 1) / (last - 1)
        table["rating"] = lower.round().clip(1, 5)
        table.to_csv(study / name, index=False)
    section = raters_section(tables_of(study), 0)
    assert section is not None
    opened = [each for block in section.blocks for each in (block.blocks if isinstance(block, Folded) else [block])]
    told = next(block.text for block in opened if isinstance(block, Paragraph) and "order" in block.text)
    assert told.startswith("There is an order effect" if falls else "No order effect is seen")
    assert re.search(r"[+−]\d\.\d\d points, 95 % interval [+−]\d\.\d\d to [+−]\d\.\d\d", told)


def test_drift_over_the_session_is_on_the_page_in_words_and_as_a_picture_where_order_is_known(study: Path) -> None:
    table = pd.read_csv(study / "calibrated.csv", dtype=str, keep_default_na=False)
    place = table.groupby("rater_id", sort=False)["pair_id"].transform(
        lambda pairs: np.random.default_rng(len(pairs)).permutation(len(pairs)) / (len(pairs) - 1)
    )
    rating = pd.to_numeric(table["rating"])
    moved = table.assign(position=place, rating=(rating - 1.2 * place.astype(float)).round().clip(1, 5))
    moved.to_csv(study / "calibrated.csv", index=False)
    section = raters_section(tables_of(study), 0)
    assert section is not None
    told = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert any(text.startswith("Ratings fall by ") and "nearer in squared error" in text for text in told)
    (picture,) = [block for block in section.blocks if isinstance(block, Picture) and block.name == "Session"]
    assert "Ratings by tenth of the session: 1: +" in picture.drawings[0] and len(picture.narrow) == 1


def test_ids_that_look_like_html_or_code_stay_text(study: Path) -> None:
    for name in ("ratings.csv", "calibrated.csv", "raters.csv"):
        table = pd.read_csv(study / name, dtype=str, keep_default_na=False)
        table["rater_id"] = table["rater_id"].replace({table["rater_id"].iloc[0]: HOSTILE})
        table.to_csv(study / name, index=False)
    scores = pd.read_csv(study / "scores" / "gift.csv")
    scores.assign(system=HOSTILE).to_csv(study / "scores" / "gift.csv", index=False)
    toml = (study / "study.toml").read_text().replace('title = "Which pictures match?"', f"title = '''{HOSTILE}'''")
    (study / "study.toml").write_text(toml)
    done = CliRunner().invoke(report, [str(study), "--replicates", "100"], catch_exceptions=False)
    assert done.exit_code == 0
    html = (study / "report" / "index.html").read_text(encoding="utf-8")
    elements = Elements(html)
    assert not list(elements.of("img"))
    assert not list(elements.of("script"))
    assert not [name for _, attributes in elements.found for name in attributes if name.startswith("on")]
    assert "onload=alert(2)&gt;{{7*7}}" in html


def test_the_command_writes_the_page_and_every_table_as_csv_and_latex(study: Path) -> None:
    arguments = ["report", str(study), "--replicates", "100", "--json"]
    done = relstudy(*arguments)
    printed = json.loads(done.stdout)
    folder = study / "report"
    assert printed["page"] == (folder / "index.html").as_posix()
    assert set(printed["systems"]) == {"keywords", "gift", "gift-colour", "gift-texture", "simplicity"}
    assert {f"{Path(name).stem}.tex" for name in printed["files"]} < {
        path.name for path in (folder / "tables").iterdir()
    }
    systems = pd.read_csv(folder / "tables" / "systems.csv").set_index("System")
    assert systems.loc["keywords", "Correlation"] == printed["systems"]["keywords"]["collection"]["pearson"]["value"]
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert str(study) not in html
    assert "relstudy report DIR --folds 10 --replicates 100 --seed 0" in html


@pytest.mark.laid_out
def test_the_same_study_gives_the_same_page_byte_for_byte(study: Path) -> None:
    for name in ("gift-texture", "simplicity"):  # three have a matrix of differences, as five have
        (study / "scores" / f"{name}.csv").unlink()
    arguments = [str(study), "--replicates", "100", "--out"]
    for name in ("one", "two"):
        CliRunner().invoke(report, [*arguments, str(study / name / "index.html")], catch_exceptions=False)
    assert (study / "one" / "index.html").read_bytes() == (study / "two" / "index.html").read_bytes()


def test_every_input_is_listed_with_its_hash(page: Page) -> None:
    listed = {row[0]: row[2] for row in table_of(page, "inputs").rows}
    assert {"judgments.csv", "calibrated.csv", "pairs.csv", "scores/gift.csv", "mappings/gift.json"} <= set(listed)
    for name, digest in listed.items():
        assert hashlib.sha256((EXAMPLE / str(name)).read_bytes()).hexdigest() == digest


def test_judgments_and_scores_alone_are_enough(study: Path) -> None:
    for name in ("ratings.csv", "calibrated.csv", "raters.csv", "pairs.csv", "study.toml"):
        (study / name).unlink()
    shutil.rmtree(study / "truth")
    done = CliRunner().invoke(report, [str(study), "--replicates", "100"], catch_exceptions=False)
    assert done.exit_code == 0
    html = (study / "report" / "index.html").read_text(encoding="utf-8")
    assert "The raters" not in html
    assert "People judged" in html


def test_a_system_that_scores_under_half_of_the_pairs_is_left_out_and_named(study: Path) -> None:
    scores = pd.read_csv(study / "scores" / "gift.csv").head(100)
    scores.to_csv(study / "scores" / "gift.csv", index=False)
    scored = read_study_folder(study)
    tables = [table for _, table in scored.scores()]
    assert {name for table in tables for name in table.systems} == {
        *("keywords", "gift-colour", "gift-texture", "simplicity")
    }
    assert [note for table in tables for note in table.notes] == [
        f"Left out, since under half of the {len(scored.study.judgments)} judged pairs are scored: gift (100)."
    ]


def test_each_table_is_read_once(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[str] = []
    read = readers._read
    monkeypatch.setattr(readers, "_read", lambda file, *how: files.append(Path(file).name) or read(file, *how))
    (study / "comparison.json").unlink(missing_ok=True)
    scored = read_study_folder(study)
    scored.scores()
    page_tables(scored.study, study)
    assert {"judgments.csv", "calibrated.csv", "pairs.csv", "gift.csv"} <= set(files)
    assert len(files) == len(set(files))
    calibrated = pd.read_csv(study / "calibrated.csv")
    calibrated.assign(rating=[77.0, *calibrated["rating"][1:]]).to_csv(study / "calibrated.csv", index=False)
    with pytest.raises(TableError) as fault:
        read_study_folder(study)
    assert len(fault.value.faults) == 1


def test_what_was_noted_while_scores_were_read_stands_on_the_page(study: Path) -> None:
    gift = pd.read_csv(study / "scores" / "gift.csv")
    wide = gift[["query_id", "result_id"]].assign(gift=gift["score"], comment="words")
    wide.to_csv(study / "scores" / "gift.csv", index=False)
    (study / "scores" / "old.md").write_text("")
    notes = score_study(read_study_folder(study), ScoringOptions(replicates=50)).result.notes
    assert any("Left out of scores/, since score tables end in" in note and note.endswith(": old.md") for note in notes)
    assert any(note.endswith("columns left out because they do not hold numbers: comment") for note in notes)


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("judgments.csv", "file not found; run `relstudy calibrate` first"),
        ("scores", "there is no score table; the report needs at least one system's scores"),
    ],
)
def test_what_is_needed_and_absent_is_named(study: Path, gone: str, message: str) -> None:
    path = study / gone
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    with pytest.raises(RelstudyError, match=re.escape(message)):
        read_study_folder(study).scores()


def test_a_folder_that_is_not_there_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    done = relstudy("report", tmp_path / "none")
    assert done.exit_code == 1
    assert "there is no such folder; the report needs a study's folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_tables_with_one_system_are_refused(study: Path) -> None:
    shutil.copyfile(study / "scores" / "gift.csv", study / "scores" / "again.csv")
    with pytest.raises(RelstudyError, match=r"gift\.csv: a system named 'gift' was already read from again\.csv"):
        score_study(read_study_folder(study), ScoringOptions(replicates=50))


def made_run(systems: int, queries: int = 12) -> ScoringRun:
    random = np.random.default_rng(0)
    pairs = pd.DataFrame(
        {
            "query_id": np.repeat([f"q{i}" for i in range(queries)], 10),
            "result_id": [f"d{i}" for i in range(queries * 10)],
        }
    )
    truth = random.normal(size=len(pairs))
    judgments = pairs.assign(judgment=np.clip(np.round(2.5 + truth), 1, 5), inclusion_probability=0.5)
    parts = [
        pairs.assign(system=f"system {k}", score=truth + (1 + k) * random.normal(size=len(pairs)))
        for k in range(systems)
    ]
    return run_of(judgments, pd.concat(parts), ScoringOptions(replicates=100, method="none"))


@pytest.mark.parametrize("systems", [1, 2, 12])
def test_a_score_result_alone_makes_a_page(systems: int) -> None:
    page = page_of(made_run(systems))
    html = html_of(page)
    assert html.startswith("<!doctype html>")
    assert len(sentences_of(page).items) == min(systems, 3)
    assert ("Which differences are statistically significant" in html) == (systems > 1)


def test_a_page_of_a_single_query_says_that_there_is_no_interval() -> None:
    html = html_of(page_of(made_run(2, queries=1)))
    assert "nan" not in re.sub(r"<[^>]*>", "", html).lower().split()
    assert "intervals from so few clusters are too short" in html


def test_a_system_without_any_agreement_is_said_to_have_none() -> None:
    pairs = {"query_id": [f"q{i % 20}" for i in range(200)], "result_id": [f"d{i}" for i in range(200)]}
    random = np.random.default_rng(5)
    judgments = pd.DataFrame(pairs | {"judgment": random.integers(1, 6, 200), "inclusion_probability": 1.0})
    scores = pd.DataFrame(pairs | {"system": "noise", "score": random.normal(size=200)})
    sentence = system_sentences(score_systems(judgments, scores, options=ScoringOptions(replicates=200)))[0]
    assert sentence.text.startswith("shows no agreement with people that chance could not explain")


def test_pictures_say_in_words_what_they_show(page: Page) -> None:
    for section in page.sections:
        for block in section.blocks:
            if isinstance(block, Picture):
                assert block.caption.endswith(".")
                for drawing in block.drawings:
                    assert re.search(r'role="img" aria-label="[^"]{20,}"', drawing)


def test_a_picture_escapes_names() -> None:
    from relstudy.analysis.report.pictures import Trace

    line = Trace(np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    drawn = precision_recall({HOSTILE: line}, 0.1)
    drawn += mapping(HOSTILE, "isotonic", np.arange(30.0), np.arange(30.0), line, None)
    assert "<img" not in drawn
    assert "<script" not in drawn
    assert {"svg"} == {name for name, _ in Elements(drawn).found if name in ("svg", "img", "script")}
    assert "onload" not in {key for _, attributes in Elements(drawn).found for key in attributes}


@pytest.mark.real_data
@pytest.mark.laid_out
def test_nineteen_real_systems_fit_on_one_page_and_keep_their_names_apart(shared_data: Path, tmp_path: Path) -> None:
    data = shared_data / "tifa160_likert"
    run = CliRunner()
    calibrated = run.invoke(main, ["calibrate", str(data / "ratings.csv"), "-o", str(tmp_path)], catch_exceptions=False)
    assert calibrated.exit_code == 0
    (tmp_path / "scores").mkdir()
    for name, dropped in [("tifa", ["tifa_human_avg"]), ("dsg", [])]:
        scores = pd.read_csv(data / f"system_scores_{name}_release.csv").drop(columns=dropped)
        scores.to_csv(tmp_path / "scores" / f"{name}.csv", index=False)
    done = run.invoke(main, ["report", str(tmp_path), "--replicates", "100"], catch_exceptions=False)
    assert done.exit_code == 0
    systems = pd.read_csv(tmp_path / "report" / "tables" / "systems.csv")
    assert len(systems) == systems["System"].nunique() == 19
    assert systems["Correlation"].mean() == pytest.approx(0.409, abs=0.005)  # ten-fold, isotonic: .4093 in the oracle
    html = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "describe the judged pairs, since these have no weights by design" in html
    cut = {name for name in re.findall(r">([^<>]*…[^<>]*)</text>", html) if len(name) <= 20}
    assert len(cut) == sum(len(name) > 20 for name in systems["System"])


def test_a_simulated_study_says_so_under_its_title(page: Page, html: str) -> None:
    assert page.banner == ("Simulated study.", "The raters are programs; nothing here says what people think.")
    assert html.index("<h1>") < html.index(page.banner[1]) < html.index(page.lead[0])
    assert "simulated raters gave" in page.lead[0]


def test_a_simulated_study_says_what_its_intervals_hold_and_what_repeating_it_gave() -> None:
    truth = pd.DataFrame({"true": ["0.5", "0.5", "1.0"], "low": ["0.4", "0.6", ""], "high": ["0.6", "0.7", ""]})
    told = coverage_sentence(truth)
    assert told.startswith("The truth is known here: 1 of 2 intervals hold it.")
    assert told.endswith("Twenty repetitions of the demonstration held the truth in 97 % of all intervals.")
    assert coverage_sentence(truth.iloc[2:]) == ""


def test_pictures_are_small_stay_in_the_page_and_can_be_left_out(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (900, 600), "teal").save(tmp_path / "one.png")
    table = pd.DataFrame(
        {"path": ["one.png", "../one.png", "gone.png"], "title": ["A boat", "", ""]}, index=["a", "outside", "gone"]
    )
    folder = tmp_path
    items = Items(folder, table)
    assert items.thumbnail("a").startswith("data:image/jpeg;base64,")
    assert len(items.thumbnail("a")) < 8_000
    (tmp_path / "study").mkdir()
    assert Items(tmp_path / "study", table).thumbnail("outside") == ""
    assert items.thumbnail("gone") == items.thumbnail("unheard") == ""
    assert (items.text("a"), items.text("outside")) == ("A boat", "outside")


def test_what_is_transparent_in_a_picture_is_white_in_its_small_one(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGBA", (60, 40), (0, 0, 0, 0)).save(tmp_path / "one.png")
    shown = Items(tmp_path, pd.DataFrame({"path": ["one.png"]}, index=["a"])).thumbnail("a")
    with Image.open(io.BytesIO(base64.b64decode(shown.partition("base64,")[2]))) as small:
        assert small.convert("L").getextrema() == (255, 255)


@pytest.mark.parametrize("pictures", [True, False])
def test_disagreements_are_the_greatest_there_are(result: ScoreResult, tables: PageTables, pictures: bool) -> None:
    section = disagreements_section(result, verdict_of(result).standings, tables.items, None, pictures)
    assert section is not None
    examples = section.blocks[0]
    assert isinstance(examples, Examples) and len(examples.items) == 6
    name = examples.items[0].system
    mapped = result[name].mapped_scores
    assert mapped is not None
    difference = result.judgment - mapped
    own = [each.people - each.scored for each in examples.items if each.system == name]
    assert (own[0], own[3]) == (pytest.approx(np.nanmax(difference)), pytest.approx(np.nanmin(difference)))
    assert not any(picture for each in examples.items for picture in each.pictures) or pictures


def test_the_queries_named_worst_are_those_of_the_table_by_query(page: Page, result: ScoreResult) -> None:
    table = table_of(page, "worst-queries")
    first = verdict_of(result).standings.names[0]
    own = result.per_query[result.per_query["system"] == first].set_index("query_id")["normalised_rank"]
    worst = [float(row[3]) for row in table.rows]  # type: ignore[arg-type]
    assert worst == pytest.approx(sorted((1 - own).dropna())[:3])
