"""Names of other people's files and rows reach a terminal as text."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pandas as pd
import pytest

from relstudy.common.results.display import Shown
from relstudy.common.runtime.console import print_json, print_table, progress, say
from relstudy.common.runtime.terminal import PlainTerminal, plain_terminal
from relstudy.studyapp.cli import main
from tests.places import ROOT

ESCAPES = "a\x1b[2J\x1b]0;title\x07\u202eb\x9b8m"
STYLES = [f"\x1b[{code}m" for code in (*range(3, 10), *range(30, 38), 39, 40, "38;5;0", *range(90, 98))]


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str = "utf-8") -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding=encoding)

    def isatty(self) -> bool:
        return True

    def getvalue(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode(errors="surrogateescape")


class Pipe(Terminal):
    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_an_escape_code_in_a_files_name_is_written_out_on_a_terminal_and_kept_in_a_pipe(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in (Terminal(encoding), Pipe()):
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(SystemExit):
            main(["inspect", str(tmp_path / ESCAPES)], prog_name="relstudy")
        assert sys.stderr is stream
        said = stream.getvalue()
        assert "\\x1b]0;title\\x07\\u202eb\\x9b8m" in said if stream.isatty() else ESCAPES[-3:] in said
        assert stream.isatty() == ("\x9b" not in said and "\x1b" not in said)


def _echo_bytes(text: bytes) -> None:
    with pytest.raises(TypeError):  # which no command prints
        click.echo(text)


def _prompt(text: str) -> None:
    with pytest.raises(click.Abort):  # nobody answers
        click.confirm(text)


WAYS: dict[str, Callable[[str], object]] = {
    "echo": click.echo,
    "bytes": lambda text: _echo_bytes(text.encode(errors="surrogateescape")),
    "print": print,
    "say": say,
    "table": lambda text: print_table([[text, "1"]], [text, "n"]),
    "json": lambda text: print_json({text: text}),
    "question": _prompt,
    "stream": lambda text: sys.stdout.write(text),
    "lines": lambda text: sys.stderr.writelines([text]),
}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_a_terminal_lets_an_escape_code_or_a_colour_of_a_name_through(
    way: str, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(encoding)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, terminal)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    with plain_terminal():
        for name in (ESCAPES, "é\udcff", *STYLES):
            WAYS[way](f"A{name}B")
    said = terminal.getvalue()
    assert "\x1b" not in said and "\x9b" not in said and "\u202e" not in said and "\x07" not in said
    shown = "\\u001b[30m" if way == "json" else "\\x1b[30m"
    assert way == "bytes" or f"A{shown}B" in said
    assert encoding != "ascii" or said.isascii()


def test_our_own_bold_and_dim_are_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with plain_terminal():
        print_table([["a", "1"]], ["name", "n"], dim={0})
    assert "\x1b[1mname" in terminal.getvalue() and "\x1b[2ma" in terminal.getvalue()


def test_a_bars_label_is_a_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("tqdm.std.time", iter(range(0, 10_000, 5)).__next__)
    with plain_terminal():
        list(progress(range(3), f"reading {ESCAPES}"))
    assert "\\x1b]0;title" in terminal.getvalue() and "\x1b]" not in terminal.getvalue()


def test_the_bytes_beneath_a_terminal_are_nobodys() -> None:
    terminal = PlainTerminal(Terminal())
    assert not hasattr(terminal, "buffer")
    with pytest.raises(AttributeError):
        terminal.detach()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("fails", [False, True])
def test_a_real_terminal_gets_neither_a_name_nor_a_traceback_with_escape_codes(
    encoding: str, fails: bool, tmp_path: Path
) -> None:
    name = "t\x1b[30mhid\x1b]0;x\x07.csv"
    (tmp_path / name).write_text("rater_id,query_id,result_id,rating\nr1,q1,a,3\nr1,q2,b,2\nr2,q1,a,4\n")
    program = (
        "from relstudy.studyapp.cli import main; main(['inspect', __import__('sys').argv[1]], prog_name='relstudy')"
    )
    if fails:  # a fault of the program
        program = "import sys, click; click.Group.invoke = lambda *_: {}[sys.argv[1]]\n" + program
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", program, name],
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # the terminal's other end is closed
        pass
    child.wait(60)
    os.close(ours)
    assert b"\x1b" not in said and b"\x07" not in said
    assert rb"t\x1b[30mhid\x1b]0;x\x07.csv" in said
    assert fails == (b"Traceback" in said and b"KeyError" in said)


def test_an_escape_code_in_an_id_is_written_out_where_a_result_shows_itself() -> None:
    class Result(Shown):
        def heading(self) -> str:
            return "one"

        def overview(self) -> pd.DataFrame:
            return pd.DataFrame({"query_id": ["q\x1b[8m"]})

    assert "q\\x1b[8m" in repr(Result())


@pytest.mark.parametrize("sign", ["\n", "\r", "\x85", "\u2028"])
def test_a_line_break_in_a_name_makes_no_line_of_its_own(
    sign: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"a{sign}relstudy: all is well"
    with pytest.raises(SystemExit):
        main(["inspect", str(tmp_path / name)], prog_name="relstudy")
    say(f"wrote {name}")
    print_table([[name, "1"]], ["name", "n"])
    said = capsys.readouterr()
    written = ascii(sign)[1:-1]
    assert f"a{written}relstudy: all is well" in said.err.splitlines()[0]
    assert said.err.splitlines()[1:] == [f"wrote a{written}relstudy: all is well"]
    assert len(said.out.splitlines()) == 2


def test_each_fault_of_a_table_and_of_study_toml_keeps_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text('[study]\nid = 1\ntitle = "x\\nrelstudy: y"\n[entry]\nrules = ["ope\\nn"]\n')
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path)], prog_name="relstudy")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2 and not any(line.startswith(("relstudy: y", "n")) for line in lines)
