"""The released files of public human ratings are read as the page says, and the script makes studies of them."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest

from evidence.public_human_data import SETS, as_study, main
from relstudy.analysis.report.inputs import page_tables
from relstudy.analysis.report.paper.people import by_person, one_person
from relstudy.analysis.report.paper.reading import interfaces_of
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.tables import Table
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import read_study_folder, score_study
from tests.commands import succeeds
from tests.places import ROOT

RELEASED = {
    "tifa160-likert-anns.csv": """dsg_prompt_split,t2i_model,item_id,source_id,worker_id,question,answer
tifa160,one,prompt_1,x_1,11,How consistent?,3
tifa160,one,prompt_1,x_1,12,How consistent?,5
tifa160,two,prompt_2,x_2,11,How consistent?,1
tifa160,two,prompt_2,x_2,12,How consistent?,2
""",
    "chatreport_test.csv": """Questions,Background,Paragraphs,annotation_1,annotation_2,meta_annotation,hard,gold
q one,b,p 1,No,no,,0,no
q one,b,p 2,yes,Partially yes,,0,yes
q two,b,p 1,partially no,no,,0,no
""",
}
"""Made-up rows under the columns of the released files."""


@pytest.mark.slow
@pytest.mark.parametrize("file", RELEASED)
def test_a_released_file_is_read_by_the_command_of_the_page(file: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "public-human-data.md").read_text(encoding="utf-8")
    found = re.search(rf"^\$ relstudy (calibrate {file} .*)$", page, re.MULTILINE)
    assert found is not None
    (tmp_path / file).write_text(RELEASED[file])
    words = shlex.split(found[1])
    words = [str(tmp_path / word) if word in (file, "tifa160", "diras") else word for word in words]
    succeeds(*words)
    calibrated = pd.read_csv(Path(words[words.index("-o") + 1]) / "calibrated.csv")
    expected = [1, 2, 3, 5] if file.startswith("tifa") else [0, 0, 0, 1, 3, 4]
    assert sorted(calibrated["rating"]) == expected
    assert calibrated["rater_id"].nunique() == 2


@pytest.mark.slow
@pytest.mark.real_data
def test_the_paper_s_tables_on_tifa160_are_those_of_the_page(
    shared_data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["public_human_data.py", "tifa160", "--data", str(shared_data)])
    main()
    number = re.compile(r"[−-]?\d+\.\d+")
    printed = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    page = (ROOT / "docs" / "evidence" / "public-human-data.md").read_text(encoding="utf-8")
    shown = [line.split() for line in page[page.index("tifa160: 3,995 ratings") :].splitlines() if line.strip()]
    for one, other in zip(printed, shown, strict=False):
        words, figures = [], []
        for line in (one, other):
            text = " ".join(line).replace("−", "-")
            words.append(number.sub("#", text))
            figures.append([float(each) for each in number.findall(text)])
        assert words[0] == words[1]
        assert figures[0] == pytest.approx(figures[1], abs=0.011)  # two digits are shown; another library rounds a fit
    assert len(printed) > 40


@pytest.mark.slow
@pytest.mark.real_data
def test_half_of_haystack_is_one_persons_and_does_not_sway_the_search_engines(
    shared_data: Path, tmp_path: Path
) -> None:
    as_study(SETS["haystack"](shared_data), tmp_path)
    options = ScoringOptions(folds=5, replicates=100, low_coverage=True)
    run = score_study(read_study_folder(tmp_path), options)
    tables = page_tables(run.study, tmp_path)
    study = PaperStudy(tables, run.result, interfaces_of(tables))
    table, said = one_person(study, by_person(study))
    assert isinstance(table, Table) and "h02, 49 % of the ratings" in table.caption
    assert {str(row[0]) for row in table.rows} == {"no-vector", "vector-2", "with-vector"}
    assert said.text.startswith("No system's correlation differs")  # type: ignore[union-attr]
