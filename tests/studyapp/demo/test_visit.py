"""The small browser: forms, cookies, redirections and refusals, against a real HTTP server."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.demo.rating import Visitor, read_page, visit, visit_all

RATE = """<form method="post" action="/rate/{n}"><input type="hidden" name="csrf" value="c{n}">
<section><a data-item="query{n}"><img src="/picture"></a></section>
<ol><li data-result="1"><a data-item="a{n}"></a><input type="radio" name="rating-1" value="1">
<input type="radio" name="rating-1" value="undecided"></li>
<li data-result="2"><a data-item="b{n}"></a><input type="radio" name="rating-2" value="1"></li></ol></form>
<form method="post" action="/leave"><input type="hidden" name="csrf" value="other"></form>"""


class Study(BaseHTTPRequestHandler):
    """Consent, two rating pages, thanks; refuses who comes without cookie or token."""

    got: list[tuple[str, dict[str, list[str]]]]

    def log_message(self, *arguments):
        pass

    def _send(self, status, body="", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        content = body.encode()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        if self.path == "/enter/good":
            return self._send(302, Location="/consent", Set_Cookie="who=me; Path=/; HttpOnly")
        if self.path == "/loop":
            return self._send(302, Location="/loop")
        if "who=me" not in self.headers.get("Cookie", ""):
            return self._send(403, "<p>You need your personal link.</p>")
        if self.path == "/consent":
            form = (
                '<form method="post"><input type="hidden" name="csrf" value="c">'
                '<input type="checkbox" name="agree" value="yes"></form>'
            )
            return self._send(200, form)
        if self.path.startswith("/rate/"):
            return self._send(200, RATE.format(n=self.path[6:]))
        return self._send(200, "<h1>Thanks</h1> code 1234")

    def do_POST(self):
        fields = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.got.append((self.path, fields))
        self._send(303, Location={"/consent": "/rate/1", "/rate/1": "/rate/2"}.get(self.path, "/thanks"))


@pytest.fixture
def base():
    Study.got = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Study)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_visit_goes_from_link_to_thanks_and_sends_what_was_answered(base):
    seen = []

    def answer(query, results, values, question):
        seen.append((query, *results, question))
        return values[-1]

    end = visit(base, "/enter/good", answer)
    assert "code 1234" in end
    assert seen == [("query1", "a1", ""), ("query1", "b1", ""), ("query2", "a2", ""), ("query2", "b2", "")]
    assert Study.got == [
        ("/consent", {"csrf": ["c"], "agree": ["yes"]}),
        ("/rate/1", {"csrf": ["c1"], "rating-1": ["undecided"], "rating-2": ["1"]}),
        ("/rate/2", {"csrf": ["c2"], "rating-1": ["undecided"], "rating-2": ["1"]}),
    ]


def test_a_refusal_is_told_in_the_apps_own_words(base):
    with pytest.raises(RelstudyError, match="403: You need your personal link"):
        visit(base, "/consent", lambda *_: "1")


def test_one_rater_in_trouble_is_not_passed_over(base):
    with pytest.raises(RelstudyError, match="1 of 2 simulated raters could not finish"):
        visit_all(base, ["/enter/good", "/rate"], [lambda *_: "1", lambda *_: "1"])


def test_redirection_without_end_is_noticed(base):
    with pytest.raises(RelstudyError, match="redirects without end"):
        Visitor(base).get("/loop")


def test_only_the_first_posting_form_counts():
    page = read_page(RATE.format(n=7))
    assert page.action == "/rate/7"
    assert page.hidden == {"csrf": "c7"}
    assert page.results == {"1": ["a7"], "2": ["b7"]}


def test_an_address_that_is_none_is_refused():
    with pytest.raises(RelstudyError, match="not an address"):
        Visitor("nonsense")
