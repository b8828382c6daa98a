"""HTTP/2 over TLS: the same answers as over HTTP/1.1, and the floods that only it knows."""

import json
import socket
import ssl
from contextlib import ExitStack, closing
from datetime import timedelta

import h2.connection
import h2.errors
import h2.events
import h2.settings
import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from svc_core import problem
from svc_http import system
from svc_http.server import http2, tls
from svc_http.server.handshakes import HANDSHAKES_MAX
from svc_http.settings import Settings, SettingsError

NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])


def certificate(folder, days=(-1, 1), name="own"):
    """Paths of a certificate, valid between these days from now, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    begin, end = (system.now() + timedelta(days=day) for day in days)
    made = (
        x509.CertificateBuilder()
        .subject_name(NAME)
        .issuer_name(NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    kept = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *kept))
    return tuple(map(str, paths))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def server(wire_server, pair):
    made = type(wire_server)(body_seconds_max=1, tls_cert=pair[0], tls_key=pair[1])
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def clients(server, pair):
    """A client for each protocol, by its name."""
    trusted = ssl.create_default_context(cafile=pair[0])
    origin = f"https://localhost:{server.port}"
    with (
        httpx2.Client(base_url=origin, verify=trusted, http1=True, http2=False) as one,
        httpx2.Client(base_url=origin, verify=trusted, http1=False, http2=True) as two,
    ):
        yield {"HTTP/1.1": one, "HTTP/2": two}


NOTES = "/api/v1/notes"
JSON = {"content-type": "application/json"}
ONCE = {"idempotency-key": "the-same-key"}
KEYED = {"authorization": "Bearer {key}"}
CASES = {
    "alive": ("GET", "/livez", {}, None),
    "head": ("HEAD", "/livez", {}, None),
    "nowhere": ("GET", "/nowhere", {}, None),
    "with a slash": ("GET", "/livez/", {}, None),
    "no such method": ("BREW", "/livez", {}, None),
    "preflight": ("OPTIONS", NOTES, {"access-control-request-method": "GET"}, None),
    "no key": ("GET", NOTES, {}, None),
    "two keys": ("GET", NOTES, [("authorization", "Bearer a")] * 2, None),
    "a list": ("GET", NOTES, KEYED, None),
    "unknown parameter": ("GET", f"{NOTES}?foo=1", KEYED, None),
    "no json": ("POST", NOTES, KEYED | JSON | ONCE, b"{"),
    "not a note": ("POST", NOTES, KEYED | JSON | ONCE, b'{"foo":1}'),
    "not to be had": ("GET", NOTES, KEYED | {"accept": "image/png"}, None),
    "no media type": ("POST", NOTES, KEYED | ONCE, b"{}"),
    "no idempotency key": ("POST", NOTES, KEYED | JSON, b"{}"),
    "large": ("POST", NOTES, KEYED | JSON | ONCE, b"x" * 3_000_000),
    "long": ("GET", "/" + "x" * 20_000, {}, None),
    "many fields": ("GET", "/livez", {f"x-{number}": "a" for number in range(300)}, None),
    "large field": ("GET", "/livez", {"x-a": "x" * 33_000}, None),
    "field beyond what is told": ("GET", "/livez", {"x-a": "x" * 45_000}, None),
    "expects": ("GET", "/livez", {"expect": "200-maybe"}, None),
    "escape": ("GET", "/livez%00", {}, None),
}
OWN = {"date", "x-request-id", "connection", "etag"}


def told(client, key, method, path, headers, body):
    fields = [(name, value.format(key=key)) for name, value in dict(headers).items()]
    if isinstance(headers, list):
        fields = headers
    answer = client.request(method, path, headers=fields, content=body)
    said = {name: value for name, value in answer.headers.items() if name not in OWN}
    content = answer.content
    if answer.headers.get("content-type") == problem.MEDIA_TYPE:
        content = {**answer.json(), "instance": "", "requestId": ""}
        assert answer.headers["x-request-id"] == answer.json()["requestId"]
    return answer.http_version, (answer.status_code, said, content)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_answer_is_the_same_over_both_protocols(server, clients, case):
    seen = dict(told(client, server.key, *case) for client in clients.values())
    assert set(seen) == {"HTTP/1.1", "HTTP/2"}
    assert seen["HTTP/1.1"] == seen["HTTP/2"]
    assert "alt-svc" not in seen["HTTP/2"][1]


def test_a_write_over_one_protocol_is_replayed_over_the_other(server, clients):
    headers = {"authorization": f"Bearer {server.key}", **ONCE}
    made = [
        client.post(NOTES, headers=headers, json={"text": "over both"})
        for client in clients.values()
    ]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].content == made[1].content
    assert made[1].headers["idempotency-replayed"] == "true"
    assert made[0].headers["location"].startswith("https://")


# -- by frames ----------------------------------------------------------------------------------


class Frames:
    """A client that says what no library would."""

    def __init__(self, port, pair):
        context = ssl.create_default_context(cafile=pair[0])
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", port), 30)
        self.socket = context.wrap_socket(plain, server_hostname="localhost")
        assert self.socket.selected_alpn_protocol() == "h2"
        made = h2.config.H2Configuration(validate_outbound_headers=False)
        self.connection = h2.connection.H2Connection(made)
        self.connection.initiate_connection()
        self.flush()

    def flush(self):
        self.socket.sendall(self.connection.data_to_send())

    def ask(self, *headers, stream=None, end=True):
        stream = stream or self.connection.get_next_available_stream_id()
        self.connection.send_headers(stream, headers, end_stream=end)
        self.flush()
        return stream

    def events(self):
        """What the server says, until it ends the connection."""
        while data := self._read():
            yield from self.connection.receive_data(data)
            self.flush()

    def _read(self):
        try:
            return self.socket.recv(65_536)
        except ConnectionError:
            return b""

    def answer(self, stream):
        """The status and the content of the answer on a stream."""
        status, content = None, b""
        for event in self.events():
            if getattr(event, "stream_id", None) != stream:
                continue
            if isinstance(event, h2.events.ResponseReceived):
                status = int(dict(event.headers)[b":status"])
            elif isinstance(event, h2.events.DataReceived):
                content += event.data
            elif isinstance(event, h2.events.StreamEnded):
                return status, content
        raise AssertionError("the connection ended without an answer")


@pytest.fixture
def frames(server, pair):
    made = Frames(server.port, pair)
    with closing(made.socket):
        yield made


def get(path="/livez", method="GET"):
    return (
        (":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)
    )  # fmt: skip


def ended(frames):
    """The reason that the server gives for ending the connection."""
    found = [e for e in frames.events() if isinstance(e, h2.events.ConnectionTerminated)]
    return found[0].error_code


def test_a_tunnel_is_refused_as_over_http_1(frames):
    status, content = frames.answer(frames.ask((":method", "CONNECT"), (":authority", "a:443")))
    assert (status, json.loads(content)["code"]) == (400, "BAD_REQUEST")
    assert frames.answer(frames.ask(*get()))[0] == 200


def test_no_tunnel_for_websockets_is_offered(frames):
    frames.answer(frames.ask(*get()))
    settings = frames.connection.remote_settings
    assert not settings.enable_connect_protocol
    assert settings.max_concurrent_streams == 100
    assert settings.max_header_list_size == http2.HEADER_LIST_BYTES_MAX


def test_requests_that_are_taken_back_end_the_connection(frames):
    for _ in range(3 * http2.TAKEN_BACK_MAX):
        stream = frames.connection.get_next_available_stream_id()
        frames.connection.send_headers(stream, get())
        frames.connection.reset_stream(stream)
    frames.flush()
    assert ended(frames) == h2.errors.ErrorCodes.ENHANCE_YOUR_CALM


@pytest.mark.parametrize("what", ["ping", "settings", "priority"])
def test_frames_that_ask_for_nothing_end_the_connection(frames, what):
    say = {
        "ping": lambda: frames.connection.ping(b"12345678"),
        "settings": lambda: frames.connection.update_settings(
            {h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 65_535}
        ),
        "priority": lambda: frames.connection.prioritize(1, weight=3),
    }[what]
    for _ in range(http2.IDLE_FRAMES_MAX + 1):
        say()
    frames.flush()
    assert ended(frames) == h2.errors.ErrorCodes.ENHANCE_YOUR_CALM


def test_more_streams_than_are_allowed_end_the_connection(frames):
    frames.connection.remote_settings[h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS] = 1_000
    frames.connection.remote_settings.acknowledge()
    for _ in range(101):
        frames.connection.send_headers(frames.connection.get_next_available_stream_id(), get())
    frames.flush()
    assert ended(frames) == h2.errors.ErrorCodes.PROTOCOL_ERROR


def test_fields_without_end_end_the_connection(frames):
    frame = bytes.fromhex("000000 09 00 00000001")  # CONTINUATION, empty, without END_HEADERS
    start = bytes.fromhex("000001 01 00 00000001 82")
    frames.socket.sendall(start + frame * 2_000)
    assert ended(frames) in set(h2.errors.ErrorCodes)


def test_a_field_list_that_unfolds_is_refused(frames):
    frames.ask(*get(), ("x-a", "x" * 4_000))
    frames.ask(*get(), *(("x-a", "x" * 4_000) for _ in range(90)))
    assert ended(frames) == h2.errors.ErrorCodes.ENHANCE_YOUR_CALM


def test_a_body_that_dribbles_is_refused_in_time(frames, server):
    fields = {**KEYED, **JSON, **ONCE, "authorization": f"Bearer {server.key}"}
    head = (*get(NOTES, "POST"), *fields.items())
    stream = frames.ask(*head, end=False)
    frames.connection.send_data(stream, b"{")
    frames.flush()
    status, content = frames.answer(stream)
    assert (status, json.loads(content)["code"]) == (408, "REQUEST_TIMEOUT")


def test_what_is_sent_after_the_answer_harms_nobody_else(frames):
    stream = frames.ask(*get("/nowhere", "POST"), end=False)
    for _ in range(3):
        frames.connection.send_data(stream, b"x" * 1_000)
    frames.flush()
    assert frames.answer(stream)[0] == 404
    assert frames.answer(frames.ask(*get()))[0] == 200


def test_a_client_cannot_make_our_table_large(frames, server):
    code = h2.settings.SettingCodes.HEADER_TABLE_SIZE
    frames.connection.update_settings({code: 2**30})
    frames.flush()
    assert frames.answer(frames.ask(*get()))[0] == 200
    assert frames.connection.decoder.header_table_size <= http2.TABLE_BYTES_MAX


def test_without_the_agreement_it_is_http_1(server, pair):
    context = ssl.create_default_context(cafile=pair[0])
    plain = socket.create_connection(("127.0.0.1", server.port), 30)
    with context.wrap_socket(plain, server_hostname="localhost") as spoken:
        spoken.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert spoken.recv(65_536).startswith(b"HTTP/1.1 200")


# -- certificates -------------------------------------------------------------------------------


def unfit(**given):
    with pytest.raises(SettingsError) as caught:
        tls.context(Settings(**given))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_wrong_with_a_certificate_is_told_in_one_line(tmp_path, pair):
    cert, key = pair
    old = certificate(tmp_path, (-3, -1), "old")
    coming = certificate(tmp_path, (1, 3), "coming")
    other = certificate(tmp_path, name="other")
    nothing = tmp_path / "nothing"
    nothing.write_text("")
    assert "expired on" in unfit(tls_cert=old[0], tls_key=old[1])
    assert "is not valid before" in unfit(tls_cert=coming[0], tls_key=coming[1])
    assert "is not the key of the certificate" in unfit(tls_cert=cert, tls_key=other[1])
    assert "holds no certificate" in unfit(tls_cert=str(nothing), tls_key=key)
    assert "holds no private key" in unfit(tls_cert=cert, tls_key=str(nothing))
    assert "No such file" in unfit(tls_cert=str(tmp_path / "none"), tls_key=key)
    assert "No such file" in unfit(tls_cert=cert, tls_key=str(tmp_path / "none"))
    assert "tls_key" in unfit(tls_cert=cert)
    assert "tls_cert" in unfit(tls_key=key)


def test_the_links_of_a_server_with_a_certificate_begin_with_https(pair):
    assert tls.context(Settings()) is None
    assert Settings().origin == "http://127.0.0.1:8000"
    assert Settings(tls_cert=pair[0], tls_key=pair[1]).origin == "https://127.0.0.1:8000"


def test_connections_that_say_nothing_take_no_more_than_a_few_places(server, pair):
    trusted = ssl.create_default_context(cafile=pair[0])
    with ExitStack() as held:
        silent = [
            held.enter_context(socket.create_connection(("localhost", server.port), timeout=5))
            for _ in range(HANDSHAKES_MAX + 3)
        ]
        assert [one.recv(1) for one in silent[:3]] == [b""] * 3
        plain = socket.create_connection(("localhost", server.port), timeout=5)
        with closing(trusted.wrap_socket(plain, server_hostname="localhost")) as fresh:
            assert fresh.version() == "TLSv1.3"
        silent[-1].settimeout(0)
        with pytest.raises(BlockingIOError):
            silent[-1].recv(1)


def test_what_is_no_tls_is_ended(server):
    with closing(socket.create_connection(("localhost", server.port), timeout=5)) as other:
        other.sendall(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
        while other.recv(100):
            continue
