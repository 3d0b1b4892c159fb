"""One at a time by locks of files: across processes and threads, and not at all where there are none."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from relstudy.common.runtime import file_lock
from relstudy.common.runtime.file_lock import Held, locked

HOLDS = """
import sys
from pathlib import Path
from relstudy.common.runtime.file_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_another_process_is_waited_for_and_one_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    with pytest.raises(Held), locked(tmp_path, wait=0.05):
        pass
    other.kill()
    other.wait()
    with locked(tmp_path, wait=60), pytest.raises(Held), locked(tmp_path):
        pass


def test_where_a_file_system_knows_no_locks_nobody_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(file_lock.fcntl, "flock", unknown)
    with locked(tmp_path), locked(tmp_path):
        pass
