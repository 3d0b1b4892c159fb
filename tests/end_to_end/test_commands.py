"""The commands as a person types them, one after the other, on what the demo wrote."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.server

COMMAND = [sys.executable, "-m", "relstudy"]


def relstudy(*arguments, code=0):
    """Run a command; its standard output and standard error."""
    done = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-3000:])
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A finished demo, and what it printed."""
    folder = tmp_path_factory.mktemp("commands") / "demo"
    output, notes = relstudy("demo", folder, "--no-serve", "--images", 150, "--raters", 4, "--json")
    return folder, json.loads(output), notes


def test_the_demo_prints_json_with_its_stages_and_what_it_recovered(demo):
    folder, found, notes = demo
    assert found["folder"] == str(folder)
    assert found["raters"] == 4
    assert [stage["title"] for stage in found["stages"]][:2] == [
        "Paint the collection",
        "Let the systems score every pair",
    ]
    assert {row["quantity"] for row in found["recovered"]} >= {"rater offsets: correlation", "average precision"}
    count = len(found["stages"])
    assert count == 10
    for number in range(1, count + 1):
        assert f"[{number}/{count}]" in notes
    assert (folder / "report" / "index.html").stat().st_size > 50_000


def test_each_command_the_demo_names_gives_the_same_tables_by_hand(demo, tmp_path):
    folder, _, _ = demo
    output, _ = relstudy("export", folder, "-o", tmp_path / "ratings.csv", "--json")
    assert json.loads(output)["raters"] == 4
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "ratings.csv"), pd.read_csv(folder / "ratings.csv"))

    relstudy("calibrate", tmp_path / "ratings.csv", "-o", tmp_path, "--pairs", folder / "pairs.csv")
    for name in ("judgments.csv", "raters.csv"):
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / name), pd.read_csv(folder / name))

    for system in ("keywords", "colour"):
        scores = folder / "scores" / f"{system}.csv"
        relstudy("fit", scores, "--judgments", tmp_path / "judgments.csv", "-o", tmp_path / "mappings")
        by_hand = json.loads((tmp_path / "mappings" / f"{system}.json").read_text())
        by_demo = json.loads((folder / "mappings" / f"{system}.json").read_text())
        assert by_hand["method"] == by_demo["method"]
        np.testing.assert_allclose(by_hand["values"], by_demo["values"])

    files = [folder / "scores" / f"{system}.csv" for system in ("keywords", "colour")]
    output, _ = relstudy(
        *("score", *files, "--judgments", tmp_path / "judgments.csv", "--mappings", tmp_path / "mappings", "--json")
    )
    ours, theirs = json.loads(output)["systems"], json.loads((folder / "scores.json").read_text())["systems"]
    for system in ("keywords", "colour"):
        for index in ("average_precision", "normalised_rank"):
            assert ours[system][index]["value"] == pytest.approx(theirs[system][index]["value"])


def test_a_new_system_is_placed_among_the_others_without_asking_anyone_again(demo, tmp_path):
    folder, _, _ = demo
    truth = pd.read_csv(folder / "truth" / "pairs.csv", dtype={"query_id": str, "result_id": str})
    rng = np.random.default_rng(0)
    run = tmp_path / "oracle.run"
    lines = [
        f"{row.query_id} Q0 {row.result_id} 1 {row.relevance + rng.normal(0, 0.1):.4f} oracle"
        for row in truth.itertuples()
    ]
    run.write_text("\n".join(lines) + "\n")
    output, _ = relstudy("score", run, "--against", folder / "comparison.json", "--json")
    systems = json.loads(output)["systems"]
    ranks = {name: system["normalised_rank"]["value"] for name, system in systems.items()}
    assert min(ranks, key=ranks.get) == "oracle"
    # A system that knows the truth but for a tenth of a point has almost every good match above every poor one.
    assert ranks["oracle"] < 0.02


def test_the_report_command_writes_the_page_anew(demo):
    folder, _, _ = demo
    page = folder / "report" / "index.html"
    before = page.stat().st_mtime_ns
    relstudy("report", folder)
    assert page.stat().st_mtime_ns > before
    assert "Recovered against true" in page.read_text(encoding="utf-8")


def test_sampling_again_is_refused_because_ratings_exist(demo):
    folder, _, _ = demo
    before = (folder / "pairs.csv").read_bytes()
    _, notes = relstudy("sample", folder, code=1)
    assert "pairs.csv has ratings" in notes
    assert (folder / "pairs.csv").read_bytes() == before


def test_a_folder_that_is_no_demo_is_refused_with_one_sentence(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    _, notes = relstudy("demo", tmp_path, "--no-serve", code=1)
    assert notes.startswith(f"relstudy: {tmp_path}: this folder is not empty")
    assert len(notes.strip().splitlines()) == 1


def test_wrong_use_ends_with_code_2():
    _, notes = relstudy("demo", "--images", "three", code=2)
    assert "Usage: relstudy demo" in notes


def test_the_demo_then_serves_app_and_report_and_ctrl_c_ends_it_cleanly(tmp_path):
    folder = tmp_path / "served"
    arguments = ["demo", folder, "--images", "60", "--raters", "2", "--port", "0"]
    child = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    addresses = {}
    heard = []
    try:
        assert child.stderr is not None
        for line in child.stderr:
            heard.append(line)
            for what in ("The app", "The admin pages", "The report"):
                if line.startswith(what):
                    addresses[what] = line.split()[-1]
            if line.startswith("Ctrl-C"):
                break
        assert len(addresses) == 3, "".join(heard)
        with urllib.request.urlopen(addresses["The app"] + "health", timeout=10) as answer:
            assert json.load(answer) == {"status": "ok"}
        with urllib.request.urlopen(addresses["The app"], timeout=10) as answer:
            assert "Which pictures match?" in answer.read().decode()
        with urllib.request.urlopen(addresses["The report"], timeout=10) as answer:
            assert "Recovered against true" in answer.read().decode()
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 0
        assert "Stopped." in child.stderr.read()
        assert _stops_answering(addresses["The app"] + "health")
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def _stops_answering(address, seconds=30):
    """Whether the address soon refuses: what served it may outlive the command by a moment."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            return True
        time.sleep(0.1)
    return False
