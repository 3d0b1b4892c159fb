"""The listening socket, Waitress as every worker runs it, and its connections with a deadline and shares."""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import select
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import ErrorTask, WSGITask
from waitress.wasyncore import readwrite

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.web.app import BODY_LIMIT
from relstudy.studyapp.web.log import log_event, log_to
from relstudy.studyapp.web.mount import WsgiApp
from relstudy.studyapp.web.options import ServerOptions
from relstudy.studyapp.web.security import HEADERS
from relstudy.studyapp.web.session import as_ipv4, customer
from relstudy.studyapp.web.single_sign_on import PROXIED


@dataclass(frozen=True)
class Shares:
    """Connections of each address, the oldest first, and how many there may be.

    When all are taken, a newcomer gets the place of one on which nothing is being done, of the address that has most:
    who opens all that a worker has holds up only themselves.

    Parameters
    ----------
    most : of one address; 0: any number
    proxy : an address that speaks for many, and may have all
    places : of all addresses together
    """

    most: int
    proxy: str | None = None
    places: int = sys.maxsize
    held: defaultdict[str, dict[HTTPChannel, None]] = field(default_factory=lambda: defaultdict(dict))

    def take(self, channel: HTTPChannel, whose: str, taken: int) -> bool:
        """Count a connection, where so many are taken before it; whether it may stay."""
        if taken >= self.places:
            self._make_room()
        self.held[whose][channel] = None
        return not self.most or whose == self.proxy or len(self.held[whose]) <= self.most

    def give_back(self, channel: HTTPChannel, whose: str) -> None:
        """A connection has ended."""
        self.held[whose].pop(channel, None)
        if not self.held[whose]:
            del self.held[whose]

    def _make_room(self) -> None:
        for channels in sorted(self.held.values(), key=len, reverse=True):
            oldest = next((each for each in channels if not each.requests), None)
            if oldest is not None:
                oldest.handle_close()
                return


class _Answer(WSGITask):
    """A request's answer, whose end is sent by the thread that wrote it."""

    def finish(self) -> None:
        super().finish()
        self.channel.flush()


class _Refusal(ErrorTask):
    """The same, of a request that is none, or is too large: Waitress answers it, and the app never sees it."""

    def execute(self) -> None:
        self.response_headers.extend(HEADERS.items())
        super().execute()

    def finish(self) -> None:
        super().finish()
        self.channel.flush()


class _Request(HTTPRequestParser):
    """A request that says its length once. Of two a proxy in front may believe the other, and take the end of one
    request for another of somebody else's (RFC 9112, 6.1 and 6.3)."""

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        lets_send = getattr(self.adj, "lets_send", None)
        much = self.chunked or self.content_length > 2 * BODY_LIMIT
        if lets_send is not None and much and not lets_send(self.headers.get("COOKIE", "")):
            raise ParsingError("nothing of this size is taken from you")
        if "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers):
            raise ParsingError("the request gives its length twice")


class Connection(HTTPChannel):
    """A connection whose request must be there whole within `channel_timeout` of its first byte.

    Waitress closes those that are silent for so long; who sends a byte now and then would stay for ever. One more than
    the address may have is closed at once, and where all places are taken, room is made. Requests sent ahead are
    answered as long as answers are taken, so that each connection has no more than one file open.

    Parameters
    ----------
    shares : connections of each address
    events : what tells `run_by_events` of connections; None: Waitress' own loop looks at each in every turn
    """

    parser_class, task_class, error_task_class = _Request, _Answer, _Refusal
    held = b""  # the beginning of an answer, until there is enough of it to be sent: head and page in one packet
    began: float | None = None
    last_activity: float
    requests: list[Any]

    def __init__(
        self, server: Any, sock: socket.socket, addr: Any, adj: Any, map: Any, shares: Shares, events: Any = None
    ) -> None:
        if isinstance(addr, tuple):
            addr = (as_ipv4(str(addr[0])), *addr[1:])
        self.shares, self.whose, self.events = shares, customer(str(addr[0])), events
        taken = len(server.active_channels)
        super().__init__(server, sock, addr, adj, map=map)
        if not shares.take(self, self.whose, taken):
            self.close()

    def add_channel(self, map: Any = None) -> None:
        """The connection has begun; Waitress' hook."""
        super().add_channel(map)
        if self.events is not None:
            self.events.register(self._fileno, select.EPOLLIN | select.EPOLLONESHOT)

    def del_channel(self, map: Any = None) -> None:
        """The connection has ended; Waitress' hook."""
        self.shares.give_back(self, self.whose)
        if self.events is not None and self._fileno is not None:
            with contextlib.suppress(OSError):
                self.events.unregister(self._fileno)
        super().del_channel(map)

    def watch(self) -> None:
        """Have the loop told, once, when there is more of a request, or room for what was not sent; by any thread."""
        number = self._fileno
        if self.events is None or number is None:
            return
        flags = (select.EPOLLIN if self.readable() else 0) | (select.EPOLLOUT if self.writable() else 0)
        if flags:
            with contextlib.suppress(OSError, ValueError):  # closed in this moment: there is nothing to be told of
                self.events.modify(number, flags | select.EPOLLONESHOT)

    def handle_read(self) -> None:
        """Take what there is; a form is mostly right behind its head."""
        for _ in range(2):
            try:
                data = self.socket.recv(self.adj.recv_bytes)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.handle_close()
                return
            self.last_activity = time.time()
            self.received(data)
            if self.request is None or not self.connected:
                return

    def received(self, data: bytes) -> bool:
        """Take what has come; time runs from the request's first byte until it is whole."""
        wanted = bool(super().received(data))
        if self.request is None:
            self.began = None
        else:
            self.began = self.last_activity if self.began is None else self.began
            self.last_activity = self.began
        return wanted

    def write_soon(self, data: Any) -> int:
        """Send what is much; what the other side does not take waits for the loop."""
        if isinstance(data, bytes):
            self.held += data
            if len(self.held) >= SEND_BYTES:
                self.flush()
            return len(data)
        self.flush()
        written = int(super().write_soon(data))
        self.watch()
        return written

    def flush(self) -> None:
        """Send what there is of an answer."""
        held, self.held = self.held, b""
        super().write_soon(held)
        if self.total_outbufs_len:
            self.watch()

    def service(self) -> None:
        """Answer a request, and have the loop told of the next one."""
        self.held = b""
        if self.total_outbufs_len:
            with self.requests_lock:
                self.close_when_flushed = True
                for each in self.requests:
                    each.close()
                self.requests = []
        else:
            super().service()
        self.watch()

    def handle_write(self) -> None:
        """Send what waits; where its file has become shorter there is nothing to send for ever, and this is the end."""
        super().handle_write()
        if self.connected and self.total_outbufs_len and not self.requests:
            with self.outbuf_lock:
                first = self.outbufs[0]
                is_short = len(first) > 0 and not first.get(1)
            if is_short:
                self.handle_close()


def run_by_events(server: Any, events: Any) -> None:
    """Waitress' loop, in which a turn costs what has happened, and not how many connections are open.

    Its own looks at every connection before each wait, and is woken by each thread that has answered, so that a page
    cost the more the more raters there were. Here the system keeps what each connection waits for: a thread that has
    answered says so itself (`Connection.watch`).
    """
    events.register(server.socket, select.EPOLLIN)
    hears = _Accepting(server.accept)
    server.accept = hears.accept
    listens = True
    while server.accepting:
        looked_after = server.next_channel_cleanup
        wanted = server.readable() and time.monotonic() >= hears.not_before
        if server.next_channel_cleanup != looked_after:
            for channel in list(server.active_channels.values()):
                # at once: who takes no answer never has room for the rest of it
                if channel.will_close and not channel.requests:
                    channel.handle_close()
        if wanted != listens:
            events.modify(server.socket, select.EPOLLIN if wanted else 0)
            listens = wanted
        for number, flags in events.poll(1.0):
            channel = server._map.get(number)
            if channel is not None:
                readwrite(channel, flags)
                if channel is not server:
                    channel.watch()


class _Accepting:
    """Takes connections; where the process may open no more files it says so, and hears nobody new for a second."""

    def __init__(self, accept: Callable[[], Any]) -> None:
        self._accept = accept
        self.not_before = 0.0

    def accept(self) -> Any:
        try:
            return self._accept()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self.not_before = time.monotonic() + 1
            message = "no more files may be open: new connections wait a second"
            log_event("connections", trouble=message)
            return None


REQUEST_SECONDS = 30  # for a request to be there whole
MOST_CONNECTIONS = 8000  # in each worker; half-open ones cost little until they are closed
FILES_EACH = 2  # that a connection may have open: itself, and the file that is its answer
# How long a thread keeps the interpreter from others that want it. Python's 5 ms are as long as a whole page takes: who
# holds the database's only write transaction waited so long after each of its statements for threads that write HTML.
SWITCH_SECONDS = 0.0005
SEND_BYTES = 1 << 14  # of an answer, from which on its beginning is sent before its end is there
SPARE = 20  # of them, for those that come while room is being made: at its limit Waitress hears nobody


def shown_address(listener: socket.socket, server: ServerOptions) -> str:
    """The host and port that browsers of this machine can ask."""
    host, port = server.host, listener.getsockname()[1]
    if host in ("0.0.0.0", "::"):
        return f"localhost:{port}"
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def announce(listener: socket.socket, server: ServerOptions) -> None:
    """Print where the server listens, and send its log to standard error from then on."""
    print(f"listening on {shown_address(listener, server)}", flush=True)
    log_to(sys.stderr, logging.WARNING if server.quiet else logging.INFO)


def listen(host: str, port: int) -> socket.socket:
    """A socket that several processes can take connections from; RelstudyError where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise RelstudyError(f"cannot listen on {host}, port {port}: {error.strerror}; choose another --port") from None
    listener.listen(1024)
    return listener


def make_worker(
    app: WsgiApp,
    listener: socket.socket,
    options: ServerOptions,
    body: int = 2 * BODY_LIMIT,
    lets_send: Callable[[str], bool] | None = None,
) -> Any:
    """Waitress as every worker runs it, with a limit to the bytes of a request; more than a form's are taken only from
    whom `lets_send` lets, by the cookies of the request.

    Of the trusted proxy's X-Forwarded-For, -Proto and -Host the last entries are believed, which it wrote itself;
    whatever anybody else sends of them is dropped.
    """
    import waitress

    sys.setswitchinterval(SWITCH_SECONDS)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    proxy: dict[str, object] = {}
    if options.trusted_proxy:
        proxy = {
            "trusted_proxy": options.trusted_proxy,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"},
        }
    # Waitress reads a request whole before a thread sees it, so that a slow sender holds up nobody. Nor does who takes
    # no answers: what is not sent yet waits in a file, and not in a thread.
    connections = _most_connections()
    server = waitress.create_server(
        app,
        sockets=[listener],
        threads=options.threads,
        channel_timeout=REQUEST_SECONDS,
        cleanup_interval=5,
        connection_limit=connections,
        asyncore_use_poll=True,  # select() ends at 1,024 descriptors
        max_request_body_size=body,
        max_request_header_size=32 * 1024,
        outbuf_high_watermark=sys.maxsize,
        ident=None,
        clear_untrusted_proxy_headers=True,
        **proxy,
    )
    server.adj.lets_send = lets_send
    proxy_in_front = customer(options.trusted_proxy) if options.trusted_proxy else None
    shares = Shares(options.per_address, proxy_in_front, connections - SPARE)
    server.application = _noting_the_proxy(server.application, options.trusted_proxy)
    events = select.epoll() if hasattr(select, "epoll") else None
    server.channel_class = functools.partial(Connection, shares=shares, events=events)
    if events is not None:
        server.pull_trigger = _wake_nobody
        server.run = functools.partial(run_by_events, server, events)
    return server


def _wake_nobody() -> None:
    """In place of waking Waitress' loop, which `Connection.watch` does for one connection."""


def _noting_the_proxy(app: WsgiApp, trusted_proxy: str | None) -> WsgiApp:
    """The app, told which requests come over the trusted proxy's own connection: who asks behind it is put there
    instead before the app sees it."""

    def noting(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if trusted_proxy and environ.get("REMOTE_ADDR") == trusted_proxy:
            environ[PROXIED] = True
        return app(environ, start_response)

    return noting


def _most_connections() -> int:
    """As many as the system lets a process have open, up to `MOST_CONNECTIONS`, with some left for files."""
    try:
        import resource
    except ImportError:  # Windows
        return 400
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_EACH * MOST_CONNECTIONS + 200
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    spare = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200
    return max(2 * SPARE, min(MOST_CONNECTIONS, spare // FILES_EACH))
