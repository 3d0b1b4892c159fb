"""Servers that will answer nothing, and servers that ask for patience."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

from relstudy.studyapp.judging import client as client_module
from relstudy.studyapp.judging.client import ChatClient, Pace
from tests.commands import relstudy
from tests.studyapp.judging.stub import KEY, Said, change_default, serving


def ask(folder: Path, url: str, *arguments: str) -> Result:
    asked = ["--model", "m-1", "--base-url", url, "--pairs", "judged", "--repeat", "0", *arguments]
    return relstudy("judge", folder, "--judge", "m", *asked)


def said(status: int, message: str, **more: str) -> Said:
    return Said(status=status, raw=json.dumps({"error": {"message": message, **more}}).encode())


HOPELESS = {
    "a wrong key": (
        said(401, f"Incorrect API key provided: {KEY}"),
        "Incorrect API key provided: [key]",
        "key_variable",
    ),
    "no quota": (
        said(429, "You exceeded your current quota.", code="insufficient_quota"),
        "You exceeded your current quota., insufficient_quota",
        "nothing is left to pay with",
    ),
    "nothing paid": (said(402, "Please add credit."), "Please add credit.", "nothing is left to pay with"),
    "a refused parameter": (
        said(400, "Unsupported value: 'temperature' does not support 0."),
        "Unsupported value: 'temperature' does not support 0.",
        "--parameter NAME=VALUE",
    ),
    "no such model": (said(404, "The model m-1 does not exist"), "The model m-1 does not exist", "--model"),
}


@pytest.mark.parametrize(("response", "sentence", "cure"), HOPELESS.values(), ids=HOPELESS)
@pytest.mark.parametrize("workers", ["1", "8"])
def test_a_server_that_answers_nothing_ends_the_run_within_five_seconds_in_its_own_words(
    folder: Path, waits: list[float], response: Said, sentence: str, cure: str, workers: str
) -> None:
    with serving(lambda before, text: response) as stub:
        done = ask(folder, stub.url, "--workers", workers)
    assert sum(waits) < 1 and done.exit_code == 1
    assert sentence in done.output and cure in done.output and KEY not in done.output
    assert len(stub.questions) <= 2 * max(3, int(workers))  # some were on their way
    assert not (folder / "judges" / "m.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "8"])
def test_where_nobody_is_the_run_ends_within_five_seconds(folder: Path, waits: list[float], workers: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    done = ask(folder, url, "--workers", workers)
    assert sum(waits) / int(workers) < 4 and done.exit_code == 1
    assert "cannot be reached" in done.output and "refused" in done.output and "--base-url" in done.output


@pytest.mark.slow
def test_a_server_that_never_answers_in_time_ends_the_run_and_the_option_that_waits_is_named(folder: Path) -> None:
    with serving(lambda before, text: Said(delay=0.6)) as stub:
        done = ask(folder, stub.url, "--limit", "2", "--workers", "2", "--timeout", "0.2")
    assert done.exit_code == 1 and "within 0.2 seconds" in done.output and "--timeout waits longer" in done.output


def test_what_was_answered_before_a_server_became_hopeless_is_kept_and_written(folder: Path) -> None:
    with serving(lambda before, text: Said()) as stub:
        assert ask(folder, stub.url, "--limit", "5").exit_code == 0
    with serving(lambda before, text: said(400, "no more")) as stub:
        done = ask(folder, stub.url, "--workers", "2")
    assert done.exit_code == 1 and "What was answered is kept" in done.output
    assert (pd.read_csv(folder / "judges" / "m.csv")["status"] == "ok").sum() == 5


def test_questions_that_fail_between_others_do_not_end_the_run(folder: Path) -> None:
    with serving() as stub:
        stub.answer = lambda before, text: said(400, "too large") if len(stub.questions) % 3 else Said()
        done = ask(folder, stub.url, "--workers", "1")
    assert done.exit_code == 0, done.output
    assert "questions got no answer" in done.output and "too large" in done.output


def test_temperature_is_sent_only_where_it_is_set(folder: Path) -> None:
    with serving() as stub:
        assert ask(folder, stub.url, "--limit", "1").exit_code == 0
    assert set(stub.questions[0]) == {"model", "messages"}
    with serving() as stub:
        done = ask(folder, stub.url, "--limit", "1", "--judge", "n", "--parameter", "temperature=0")
    assert done.exit_code == 0 and stub.questions[0]["temperature"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 503])
def test_all_of_120_questions_are_answered_by_a_server_that_limits_without_saying_how_long(
    folder: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """Ten answers in each tenth of a second, to eight workers that would ask for hundreds."""
    (folder / "collection.csv").write_text(
        "item_id,kind,path,title,text\n" + "".join(f"t{k},text,,,text {k}\n" for k in range(12))
    )
    pairs = [(f"t{a}", f"t{b}") for a in range(12) for b in range(12) if a != b][:120]
    rows = [f"{k},{a},{b},text,,1,1.0,unique" for k, (a, b) in enumerate(pairs)]
    head = "pair_id,query_id,result_id,paradigm,source,rank,inclusion_probability,block"
    (folder / "pairs.csv").write_text("\n".join([head, *rows]))
    change_default(monkeypatch, 1.0, 0.02)
    taken: list[float] = []

    def limited(before: int, text: str) -> Said:
        now = time.monotonic()
        if sum(now - each < 0.1 for each in taken) >= 10:
            return said(status, "Rate limit reached")
        taken.append(now)
        return Said()

    with serving(limited) as stub:
        done = ask(folder, stub.url, "--workers", "8")
    assert done.exit_code == 0, done.output
    assert (pd.read_csv(folder / "judges" / "m.csv")["status"] == "ok").sum() == 120
    assert len(stub.questions) < 360  # a worker that retries by itself asks for each several times


@dataclass
class Clock:
    """Stands still, so that a busy machine takes nothing off a pause."""

    now: float = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    standing = Clock()
    monkeypatch.setattr(client_module, "time", standing)
    return standing


def test_a_pause_grows_for_all_workers_together_and_once_for_requests_of_one_time(clock: Clock) -> None:
    waits: list[float] = []
    pace = Pace(1.0, waits.append)
    assert all(pace.limited(clock.now, None) for _ in range(8))
    assert pace.pauses == 1
    with pace.turn():
        pass
    assert 0.75 <= waits[0] <= 1.25
    clock.now += 2  # the pause is over
    assert pace.limited(clock.now, None) and pace.pauses == 2
    with pace.turn():
        pass
    assert 1.5 <= waits[1] <= 2.5
    pace.answered()
    assert pace.pauses == 0


def test_the_time_that_a_server_names_is_kept_by_all_workers(clock: Clock) -> None:
    waits: list[float] = []
    pace = Pace(1.0, waits.append)
    pace.limited(clock.now, 7.0)
    for _ in range(3):
        with pace.turn():
            pass
    assert waits == [7, 7, 7]


def test_a_server_that_never_stops_limiting_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LONGEST_PAUSE", 0.002)
    with serving(lambda before, text: said(429, "slow down")) as stub:
        client = ChatClient(stub.url, "m", first_wait=0.001)
        with pytest.raises(client_module.NoReply, match="slow down"):
            client.ask([{"role": "user", "content": "?"}])
    assert len(stub.questions) == client_module.MOST_PAUSES + 1


def test_an_error_inside_a_good_reply_is_asked_again(folder: Path) -> None:
    busy = Said(raw=json.dumps({"error": {"message": f"overloaded {KEY}", "code": 503}}).encode())
    with serving(lambda before, text: busy if before == 0 else Said()) as stub:
        client = ChatClient(stub.url, "m", key=KEY, first_wait=0.01)
        assert client.ask([{"role": "user", "content": "?"}]).body["choices"]
        assert len(stub.questions) == 2
    with serving(lambda before, text: busy) as stub:
        client = ChatClient(stub.url, "m", key=KEY, first_wait=0.001)
        with pytest.raises(client_module.NoReply, match=r"overloaded \[key\]"):
            client.ask([{"role": "user", "content": "?"}])


@pytest.mark.parametrize("given", [None, 50])
def test_an_answer_that_was_cut_off_is_asked_for_once_more_with_more_tokens(folder: Path, given: int | None) -> None:
    cut = Said("<think>It may well be that", finish_reason="length")
    more = ["--parameter", f"max_tokens={given}"] if given else []
    with serving(lambda before, text: cut if before == 0 else Said()) as stub:
        done = ask(folder, stub.url, "--limit", "1", "--workers", "1", *more)
    assert done.exit_code == 0 and [each.get("max_tokens") for each in stub.questions] == [given, 2048]
    assert (pd.read_csv(folder / "judges" / "m.csv")["status"] == "ok").sum() == 1
    with serving(lambda before, text: cut) as stub:
        done = ask(folder, stub.url, "--limit", "1", "--workers", "1", *more)
        again = ask(folder, stub.url, "--limit", "1", "--workers", "1", *more)
    assert "1 answer was cut off twice; --parameter max_tokens=N" in done.output
    assert len(stub.questions) == 4 and again.exit_code == 0  # two of one pair, two of the next


def test_an_address_may_name_the_version_of_its_interface_and_then_the_key_goes_in_a_header_of_its_own() -> None:
    with serving() as stub:
        client = ChatClient(stub.url + "?api-version=2024-06-01", "m", key=KEY)
        client.ask([{"role": "user", "content": "?"}])
    assert stub.paths == ["/v1/chat/completions?api-version=2024-06-01"]
    assert stub.keys == {None} and stub.headers[0]["api-key"] == KEY


@pytest.mark.parametrize("echo", [json.dumps(KEY)[1:-1].replace("-", "\\u002d"), KEY.replace("s", "\\u0073")])
def test_a_key_that_a_server_repeats_in_escapes_stands_nowhere(folder: Path, echo: str) -> None:
    answer = b'{"choices": [{"message": {"content": "{\\"grade\\": 4, \\"why\\": \\"%b\\"}"}}]}' % echo.encode()
    with serving(lambda before, text: Said(raw=answer)) as stub:
        done = ask(folder, stub.url, "--limit", "2")
    assert done.exit_code == 0
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in each or echo.encode() in each for each in files)
    assert "[key]" in (folder / "judges" / "m.jsonl").read_text()


UNREADABLE = {
    "half of it": (b'{"choices": [{"mess', 'it begins \'{"choices": [{"mess\''),
    "a stream": (b'data: {"choices": []}\n\n', "--parameter stream=false"),
    "a page": (b"<html>\x1b[2J", "it begins '<html>"),
    "gzip": (b"\x1f\x8b\x08\x00", "compressed"),
    "nothing": (b"", "it is empty"),
}


@pytest.mark.parametrize(("raw", "sentence"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_reply_that_is_not_json_is_paid_once_and_shown(raw: bytes, sentence: str) -> None:
    """Each was asked six times, though asked again the server answers the same."""
    with serving(lambda before, text: Said(raw=raw)) as stub, pytest.raises(client_module.NoReply) as refused:
        ChatClient(stub.url, "m-1").ask([{"role": "user", "content": "?"}])
    assert len(stub.questions) == 1
    assert sentence in str(refused.value) and "\x1b" not in str(refused.value)
    assert refused.value.said == raw.decode("utf-8", "backslashreplace")


@pytest.mark.slow
def test_a_reply_that_cannot_be_read_is_kept_as_it_came_without_the_key(folder: Path) -> None:
    with serving(lambda before, text: Said(raw=f"<p>{KEY} \xe9".encode("latin-1"))) as stub:
        ask(folder, stub.url, "--limit", "1")
    records = [json.loads(line) for line in next((folder / "judges").glob("*.jsonl")).read_text().splitlines()]
    assert [(each["status"], each["said"]) for each in records] == [("error", "<p>[key] \\xe9")]


ODD = {
    "no logarithm of nothing": '"logprobs": {"content": [{"logprob": -Infinity}, {"logprob": NaN}]}',
    "half a surrogate pair": '"reason": "\\ud83d"',
    "a count of 4,000 digits": f'"usage": {{"total_tokens": {"9" * 4000}}}',
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_one_odd_reply_does_not_end_a_run(folder: Path, odd: str) -> None:
    """It ended every run in a traceback: nothing was kept of it, so that it was asked and paid again."""
    answer = json.dumps({"role": "assistant", "content": '{"grade": 4}'})
    raw = f'{{"choices": [{{"message": {answer}, "finish_reason": "stop", {odd}}}], {odd}}}'.encode()
    with serving(lambda before, text: Said(raw=raw) if before == 0 else Said()) as stub:
        done = ask(folder, stub.url, "--limit", "3", "--workers", "1")
        assert done.exit_code == 0, done.output
        ask(folder, stub.url, "--limit", "3", "--workers", "1")
        assert set(stub.times_asked().values()) == {1} and len(stub.questions) == 6


@pytest.mark.parametrize("headers", [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_the_limit_of_time_is_for_the_whole_answer(headers: bytes) -> None:
    """A server that sends a byte now and then, of its headers or after them, kept a worker for as long as it liked."""

    import http.server
    import threading

    left = threading.Event()

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                for drop in [headers, *[b" "] * 40]:
                    self.wfile.write(drop)
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                left.set()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = ChatClient(f"http://127.0.0.1:{server.server_port}/v1", "m", timeout=0.3, attempts=1)
        client.pace.reached = True
        with pytest.raises(client_module.NoReply, match=r"no answer within 0\.3 seconds"):
            client.ask([{"role": "user", "content": "?"}])
        assert left.wait(10), "the client stayed for every drop"
    finally:
        server.shutdown()
        server.server_close()
