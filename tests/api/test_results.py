"""Results speak one language: a table, a summary, a picture, LaTeX, a file; and nothing raises when it is looked at."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.results.serialization import checksum
from tests.commands import succeeds
from tests.places import EXAMPLE

pytestmark = pytest.mark.slow

KEYWORDS, GIFT = EXAMPLE / "scores" / "keywords.csv", EXAMPLE / "scores" / "gift.csv"
INNARDS = re.compile(r"\w+\(\w+=|<\w+[ .:]|object at 0x|np\.\w+\(|\bnan\b, dtype|\w+\.\w+ object")
"""How Python writes its own objects: Name(field=...), <Name.MEMBER: ...>, np.float64(...)."""
Many = dict[str, Any]


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype={"query_id": str, "result_id": str, "rater_id": str})


def small() -> Many:
    """Each kind of table, of the example's first 80 judged pairs."""
    judgments = read(EXAMPLE / "judgments.csv").head(80)
    pairs = judgments[["query_id", "result_id"]]
    part = pairs.assign(part=np.where(np.arange(len(pairs)) % 2, "odd", "even"))
    return {
        "judgments": judgments.merge(part),
        "ratings": read(EXAMPLE / "ratings.csv").merge(pairs).merge(part),
        "keywords": read(KEYWORDS).merge(pairs),
        "gift": read(GIFT).merge(pairs),
        "asked": read(EXAMPLE / "pairs.csv"),
    }


def judge_of(judgments: pd.DataFrame) -> pd.DataFrame:
    grades = pd.cut(judgments["judgment"] + np.tile([0.5, -0.5], len(judgments))[: len(judgments)], 3, labels=False)
    return judgments[["query_id", "result_id"]].assign(rating=grades.astype(float))


def counts(seed: int) -> Any:
    labels = np.arange(24) % 3
    codes = (np.random.default_rng(seed).random((24, 8)) < 0.3 + 0.2 * labels[:, None]).astype(np.uint8)
    return rs.hashing.count(codes[:6], codes, labels[:6], labels)


def answers() -> pd.DataFrame:
    """Which of two results is better: three raters on three couples of two queries."""
    rows = [
        (f"p{rater}", query, "x", "y", "xy"[rater % 2], [-1, 1][rater % 2]) for rater in range(3) for query in "qr"
    ] + [("p0", "q", "y", "z", "y", 0)]
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "other_id", "left", "rating"])


@pytest.fixture(scope="session")
def results() -> Many:
    """Each kind of result; also of one system, of one query (no interval), without and with a judge."""
    given = small()
    judgments, gift, keywords = given["judgments"], given["gift"], given["keywords"]
    few: Many = {"replicates": 20, "method": "none"}
    one = judgments[judgments["query_id"] == judgments["query_id"].iloc[0]]
    panel = rs.calibrate(given["ratings"], pairs=given["asked"])
    nine = judgments.assign(judgment=2 * judgments["judgment"] - 1, scale_low=1, scale_high=9)
    items = pd.DataFrame({"item_id": list("abcdef"), "text": "words", "keywords": ["sky", "sky", "sea"] * 2})
    both = {"keywords": keywords, "gift": gift}
    scores = rs.score(both, panel, replicates=20, folds=2)
    return {
        "ratings": rs.read_ratings(given["ratings"]),
        "panel": panel,
        "panel of one rater": rs.calibrate(given["ratings"].query("rater_id == rater_id.iloc[0]")),
        "parts": rs.calibrate_by(given["ratings"], "part", method="mean"),
        "parts that share pairs": rs.calibrate_by(
            given["ratings"].assign(day=lambda frame: frame["rater_id"] > "r3"), "day", method="mean"
        ),
        "joined": rs.join({"stars": judgments, "nine": nine}, folds=2),
        "preferences": rs.preferences(answers()),
        "preferences of lists": rs.preferences(answers().assign(scale="which-list", source="one;two"), lists=True),
        "mappings": rs.fit(both, panel, folds=3),
        "mapping": rs.fit(gift, panel, method="isotonic", folds=3)["gift"],
        "mapping with a band": rs.FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0], system="new"),
        "mapping without a name": rs.FittedMapping([0.0, 1.0], [5.0, 1.0], increasing=False),
        "mappings of one query": rs.fit(keywords, one, method="isotonic"),
        "mapping groups": rs.fit_by(both, judgments, "part", method="isotonic", folds=2),
        "scores": scores,
        "generalizability": panel.generalizability(),
        "generalizability of systems": scores.generalizability("correlation"),
        "scores of one system": rs.score(keywords, judgments, **few),
        "scores of one query": rs.score(keywords, one, **few),
        "scores of files": rs.score(KEYWORDS, EXAMPLE / "judgments.csv", **few),
        "scores by a column": rs.score(both, judgments, by="part", **few),
        "scores with a judge": rs.score(both, judgments, judge=judge_of(judgments), **few),
        "checked judge": rs.judge(judge_of(judgments), panel, both, replicates=20),
        "checked judge without systems": rs.judge(judge_of(judgments), judgments, replicates=20),
        "sample": rs.sample(items, ["keywords"], queries=3, results=2, base=2),
        "plan": rs.plan(correlations=(0.9, 0.1), results=8, studies=20),
        "plan of a pilot": rs.plan(panel, correlations=(0.9, 0.1), results=8, studies=20),
        "inspection": rs.inspect(given["ratings"]),
        "hash evaluation": rs.hashing.evaluate(counts(1), k=[1, 5], radius=[0, 2]),
        "hash comparison": rs.hashing.compare({"one": counts(1), "two": counts(2)}, k=[5]),
        "hash comparison of one": rs.hashing.compare({"one": counts(1)}),
    }


def every(results: Many, check: Callable[[Any], Any]) -> Many:
    """What the check finds wrong, by name of the result."""
    found = {name: check(result) for name, result in results.items()}
    return {name: wrong for name, wrong in found.items() if wrong}


def tables_in(result: Any) -> dict[str, pd.DataFrame]:
    """Every DataFrame and Series that a result offers by name."""
    frames = {}
    for name, value in inspect.getmembers(result):
        if not name.startswith("_") and isinstance(value, pd.DataFrame | pd.Series):
            frames[name] = value.to_frame() if isinstance(value, pd.Series) else value
    return frames


def innards_in(frame: pd.DataFrame) -> list[str]:
    plain = (str, bool, int, float, type(None), np.generic, type(pd.NA), pd.Timestamp)
    return [
        f"{column}: {value!r}"
        for column, values in frame.items()
        for value in pd.Series(values).drop_duplicates().tolist()
        if not isinstance(value, plain) or (isinstance(value, str) and INNARDS.search(value))
    ]


def test_nothing_raises_when_a_result_is_looked_at(results: Many) -> None:
    def looked_at(result: Any) -> str | None:
        assert [getattr(result, name) for name in dir(result)] and str(result) and repr(result)
        return None if "<table" in result._repr_html_() else "no table in a notebook"

    assert every(results, looked_at) == {}


def test_no_table_of_a_result_holds_what_only_python_can_read(results: Many) -> None:
    assert sum(map(len, map(tables_in, results.values()))) > 40
    assert every(results, lambda result: {n: i for n, t in tables_in(result).items() if (i := innards_in(t))}) == {}
    assert every(results, lambda result: [line for line in repr(result).splitlines() if INNARDS.search(line)]) == {}


def test_a_summary_is_text_and_holds_what_the_command_prints_with_json(results: Many) -> None:
    def wrong(result: Any) -> str | None:
        summary = result.summary()
        text = str(summary)
        whole = summary == result.as_json() and json.loads(json.dumps(summary)) is not None
        known = result.heading().split()[0] in text and max(map(len, text.splitlines())) <= 120
        return None if whole and known and repr(summary) == text and not INNARDS.search(text) else text

    assert every(results, wrong) == {}
    text = str(results["scores"].summary())
    for told in ("keywords", "gift", "First minus second:", "pooled pairwise accuracy"):
        assert told in text
    assert "normalised" not in text  # its difference has the other sign


def test_what_a_result_says_names_arguments_and_no_options_of_commands(results: Many) -> None:
    def wrong(result: Any) -> list[str]:
        said = [repr(result), str(result.summary()), *map(str, getattr(result, "notes", ()))]
        return re.findall(r".*--[a-z].*", "\n".join(said))

    assert every(results, wrong) == {}


def test_a_result_gives_by_name_the_row_of_its_table_or_the_part_of_that_name(results: Many) -> None:
    def wrong(result: Any) -> str | None:
        names = list(result)
        for name in names:
            if isinstance(result, Mapping):
                assert result[name] is result.get(name)
            else:
                assert isinstance(result[name], pd.Series) and result[name].name == name
        with pytest.raises(KeyError):
            result["no such name"]
        assert "no such name" not in result and names[0] in result
        return None if names and result._ipython_key_completions_() == names else "no names"

    assert every(results, wrong) == {}
    scores = results["scores"]
    assert scores["gift"]["average_precision"] == scores.as_json()["systems"]["gift"]["average_precision"]["value"]
    assert scores["gift"].average_precision_low == scores.as_json()["systems"]["gift"]["average_precision"]["low"]
    with pytest.raises(rs.RelstudyError, match="there is no 'bm25' here; there are: keywords and gift"):
        scores["bm25"]


def test_every_result_has_a_table_and_sets_it_for_a_paper(results: Many) -> None:
    def wrong(result: Any) -> str | None:
        assert isinstance(result.table, pd.DataFrame) and len(result.table)
        text = result.to_latex()
        balanced = text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")
        return None if balanced and "\\toprule" in text and not INNARDS.search(text) else text

    assert every(results, wrong) == {}
    intervals = results["mappings"].to_latex()
    assert "low" not in intervals and r"\scriptsize" in intervals


def test_a_paper_with_every_result_compiles_and_prints_its_names_and_numbers(results: Many, tmp_path: Path) -> None:
    if not (shutil.which("pdflatex") and shutil.which("pdftotext")):
        pytest.skip("needs pdflatex and pdftotext (scripts/install_test_tools.sh)")
    names = ["R&D_50%", r"a^b~c#1{x}\y$z", "café ± 5"]
    qrels = {f"q{n}": {"x": 1, "y": 0, "z": 0} for n in range(12)}
    orders = ["xyz"] * 12, ["zyx"] * 10 + ["yxz"] * 2, ["xyz"] * 6 + ["yxz"] * 6
    runs = {
        name: {query: dict(zip(order, (3.0, 2.0, 1.0), strict=True)) for query, order in zip(qrels, each, strict=True)}
        for name, each in zip(names, orders, strict=True)
    }
    ranked = rs.score(runs, qrels, measures=["RR"], method="none", replicates=20)
    marked = [ranked.to_latex(marks="letters"), ranked.to_latex(marks="stars", baseline=names[0])]
    sources = [*(result.to_latex() for result in results.values()), *marked]
    preamble = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{cmap,booktabs,graphicx}\begin{document}"
    paper = [preamble, "\n\\clearpage\n".join(sources), r"\end{document}"]
    (tmp_path / "paper.tex").write_text("\n".join(paper))
    made = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    log = subprocess.run(made, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert log.returncode == 0, log.stdout.decode(errors="replace")[-2000:]
    printed = subprocess.run(["pdftotext", "-layout", "paper.pdf", "-"], cwd=tmp_path, capture_output=True, check=True)
    pages = printed.stdout.decode().replace("−", "-").split("\f")[: len(sources)]
    compared = 0
    for (name, result), page in zip(results.items(), pages, strict=False):
        if isinstance(result, type(ranked)):
            continue  # has three tables of its own, as below
        shown = np.array([float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", page.replace(",", ""))])
        for column, values in result.table.select_dtypes("number").items():
            for value in values.dropna() if not str(column).endswith(("_low", "_high")) else []:
                # three digits behind the point, or five in all of a large number
                assert np.abs(shown - value).min() <= max(5.01e-4, 5e-5 * abs(value)), (name, column, value)
                compared += 1
    assert compared > 150
    for page, raised in zip(pages[-2:], (["a", "c", "b"], ["", "***", "**"]), strict=True):
        measured = page.partition("Measures by their names")[2]
        cells = [re.findall(r"(\d\.\d\d)\s*([abc∗*]*)", measured.split(name)[1])[0] for name in names]
        assert [value for value, _ in cells] == ["1.00", "0.36", "0.75"], measured
        assert [mark.replace("∗", "*") for _, mark in cells] == raised, measured


@pytest.mark.slow
def test_every_result_but_an_inspection_draws_a_figure(results: Many) -> None:
    def wrong(result: Any) -> str | None:
        try:
            return None if result.plot().axes else "nothing is drawn"
        except rs.RelstudyError as error:
            return str(error)

    drawn = {name: result for name, result in results.items() if name != "inspection"}
    no_curve = "there is no precision-recall curve: no pair is relevant, or weights are not known"
    assert every(drawn, wrong) == {"scores of one query": no_curve}


def test_what_is_worth_a_look_in_a_panel_is_no_attribute_of_pandas(results: Many) -> None:
    flags = results["panel"].flags
    raters = results["panel"].raters.set_index("rater_id")
    assert flags.to_dict() == {rater: text for rater, text in raters["flags"].items() if text}


def public_classes() -> list[type]:
    named = [getattr(rs, name) for name in rs.__all__] + [getattr(rs.hashing, name) for name in rs.hashing.__all__]
    return [each for each in named if inspect.isclass(each) and not issubclass(each, Exception)]


def test_every_public_method_has_an_example_that_runs() -> None:
    """Its own, or that of the base whose word it is; doctest runs them all. A served study needs a server."""
    without = []
    for owner in public_classes():
        for name, _ in inspect.getmembers(owner, callable):
            if name.startswith("_") or owner is rs.RemoteStudy or hasattr(Mapping, name):
                continue
            docs = [getattr(vars(base).get(name), "__doc__", None) or "" for base in owner.__mro__]
            if not any(">>>" in text for text in docs) and f".{name}(" not in (owner.__doc__ or ""):
                without.append(f"{owner.__name__}.{name}")
    assert len(public_classes()) > 20 and without == []


@pytest.mark.slow
def test_no_table_that_a_command_writes_holds_what_only_python_can_read(tmp_path: Path) -> None:
    study = ["-j", EXAMPLE / "judgments.csv", "--replicates", 20]
    for command in (
        ["calibrate", EXAMPLE / "ratings.csv", "--pairs", EXAMPLE / "pairs.csv", "-o", tmp_path / "calibrated"],
        ["score", KEYWORDS, GIFT, *study, "--method", "isotonic", "-o", tmp_path / "scored", "--by", "paradigm"],
    ):
        succeeds(*command)
    tables = {path.name: innards_in(pd.read_csv(path)) for path in tmp_path.rglob("*.csv")}
    assert {"scores.csv", "judgments.csv", "raters.csv"} <= set(tables)
    assert {name: wrong for name, wrong in tables.items() if wrong} == {}


def test_what_is_offered_for_completion_is_what_is_public() -> None:
    assert dir(rs) == sorted(rs.__all__)
    assert dir(rs.hashing) == sorted(rs.hashing.__all__)
    assert not {"np", "pd", "os"} & set(dir(rs.hashing))


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_is_saved_is_read_back_with_the_same_figures(results: Many, tmp_path: Path) -> None:
    def wrong(result: Any) -> str | None:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        assert result.save(path) is None
        again = rs.read(path)
        assert type(again) is type(result) and again.as_json() == result.as_json()
        tables = tables_in(again)
        for name, table in tables_in(result).items():
            pd.testing.assert_frame_equal(tables[name], table)
        return None if str(again.summary()) == str(result.summary()) and repr(again) == repr(result) else repr(again)

    assert every(results, wrong) == {}


def test_what_was_read_back_goes_on_as_it_did(results: Many, tmp_path: Path) -> None:
    def again(name: str) -> Any:
        results[name].save(tmp_path / name)
        return rs.read(tmp_path / name)

    gift = small()["gift"]
    few: Many = {"replicates": 5, "folds": 2}
    before = rs.score(gift, results["panel"], **few).as_json()
    assert rs.score(gift, again("panel"), **few).as_json() == before
    # of a folder it is told that pairs.csv is not among the tables
    assert rs.score(gift, tmp_path / "panel", **few).as_json()["systems"] == before["systems"]
    for mappings in (again("mappings"), tmp_path / "mappings"):
        scored = rs.score(gift, results["panel"], mappings=mappings, replicates=5)
        assert (
            scored.as_json() == rs.score(gift, results["panel"], mappings=results["mappings"], replicates=5).as_json()
        )
    new = small()["gift"].assign(system="new")
    again("scores")
    assert rs.score({"new": new}, against=tmp_path / "scores", method="none").verdict.headline
    assert again("parts")["odd"].compare(results["parts"]["odd"].raters["rater_id"].iloc[0])["systems"] == {}


def test_saved_files_are_those_that_the_commands_write_and_take(results: Many, tmp_path: Path) -> None:
    written = {
        "panel": {"judgments.csv", "raters.csv", "calibrated.csv", "panel.relstudy"},
        "mappings": {"keywords.json", "gift.json", "mappings.relstudy"},
        "mapping groups": {f"{part}/{name}.json" for part in ("odd", "even") for name in ("keywords", "gift")}
        | {"mapping-groups.relstudy"},
        "joined": {"judgments.csv", "nine.json", "joined-judgments.relstudy"},
        "preferences of lists": {"judgments.csv", "raters.csv", "systems.csv", "preferences.relstudy"},
        "sample": {"pairs.csv", "design.json", "scores/keywords.csv", "sample.relstudy"},
    }
    for name, files in written.items():
        results[name].save(tmp_path / name)
        assert files <= files_below(tmp_path / name), name
    results["scores"].save(tmp_path / "comparison.json")
    small()["gift"].assign(system="new").to_csv(tmp_path / "new.csv", index=False)
    new, judgments = tmp_path / "new.csv", tmp_path / "panel" / "judgments.csv"
    for command in (
        ["score", new, "--against", tmp_path / "comparison.json", "--method", "none"],
        ["score", KEYWORDS, "-j", judgments, "--mappings", tmp_path / "mappings", "--replicates", 5],
        ["fit", new, "-j", judgments, "-o", tmp_path / "fitted", "--method", "isotonic"],
        ["inspect", tmp_path / "comparison.json"],
        ["inspect", tmp_path / "mappings" / "gift.json"],
    ):
        succeeds(*command)
    with pytest.raises(rs.RelstudyError, match="no result's save"):
        rs.read(tmp_path / "fitted")
    with pytest.raises(rs.RelstudyError, match="a new draw would give their ids to others"):
        results["sample"].save(tmp_path / "sample")
    with pytest.raises(rs.RelstudyError, match="this is a file; a panel is saved to a folder"):
        results["panel"].save(new)


def test_a_comparison_that_the_command_saved_is_read_with_its_figures(tmp_path: Path) -> None:
    saved, given = tmp_path / "saved.json", small()
    given["judgments"].to_csv(tmp_path / "j.csv", index=False)
    command = ["score", KEYWORDS, GIFT, "-j", tmp_path / "j.csv", "--replicates", 5, "--save", saved, "--json"]
    done = succeeds(*command)
    # a reason names what its reader would type
    figures, again = json.loads(done.stdout.replace("--unjudged skip", "unjudged='skip'")), rs.read(saved).as_json()
    assert again["systems"] == figures["systems"] and again["comparisons"] == figures["comparisons"]


def test_mappings_count_tables_and_encoders_are_read_by_the_same_function(tmp_path: Path) -> None:
    mapping = rs.FittedMapping([0.0, 1.0], [1.0, 5.0], system="new")  # type: ignore[arg-type]
    mapping.write(tmp_path / "new.json")
    assert rs.read(tmp_path / "new.json") == mapping
    counts(1).save(tmp_path / "counts.npz")
    assert rs.read(tmp_path / "counts.npz").total.tolist() == counts(1).total.tolist()
    encoder = rs.hashing.encoder("pcah", bits=2).fit(np.eye(3))
    rs.hashing.save_encoder(encoder, tmp_path / "pcah.npz")
    assert (
        rs.read(tmp_path / "pcah.npz").encode(np.eye(3)).columns.tolist() == encoder.encode(np.eye(3)).columns.tolist()
    )


def test_a_damaged_or_foreign_file_is_refused_in_one_sentence(results: Many, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    results["plan"].save(path)
    saved = path.read_text()
    results["panel"].save(tmp_path / "two")
    results["mappings"].save(tmp_path / "two")
    np.savez(tmp_path / "other.npz", np.zeros(3))
    content = json.loads(saved)
    of_another_version = {name: value for name, value in content.items() if name != "checksum"}
    of_another_version["result"] = {**content["result"], "colour": "red"}
    of_another_version["checksum"] = checksum(of_another_version)
    cases = {
        saved[: len(saved) // 2]: "this is not JSON",
        saved.replace('"power": 0.8', '"power": 0.9'): "it was changed since it was saved, or is damaged",
        saved.replace('"version": 1', '"version": 99'): "version 99 of a saved plan is not known",
        json.dumps(of_another_version): "another version of relstudy saved it",
        "[1, 2]": "not a file that a result's save() wrote",
        '{"kind": "relstudy dinner"}': "not a file that a result's save() wrote",
        '{"kind": "relstudy plan", "version": 1}': "it was changed since it was saved",
        (EXAMPLE / "ratings.csv").read_text(): "this is not JSON",
    }
    for text, said in cases.items():
        path.write_text(text)
        with pytest.raises(rs.RelstudyError, match=re.escape(said)) as caught:
            rs.read(path)
        assert len(str(caught.value).splitlines()) == 1 and str(path) in str(caught.value)
    for wrong, said in (
        (tmp_path / "nowhere.json", "file not found"),
        (tmp_path / "nowhere.npz", "file not found"),
        (tmp_path / "other.npz", "this is not a count table and no encoder"),
        (tmp_path / "two", "several results are saved here: mappings.relstudy, panel.relstudy; name one"),
        (tmp_path, "no result's save() wrote here"),
    ):
        with pytest.raises(rs.RelstudyError, match=re.escape(said)):
            rs.read(wrong)
    assert isinstance(rs.read(tmp_path / "two" / "panel.relstudy"), rs.CalibratedPanel)


def test_one_of_a_kind_is_singular_in_headings() -> None:
    ids = {"query_id": "q", "result_id": "x"}
    people = pd.DataFrame({"rater_id": ["a", "b"], **ids, "rating": [1, 5], "kind": "all"})
    assert rs.calibrate(people, method="none").heading().startswith("2 raters, 1 judgment from 2 ratings; ")
    assert rs.calibrate_by(people, "kind", method="none").heading().startswith("1 part by kind, ")
    judgments = pd.DataFrame({"query_id": "q", "result_id": list("wxyz"), "judgment": [5, 1, 4, 2], "kind": "all"})
    scores = judgments[["query_id", "result_id"]].assign(new=[0.9, 0.2, 0.4, 0.3])
    groups = rs.fit_by(scores, judgments, "kind", method="isotonic")
    assert groups.heading() == "Mappings of 1 group by kind: all"
    qrels = judgments.assign(inclusion_probability=0.5)
    assert " against 4 judged pairs of 1 query, " in rs.score(scores, qrels, threshold=3, replicates=20).heading()
    items = pd.DataFrame({"item_id": list("abc"), "text": "words", "keywords": "sky"})
    drawn = rs.sample(items, ["keywords"], queries=1, results=1, base=1)
    assert drawn.heading() == "1 pair (1 base) of 1 query"
