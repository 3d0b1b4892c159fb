"""A throw-away PostgreSQL server."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import sqlalchemy as sa

from relstudy.studyapp.database.store import Store

TABLES = "tables"
"""The database that others are copied from."""


def installed() -> Path | None:
    """The folder of the newest PostgreSQL's programs, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin")) or sorted(glob.glob("/opt/homebrew/opt/postgresql*/bin"))
    return Path(found[-1]) if found else None


class Cluster:
    """A throw-away PostgreSQL server in a temporary folder, reached by a socket there."""

    def __init__(self, binaries: Path, *, fsync: bool = False, folder: Path | None = None, **environment: str) -> None:
        self.binaries = binaries
        self.environment = environment
        self.folder = folder or Path(tempfile.mkdtemp(prefix="relstudy-pg-"))
        # PostgreSQL refuses to run as root; there it runs as the user its package made.
        self.runner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.runner:
            shutil.chown(self.folder, "postgres", "postgres")
        self.folder.chmod(0o755)
        self.call("initdb", "-D", self.data, "-U", "tester", "--auth=trust", "--no-sync", "-E", "UTF8")
        self.options = f"-k {self.folder} -c listen_addresses= -c max_connections=200 -c shared_buffers=64MB"
        # After a crash PostgreSQL first syncs its data: each of 1,300 files by itself takes seconds, minutes where
        # the disk is busy, and the file system they are on only one call.
        self.options += " -c recovery_init_sync_method=syncfs" if fsync and sys.platform == "linux" else ""
        self.options += "" if fsync else " -c fsync=off"
        self.start()
        self.admin = sa.create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        self.free: list[str] = []
        self.lent: list[str] = []
        self.copies: list[str] = []

    @property
    def data(self) -> str:
        return f"{self.folder}/data"

    def start(self) -> None:
        self.call("pg_ctl", "-D", self.data, "-l", f"{self.folder}/log", "-w", "-o", self.options, "start")

    @property
    def runs(self) -> bool:
        try:
            self.call("pg_ctl", "-D", self.data, "status")
        except RuntimeError:
            return False
        return True

    def call(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*self.runner, str(self.binaries / program), *arguments],
            cwd="/",
            env={**os.environ, **self.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.decode()}")

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://tester@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """An empty database: one that an earlier test has given back, or a new one."""
        if self.free:
            name = self.free.pop()
            engine = sa.create_engine(self.url(name), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
            with engine.connect() as connection:
                # Whoever is still connected from the earlier test would hold locks.
                connection.execute(
                    sa.text(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                )
                connection.execute(sa.text("DROP SCHEMA public CASCADE"))
                connection.execute(sa.text("CREATE SCHEMA public"))
        else:
            name = "t" + secrets.token_hex(6)
            with self.admin.connect() as connection:
                connection.execute(sa.text(f"CREATE DATABASE {name}"))
        self.lent.append(name)
        return self.url(name)

    def copy_of_tables(self) -> str:
        """A database with every migration behind it, copied from one, since running them takes four times as long."""
        with self.admin.connect() as connection:
            known = sa.text("SELECT count(*) FROM pg_database WHERE datname = :name")
            if not connection.execute(known, {"name": TABLES}).scalar_one():
                connection.execute(sa.text(f"CREATE DATABASE {TABLES}"))
                store = Store(self.url(TABLES))
                store.migrate()
                store.dispose()
            name = "c" + secrets.token_hex(6)
            connection.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {TABLES}"))
        self.copies.append(name)
        return self.url(name)

    def take_back(self) -> None:
        """The test that borrowed databases is over."""
        self.free += self.lent
        self.lent = []
        with self.admin.connect() as connection:
            for name in self.copies:
                connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
        self.copies = []

    def stop(self) -> None:
        self.admin.dispose()
        self.call("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)
