"""deploy/: every name in it is one the program, or another file of it, knows; and what is here to run is run."""

from __future__ import annotations

import configparser
import contextlib
import http.cookiejar
import ipaddress
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from relstudy.studyapp.cli import main
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.options import ServerOptions
from tests.places import ROOT
from tests.studyapp.serving import Server
from tests.studyapp.studies import TOML, write_study

DEPLOY = ROOT / "deploy"


def parsed(words: list[str]) -> dict[str, Any]:
    """The settings that `relstudy WORDS` would run with; fails on a command or option that there is not."""
    group = main.make_context("relstudy", list(words))
    with group:
        command: click.Command | None = main
        rest = [*group._protected_args, *group.args]
        while isinstance(command, click.Group):
            _, command, rest = command.resolve_command(group, rest)
        assert isinstance(command, click.Command)
        return command.make_context(command.name, rest, parent=group).params


def example_variables() -> set[str]:
    return set(re.findall(r"^(\w+)=", (DEPLOY / ".env.example").read_text(), re.M))


@pytest.mark.parametrize("words", [["serve", "x", "--no-such-option"], ["no-such-command"]])
def test_a_name_that_the_program_does_not_know_would_be_found(words: list[str]) -> None:
    with pytest.raises(click.UsageError):
        parsed(words)


def test_the_compose_file_names_only_what_there_is() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    compose = yaml.safe_load(text)
    services = compose["services"]
    assert set(services) == {"app", "backups", "database", "caddy"}
    assert set(re.findall(r"\$\{(\w+)", text)) == example_variables()
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        assert set(service["networks"]) <= set(compose["networks"])
        for volume in service["volumes"]:
            source = re.sub(r"\$\{[^}]*\}", "$", volume).split(":")[0]
            assert source == "$" or source in compose["volumes"] or (DEPLOY / source).is_file(), volume
        if "build" in service:
            assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_the_compose_files_app_believes_its_own_proxy_and_keeps_to_its_own_database() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    app, caddy, database = (compose["services"][name] for name in ("app", "caddy", "database"))
    settings = parsed(app["command"])
    proxy = caddy["networks"]["front"]["ipv4_address"]
    assert settings["trusted_proxy"] == proxy
    assert ipaddress.ip_address(proxy) in ipaddress.ip_network(
        compose["networks"]["front"]["ipam"]["config"][0]["subnet"]
    )
    assert caddy["environment"]["UPSTREAM"] == f"app:{settings['port']}"
    assert str(settings["folder"]) in [volume.rpartition(":")[2] for volume in app["volumes"]]
    url = Store(re.sub(r"\$\{[^}]*\}", "secret", app["environment"]["DATABASE_URL"])).url
    assert (url.username, url.database) == (
        database["environment"]["POSTGRES_USER"],
        database["environment"]["POSTGRES_DB"],
    )
    assert url.host in compose["services"]


def test_the_compose_file_for_several_studies_changes_only_what_it_must() -> None:
    text = (DEPLOY / "compose.host.yaml").read_text()
    compose, whole = yaml.safe_load(text), yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    app, settings = compose["services"]["app"], parsed(compose["services"]["app"]["command"])
    alone = parsed(whole["services"]["app"]["command"])
    assert settings["folders"] == (alone["folder"],)
    assert [settings[name] for name in ("host", "port", "trusted_proxy")] == [
        alone[name] for name in ("host", "port", "trusted_proxy")
    ]
    assert set(re.findall(r"\$\{(\w+)", text)) <= example_variables()
    assert set(compose["services"]) <= set(whole["services"])
    url = app["environment"]["DATABASE_URL"]
    assert url == compose["services"]["backups"]["environment"]["DATABASE_URL"]
    assert url.rpartition("/")[0] == whole["services"]["app"]["environment"]["DATABASE_URL"].rpartition("/")[0]
    assert url.endswith("/{name}")


def dockerfile() -> list[list[str]]:
    """The Dockerfile's instructions, each as its words."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [[line.split()[0], line.split(maxsplit=1)[1]] for line in lines]


def copied_into_the_build() -> list[str]:
    copies = [rest.split() for word, rest in dockerfile() if word == "COPY" and "--from=build" not in rest]
    return [source for copy in copies for source in copy[:-1]]


def test_the_images_program_starts_with_settings_that_it_knows() -> None:
    steps = dict(dockerfile())
    assert json.loads(steps["ENTRYPOINT"]) == ["relstudy"]
    given = {name: value for name, value in parsed(json.loads(steps["CMD"])).items() if value is not None}
    server = ServerOptions(**{each.name: given[each.name] for each in fields(ServerOptions) if each.name in given})
    assert (server.host, server.port) == ("0.0.0.0", int(steps["EXPOSE"]))
    assert f":{server.port}/health" in steps["HEALTHCHECK"]
    extras = set(re.findall(r"\.\[(.+?)\]", (DEPLOY / "Dockerfile").read_text())[0].split(","))
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = ", pyproject, re.M) for extra in extras)


def test_every_stage_of_the_image_begins_with_the_base_that_a_digest_names() -> None:
    steps = dockerfile()
    assert {rest.split()[0] for word, rest in steps if word == "FROM"} == {"${BASE}"}
    [base] = [rest for word, rest in steps if word == "ARG"]
    assert re.fullmatch(r"BASE=python:3\.\d+-slim@sha256:[0-9a-f]{64}", base)


def test_the_builder_is_sent_what_the_dockerfile_copies_and_no_more() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied_into_the_build())
    assert "*" in ignored


@pytest.mark.slow
def test_what_the_dockerfile_copies_is_enough_to_build_the_package(tmp_path: Path) -> None:
    for name in copied_into_the_build():
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    build = [sys.executable, "-m", "hatchling", "build", "-d", tmp_path / "made", "-t", "wheel"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    [wheel] = (tmp_path / "made").iterdir()
    listed = subprocess.run([sys.executable, "-m", "zipfile", "-l", wheel], capture_output=True, text=True, check=True)
    assert "relstudy/studyapp/web/templates/rate.html" in listed.stdout


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(DEPLOY / name)
    return parser


def test_the_systemd_units_run_what_there_is() -> None:
    service = unit("relstudy.service")["Service"]
    program, *words = shlex.split(service["ExecStart"])
    settings = parsed(words)
    assert program.endswith("/relstudy") and settings["trusted_proxy"] == "127.0.0.1"
    assert str(settings["folder"]).startswith(service["ReadWritePaths"])
    backup = unit("relstudy-backup.service")["Service"]
    shell, script, study, backups = shlex.split(backup["ExecStart"])
    assert (shell, Path(script).name) == ("/bin/sh", "backup.sh") and Path(study) == settings["folder"]
    assert backups in backup["ReadWritePaths"].split()
    assert (DEPLOY / "relstudy-backup.timer").is_file()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_finds_no_fault_with_the_units(tmp_path: Path) -> None:
    names = ["relstudy.service", "relstudy-backup.service", "relstudy-backup.timer"]
    for name in names:
        text = (DEPLOY / name).read_text().replace("/opt/relstudy/bin/relstudy", sys.executable)
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *(tmp_path / name for name in names)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")


def back_up(folder: Path, backups: Path, programs: Path) -> int:
    """backup.sh with a `relstudy` that makes the file it is asked for, and fails for a study that is called broken."""
    programs.mkdir(exist_ok=True)
    stand_in = programs / "relstudy"
    stand_in.write_text('#!/bin/sh\necho "$@" >> "$0.log"\ncase $3 in *broken) exit 1 ;; esac\n: > "$5"\n')
    stand_in.chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "KEEP_DAYS": "30"}
    script = ["sh", DEPLOY / "backup.sh", folder, backups]
    return subprocess.run(script, env=environment, capture_output=True, timeout=60).returncode


def test_backups_of_all_studies_are_made_and_old_ones_go_only_when_none_failed(tmp_path: Path) -> None:
    studies, backups, programs = (tmp_path / name for name in ("studies", "backups", "programs"))
    for name in ("one", "two", "broken"):
        (studies / name).mkdir(parents=True)
        (studies / name / "study.toml").touch()
    (studies / "no study").mkdir()
    backups.mkdir()
    old = backups / "one-20200101-000000.db"
    old.touch()
    os.utime(old, (0, time.time() - 31 * 86400))
    assert back_up(studies, backups, programs) == 1
    assert sorted(path.name.split("-")[0] for path in backups.iterdir()) == ["one", "one", "two"]
    shutil.rmtree(studies / "broken")
    assert back_up(studies, backups, programs) == 0
    assert not old.exists() and list(backups.glob("two-*"))
    assert back_up(studies / "one", backups, programs) == 0
    for line in (programs / "relstudy.log").read_text().splitlines():
        assert parsed(line.split())["output"].parent == backups


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextlib.contextmanager
def nginx(folder: Path, upstream: int) -> Iterator[str]:
    """deploy/nginx.conf with a certificate of its own and the ports of this test."""
    port, key, certificate = free_port(), folder / "key.pem", folder / "certificate.pem"
    request = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -keyout {key} -out {certificate}"
    subprocess.run(request.split(), check=True, capture_output=True, timeout=60)
    site = (DEPLOY / "nginx.conf").read_text()
    for old, new in [
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("/etc/ssl/certs/study.example.org.pem", str(certificate)),
        ("/etc/ssl/private/study.example.org.key", str(key)),
        ("127.0.0.1:8000", f"127.0.0.1:{upstream}"),
    ]:
        assert old in site
        site = site.replace(old, new)
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {places} {site} }}"
    (folder / "nginx.conf").write_text(whole)
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    tested = subprocess.run([*command, "-t"], capture_output=True, text=True, timeout=60)
    assert tested.returncode == 0, tested.stderr
    with running(command, {}, port):
        yield f"https://127.0.0.1:{port}"


@contextlib.contextmanager
def caddy(folder: Path, upstream: int) -> Iterator[str]:
    """deploy/Caddyfile without TLS: certificates of its own would be put among those the machine trusts."""
    port = free_port()
    own = {"DOMAIN": f"http://127.0.0.1:{port}", "UPSTREAM": f"127.0.0.1:{upstream}", "HOME": str(folder)}
    config = folder / "Caddyfile"
    config.write_text("{\n admin off\n}\n" + (DEPLOY / "Caddyfile").read_text())
    with running(["caddy", "run", "--config", str(config), "--adapter", "caddyfile"], own, port):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str], port: int) -> Iterator[None]:
    child = subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert child.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        yield
    finally:
        child.terminate()
        child.wait(30)


@pytest.mark.server
@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_a_study_is_met_through_the_proxy_and_forged_headers_do_not_pass_it(tmp_path: Path, proxy: Any) -> None:
    if shutil.which(proxy.__name__) is None:
        pytest.skip(f"needs {proxy.__name__}")
    scheme = "https" if proxy is nginx else "http"
    path = "/studies/mine"
    toml = TOML.replace('title = "A', f'url = "{scheme}://study.example.org{path}"\ntitle = "A')
    server = Server(write_study(tmp_path / "s", toml), extra=("--trusted-proxy", "127.0.0.1"))
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    cookies = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=trusting), urllib.request.HTTPCookieProcessor(cookies)
    )
    try:
        with proxy(tmp_path, server.port) as address:
            with opener.open(f"{address}{path}/", timeout=60) as answer:
                page = answer.read().decode()
                assert answer.url == f"{address}{path}/consent"
            assert {(cookie.path, cookie.secure) for cookie in cookies} == {(path, scheme == "https")}
            style = re.findall(r'href="([^"]*study\.css[^"]*)"', page)[0]
            assert style.startswith(f"{path}/") and opener.open(address + style, timeout=60).status == 200
            statuses = []
            for number in range(31):  # thirty wrong links are allowed a client, whoever it says that it is
                forged = {"X-Forwarded-For": f"192.0.2.{number}", "Forwarded": f"for=192.0.2.{number}"}
                guess = urllib.request.Request(f"{address}{path}/enter/wrong", headers=forged)
                with pytest.raises(urllib.error.HTTPError) as refused:
                    opener.open(guess, timeout=60)
                statuses.append(refused.value.code)
            assert statuses == [404] * 30 + [429]
    finally:
        server.stop()
