"""A parent with workers that do as the test says: python -m tests.studyapp.web.supervised KIND WORKERS"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.web.processes import supervise


def end_slowly(_signal: int, _frame: FrameType | None) -> None:
    time.sleep(0.3)
    os.write(1, b"ended\n")  # a signal may come within a print
    os._exit(0)


def main() -> None:
    kind, workers = sys.argv[1], int(sys.argv[2])
    first = Path(tempfile.mkdtemp()) / "first"

    def work() -> None:
        if kind == "first works, others fail":
            try:
                os.close(os.open(first, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                raise RelstudyError("this worker cannot start") from None
        elif kind == "all fail":
            raise RelstudyError("this worker cannot start")
        elif kind == "all fall at once":
            os.abort()
        elif kind == "ends slowly":
            signal.signal(signal.SIGTERM, end_slowly)
        print("working", flush=True)
        time.sleep(600)

    try:
        supervise(work, workers)
    except RelstudyError as error:
        print(f"relstudy: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
