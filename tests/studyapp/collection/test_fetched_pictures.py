"""Pictures by address are fetched where somebody asks for it, from public machines alone, and within bounds."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection import fetched_pictures
from relstudy.studyapp.collection.fetched_pictures import fetch_pictures, is_public
from tests.commands import relstudy, succeeds


def png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (9, 9, 9)).save(file, "PNG")
    return file.getvalue()


class Pictures(BaseHTTPRequestHandler):
    """A server that answers by the path."""

    def do_GET(self) -> None:
        where, body, status = self.path, png(), 200
        if where.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", where.removeprefix("/to?"))
            self.end_headers()
            return
        if where == "/page.png":
            body = b"<svg onload=alert(1)>"
        elif where == "/gone.png":
            status = 404
        elif where == "/large.png":
            body = png() + bytes(5_000)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The server's address; this machine counts as public."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(fetched_pictures, "is_public", lambda address: address == "127.0.0.1")
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def table(base: str) -> pd.DataFrame:
    rows = [(f"query {q}", s, f"{base}/{s}{q}.png") for q in range(3) for s in "ab"]
    return pd.DataFrame(rows, columns=["query", "system", "image"])


def test_pictures_are_fetched_once_somebody_asks(tmp_path: Path, base: str) -> None:
    table(base).to_csv(tmp_path / "t.csv", index=False)
    words = ("ask", tmp_path / "t.csv", "-o", tmp_path / "study", "--no-serve")
    refused = relstudy(*words)
    assert refused.exit_code == 1 and "--fetch fetches them" in refused.output and not (tmp_path / "study").exists()
    succeeds(*words, "--fetch")
    items = pd.read_csv(tmp_path / "study" / "collection.csv", dtype=str, keep_default_na=False)
    pictures = items[items["kind"] == "image"]
    assert len(pictures) == 6 and all((tmp_path / "study" / path).read_bytes() == png() for path in pictures["path"])
    assert not items.apply(lambda column: column.str.contains("127.0.0.1")).any().any()
    asked = rs.ask(table(base), tmp_path / "other", fetch=True)
    assert asked.results == 6


def test_where_an_address_leads_is_followed_and_what_is_no_picture_refused(tmp_path: Path, base: str) -> None:
    names = fetch_pictures([f"{base}/to?/a.png", f"{base}/to?/a.png"], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == list(names.values())
    for address, why in (
        (f"{base}/page.png", "not a JPEG, PNG, GIF or WebP"),
        (f"{base}/gone.png", "status 404"),
        (f"{base}/to?/to?/to?/to?/to?/a.png", "it leads on and on"),
        (f"{base}/to?http://localhost.invalid/a.png", r"http://127\.0\.0\.1"),
        (f"{base}/to?file:///etc/passwd", "not an address by http or https"),
    ):
        with pytest.raises(RelstudyError, match=why):
            fetch_pictures([address], tmp_path)


def test_private_machines_are_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = ("127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "0.0.0.0", "::1", "fe80::1%eth0", "fd00::1")
    assert not any(map(is_public, (*private, "::ffff:127.0.0.1", "224.0.0.1"))) and is_public("2606:4700::1111")
    asked: list[object] = []
    monkeypatch.setattr(fetched_pictures.socket, "create_connection", lambda *given: asked.append(given))
    for host in ("localhost", "127.0.0.1", "[::1]", "10.0.0.1"):
        with pytest.raises(RelstudyError, match="not on a public machine"):
            fetch_pictures([f"http://{host}/a.png"], tmp_path)
    assert asked == []


def test_size_and_number_are_bounded(tmp_path: Path, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched_pictures, "LARGEST", 1_000)
    with pytest.raises(RelstudyError, match="over 0 MB"):
        fetch_pictures([f"{base}/large.png"], tmp_path)
    monkeypatch.setattr(fetched_pictures, "ALTOGETHER", len(png()) + 10)
    with pytest.raises(RelstudyError, match="1 picture cannot be fetched"):
        fetch_pictures([f"{base}/a.png", f"{base}/b.png"], tmp_path)
    monkeypatch.setattr(fetched_pictures, "MOST", 1)
    with pytest.raises(RelstudyError, match="up to 1 are fetched"):
        fetch_pictures([f"{base}/a.png", f"{base}/b.png"], tmp_path)
