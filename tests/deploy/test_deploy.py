"""The files of `examples/deploy`: their programs take them, and the service works behind them."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from svc_http import system
from tests.http.cli.conftest import Server, server

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"
CLAIM_HEADERS = ("cf-connecting-ip", "x-forwarded-for", "x-real-ip")
PROXIES = ("nginx", "caddy")
SECONDS = 20.0


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


# -- systemd and containers --------------------------------------------------------------------


def test_systemd_takes_the_unit_and_finds_it_hardened(tmp_path: Path) -> None:
    analyze = _program("systemd-analyze")
    command = tmp_path / "svc"
    command.write_text("#!/bin/sh\n", "utf-8")
    command.chmod(0o755)
    unit = tmp_path / "svc.service"
    text = (DEPLOY / "svc.service").read_text("utf-8")
    unit.write_text(text.replace("/usr/local/bin/svc", str(command)), "utf-8")

    for arguments in (["verify"], ["security", "--offline=true", "--threshold=20"]):
        process = subprocess.run(
            [analyze, *arguments, unit], capture_output=True, text=True, check=False, timeout=30
        )
        assert process.returncode == 0, process.stdout[-3_000:] + process.stderr
        assert "svc.service" not in process.stderr


def test_the_container_runs_as_nobody_special_and_says_how_it_is() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    instructions = [line.split(maxsplit=1) for line in lines]
    names = [name for name, _ in instructions]
    final = instructions[len(names) - names[::-1].index("FROM") - 1 :]
    settings = dict(final)

    words = {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL",
             "HEALTHCHECK", "CMD"}  # fmt: skip
    assert {*names} <= words
    assert all(re.search(r":[0-9][^ ]*", rest) for name, rest in instructions if name == "FROM")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", settings["USER"])
    assert settings["STOPSIGNAL"] == "SIGTERM"
    assert "/readyz" in settings["HEALTHCHECK"]
    assert settings["CMD"].startswith("["), "a shell would keep the signal to itself"
    assert "SECRET" not in settings["ENV"]
    for name, rest in instructions:
        assert name != "RUN" or "pip install" not in rest or "--no-cache-dir" in rest


# -- behind a proxy ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("proxied")
    with server("--demo", "--port", 0, cwd=folder, SVC_TRUSTED_PROXIES="127.0.0.1") as running:
        yield running


@pytest.fixture(scope="module", params=PROXIES)
def origin(
    request: pytest.FixtureRequest, service: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    program = _program(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    _certify(folder)
    behind = service.addresses["docs"].removeprefix("http://").removesuffix("/docs")
    arguments = {"nginx": _nginx, "caddy": _caddy}[request.param](folder, port, behind)
    with _running([program, *arguments], folder, port):
        yield f"https://127.0.0.1:{port}"


def _nginx(folder: Path, port: int, behind: str) -> list[str]:
    site = (DEPLOY / "nginx.conf").read_text("utf-8")
    site = site.replace("listen 443", f"listen 127.0.0.1:{port}").replace("127.0.0.1:8000", behind)
    (folder / "site.conf").write_text(site.replace("/etc/ssl/svc", str(folder)), "utf-8")
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{name}_temp_path {folder}/{name};\n" for name in names)
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr warn;\n"
        f"events {{}}\nhttp {{ access_log off;\n{places}include {folder}/site.conf; }}\n",
        "utf-8",
    )
    return ["-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def _caddy(folder: Path, port: int, behind: str) -> list[str]:
    text = (DEPLOY / "Caddyfile").read_text("utf-8").replace("127.0.0.1:8000", behind)
    text = text.replace("\tservers {", "\tadmin off\n\tauto_https off\n\tservers {", 1)
    own = f"https://127.0.0.1:{port} {{\n\ttls {folder}/fullchain.pem {folder}/key.pem"
    (folder / "Caddyfile").write_text(text.replace("api.example.org {", own), "utf-8")
    return ["run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


@contextmanager
def _running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    log = folder / "log"
    home = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=home)
        try:
            deadline = time.monotonic() + SECONDS
            while not _is_open(port):
                assert process.poll() is None, log.read_text("utf-8")
                assert time.monotonic() < deadline, log.read_text("utf-8")
                time.sleep(0.05)
            yield
        finally:
            process.kill()
            process.wait(SECONDS)


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _certify(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = system.now()
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(1).not_valid_before(now)
    builder = builder.not_valid_after(now + timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256())
    pem, encryption = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(pem))
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, encryption))


def _client(origin: str, source: str) -> Any:
    transport = httpx2.HTTPTransport(local_address=source, verify=False)
    return httpx2.Client(transport=transport, base_url=origin, timeout=SECONDS)


def _status(client: Any, key: str, **fields: str) -> int:
    headers = {"authorization": f"Bearer {key}", **fields}
    return int(client.get("/api/v1/reports?limit=1", headers=headers).status_code)


def test_an_address_is_locked_out_by_what_it_is_and_not_by_what_it_says(
    origin: str, service: Server
) -> None:
    own = service.addresses["key"]
    number = PROXIES.index("nginx") + int(origin.rpartition(":")[2]) % 200
    guesser, bystander = f"127.1.{number}.2", f"127.1.{number}.3"
    with _client(origin, guesser) as guessing, _client(origin, bystander) as honest:
        statuses = [
            _status(
                guessing,
                "svc_" + "0" * 40,
                **dict.fromkeys(CLAIM_HEADERS, f"203.0.113.{turn}"),
            )
            for turn in range(1, 7)
        ]  # fmt: skip
        assert statuses == [401] * 5 + [429]
        assert _status(guessing, own) == 429
        assert _status(honest, own, **{"x-forwarded-for": guesser}) == 200


def test_an_event_is_passed_on_at_once(origin: str, service: Server) -> None:
    access = {"authorization": f"Bearer {service.addresses['key']}"}
    with (
        _client(origin, "127.0.0.1") as client,
        client.stream(
            "GET",
            "/api/v2/changes?tail=true",
            headers=access | {"accept": "text/event-stream"},
        ) as events,
    ):
        assert events.status_code == 200, events.read()
        body = {"name": f"Now {origin[-5:]}", "topic": "Strikes", "frequency": "manual"}
        key = {"idempotency-key": f"now-{origin[-5:]}"}
        created = client.post("/api/v1/profiles", json=body, headers=access | key)
        assert created.status_code == 201
        began, profile_id = time.monotonic(), created.json()["data"]["id"]
        line = next(line for line in events.iter_lines() if profile_id in line)
        assert line
        assert time.monotonic() - began < 5, "before the next heartbeat"


def test_bodies_pages_and_metrics_are_what_the_service_says(origin: str, service: Server) -> None:
    access = {"authorization": f"Bearer {service.addresses['key']}", "idempotency-key": "large"}
    with _client(origin, "127.0.0.1") as client:
        large = client.post(
            "/api/v1/profiles",
            content=b"x" * 1_500_000,
            headers=access | {"content-type": "application/json"},
        )
        assert large.status_code == 413
        assert large.json()["code"] == "BODY_TOO_LARGE"
        assert client.get("/readyz").json() == {"status": "ready"}
        assert client.get("/metrics").status_code == 404
