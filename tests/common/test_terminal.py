"""Names of other people's files and rows reach a terminal as text."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pandas as pd
import pytest

from relstudy.common.shown import Shown
from relstudy.studyapp.cli import main

ESCAPES = "a\x1b[2J\x1b]0;title\x07\u202eb\x9b8m"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_an_escape_code_in_a_files_name_is_written_out_on_a_terminal_and_kept_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(SystemExit):
            main(["inspect", str(tmp_path / ESCAPES)], prog_name="relstudy")
        assert sys.stderr is stream
        said = stream.getvalue()
        assert "\\x1b]0;title\\x07\\u202eb\\x9b8m" in said if stream.isatty() else ESCAPES[-3:] in said
        assert stream.isatty() == ("\x9b" not in said)


def test_an_escape_code_in_an_id_is_written_out_where_a_result_shows_itself() -> None:
    class Result(Shown):
        def heading(self) -> str:
            return "one"

        def overview(self) -> pd.DataFrame:
            return pd.DataFrame({"query_id": ["q\x1b[8m"]})

    assert "q\\x1b[8m" in repr(Result())
