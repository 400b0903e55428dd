"""Hostile input over real sockets, against a real Granian: never a 5xx, never a write, and the one form wherever the
request reaches the application. What Granian answers by itself is pinned here too, and told in the reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from awareness_http.bodies import MAX_BODY_BYTES
from tests.http.granian_process import Served, parse, receive_all, serving
from tests.http.service import ADA
from tests.http.test_bodies import NOT_AN_OBJECT, NOT_JSON

EMPLOYEES = "/api/v1/employees"
GOOD = json.dumps(ADA).encode()
JSON = "Content-Type: application/json"


@pytest.fixture(scope="module")
def served(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(migrated, tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_is_written(served: Served) -> Iterator[None]:
    """Whatever a test sends, nobody is there afterwards who was not there before."""
    before = served.people()
    yield
    assert before == served.people()
    assert served.process.poll() is None


BODIES = {**NOT_JSON, **{name: body for name, (body, _) in NOT_AN_OBJECT.items()}}


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body_is_refused(served: Served, name: str) -> None:
    answer = served.ask("POST", EMPLOYEES, JSON, body=BODIES[name])

    assert (answer.status, answer.code) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "field",
    [
        '"active": 0',
        '"active": "false"',
        '"nom": "a\\u0000"',
        '"nom": "a\\ud800"',
        '"nom": "a\\r\\nb"',
        '"secteur_id": 1e400',
        '"secteur_id": NaN',
        f'"secteur_id": {"9" * 23}',
        f'"secteur_id": {"9" * 5000}',
        '"nom": "twice", "nom": "twice"',
        '"surname": "x"',
        f'"nom": "{"x" * 101}"',
        '"email": "a@b.example\\r\\nBcc: c@d.example"',
        '"email": "a@b.example, c@d.example"',
    ],
)
def test_a_hostile_field_is_refused(served: Served, field: str) -> None:
    answer = served.ask("POST", EMPLOYEES, JSON, body=GOOD[:-1] + b", " + field.encode() + b"}")

    assert (answer.status, answer.code) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]
)
def test_a_body_of_another_type_is_refused(served: Served, content_type: str) -> None:
    assert served.ask("POST", EMPLOYEES, f"Content-Type: {content_type}", body=GOOD).status == 415


def test_a_body_without_a_type_is_refused(served: Served) -> None:
    assert served.ask("POST", EMPLOYEES, body=GOOD).status == 415


def test_a_compressed_body_is_refused(served: Served) -> None:
    assert served.ask("POST", EMPLOYEES, JSON, "Content-Encoding: gzip", body=GOOD).status == 415


def test_an_oversized_body_is_refused_with_and_without_a_length(served: Served) -> None:
    large = GOOD + b" " * MAX_BODY_BYTES
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    declared = served.ask("POST", EMPLOYEES, JSON, body=large)
    chunked = served.ask(
        "POST", EMPLOYEES, JSON, "Transfer-Encoding: chunked", body=chunk * 20 + b"0\r\n\r\n"
    )

    assert [413, 413] == [declared.status, chunked.status]


def test_five_gigabytes_that_never_come_are_refused_at_once(served: Served) -> None:
    answer = served.ask("POST", EMPLOYEES, JSON, "Content-Length: 5000000000")

    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_five_gigabytes_without_a_key_are_401(served: Served) -> None:
    assert served.ask("POST", EMPLOYEES, JSON, "Content-Length: 5000000000", key=None).status == 401


def test_a_body_that_stops_coming_ends_the_request_and_the_connection(served: Served) -> None:
    answer = parse(served.send(served.request("POST", EMPLOYEES, JSON, "Content-Length: 100") + b'{"email":'))

    assert (answer.status, answer.code) == (408, "REQUEST_TIMEOUT")


def test_a_head_that_stops_coming_ends_the_connection_without_a_word(served: Served) -> None:
    assert served.send(b"GET /api/v1/ping HTTP/1.1\r\nHost: a\r\nX-Slow: ") == b""


def test_a_client_that_hangs_up_in_its_body_writes_nothing(served: Served) -> None:
    with served.connect() as connection:
        connection.sendall(
            served.request("POST", EMPLOYEES, JSON, f"Content-Length: {len(GOOD)}") + GOOD[:-1]
        )


def test_a_broken_chunk_is_a_body_that_broke_off(served: Served) -> None:
    answer = served.ask("POST", EMPLOYEES, JSON, "Transfer-Encoding: chunked", body=b"ZZ\r\nabc\r\n")

    assert (answer.status, answer.faults) == (400, [("", "broken_off")])


def test_a_transfer_coding_that_is_not_understood_is_refused(served: Served) -> None:
    answer = served.ask("POST", EMPLOYEES, JSON, "Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n")

    assert answer.status == 415


def test_with_a_length_and_chunks_the_chunks_count_and_no_second_request_hides_behind_them(
    served: Served,
) -> None:
    """RFC 9112 §6.3 lets a server take the chunks; what matters is that nothing is read twice."""
    smuggled = served.request("POST", EMPLOYEES, JSON, body=GOOD)
    headers = (JSON, "Content-Length: 5", "Transfer-Encoding: chunked", "Connection: close")
    answer = parse(served.send(served.request("POST", EMPLOYEES, *headers, body=b"0\r\n\r\n") + smuggled))

    assert (answer.status, answer.faults) == (400, [("", "invalid_json")])
    assert b"HTTP/1.1" not in answer.body


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2\r\nContent-Length: 3\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 1e3\r\n",
        b"X-Folded: a\r\n b\r\n",
        b"X-Blank : a\r\n",
        b"X-Nul: a\x00b\r\n",
        b"X-Lf: a\nb: c\rd\r\n",
        b"Bad Name: a\r\n",
    ],
)
def test_malformed_heads_are_refused_by_granian_itself_with_an_empty_400(served: Served, head: bytes) -> None:
    request = f"POST {EMPLOYEES} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {served.key}\r\n".encode()
    answer = parse(served.send(request + head + b"\r\n"))

    assert (answer.status, answer.body) == (400, b"")


@pytest.mark.parametrize(
    "line",
    [
        b"GET /api/v1/ping",
        b"GET  /api/v1/ping HTTP/1.1",
        b"GET /a\x01 HTTP/1.1",
        b"G{T / HTTP/1.1",
        b"\x16\x03\x01",
    ],
)
def test_a_malformed_first_line_is_refused_by_granian_itself(served: Served, line: bytes) -> None:
    answer = served.send(line + b"\r\nHost: a\r\nConnection: close\r\n\r\n")

    assert answer == b"" or parse(answer).status == 400


def test_a_bare_line_feed_ends_a_line_like_a_full_one(served: Served) -> None:
    """RFC 9112 §2.2 allows it, and Granian hands nothing of it on: an ordinary request is all that arrives."""
    request = f"GET /api/v1/ping HTTP/1.1\nHost: a\nConnection: close\nAuthorization: Bearer {served.key}\n\n"

    assert parse(served.send(request.encode())).status == 200


def test_the_host_is_missing_or_sent_twice(served: Served) -> None:
    key = f"Authorization: Bearer {served.key}\r\nConnection: close\r\n\r\n"
    missing = parse(served.send(f"GET /api/v1/ping HTTP/1.1\r\n{key}".encode()))
    twice = parse(served.send(f"GET /api/v1/ping HTTP/1.1\r\nHost: a\r\nHost: b\r\n{key}".encode()))

    assert [(400, "VALIDATION_ERROR")] * 2 == [(answer.status, answer.code) for answer in (missing, twice)]


def test_a_header_of_100_kb_is_refused(served: Served) -> None:
    answer = served.ask("GET", "/api/v1/ping", f"X-Large: {'a' * 100_000}")

    assert (answer.status, answer.code) == (431, "REQUEST_HEADER_FIELDS_TOO_LARGE")


def test_headers_beyond_what_granian_holds_are_refused_by_itself(served: Served) -> None:
    answers = [
        parse(served.send(served.request("GET", "/api/v1/ping", f"X-Large: {'a' * 1_000_000}"))),
        parse(served.send(served.request("GET", "/api/v1/ping", *(f"X-{n}: a" for n in range(200))))),
    ]

    assert [(431, b"")] * 2 == [(answer.status, answer.body) for answer in answers]


def test_a_url_of_60_kb_is_refused_and_one_of_70_kb_by_granian_itself(served: Served) -> None:
    ours = served.ask("GET", "/" + "a" * 60_000)
    query = served.ask("GET", "/api/v1/ping?" + "a" * 60_000)
    granians = parse(served.send(served.request("GET", "/" + "a" * 70_000)))

    assert [(414, "URI_TOO_LONG")] * 2 == [(answer.status, answer.code) for answer in (ours, query)]
    assert (granians.status, granians.body) == (414, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/ping%00",
        "/api/v1%2Fping",
        "//api/v1/ping",
        "/api//v1/ping",
        "/api/v1/ping/",
        "/api/v1/p%69ng",
        "/\xc3\xa9",
    ],
)
def test_paths_are_exact_over_the_wire_too(served: Served, path: str) -> None:
    request = served.request("GET", path, "Connection: close")
    answer = parse(served.send(request))

    assert (answer.status, answer.code) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    "query", ["page=1&page=2", "page=0", "page=" + "9" * 23, "limit=101", "page=%00", "page=%ZZ", "foo=1"]
)
def test_hostile_queries_are_refused(served: Served, query: str) -> None:
    assert served.ask("GET", f"{EMPLOYEES}?{query}").status == 400


def test_a_credential_that_is_not_ascii_or_repeated_is_refused(served: Served) -> None:
    answers = [
        served.ask("GET", "/api/v1/ping", key=served.key + "\xe9"),
        served.ask("GET", "/api/v1/ping", f"Authorization: Bearer {served.key}"),
        served.ask("GET", "/api/v1/ping", f"X-Api-Key: {served.key}x"),
    ]

    assert [401] * 3 == [answer.status for answer in answers]


def test_head_options_and_methods_nobody_knows(served: Served) -> None:
    head = served.ask("HEAD", "/api/v1/ping")
    options = served.ask("OPTIONS", EMPLOYEES, key=None)
    star = served.ask("OPTIONS", "*", key=None)
    brew = served.ask("BREW", "/api/v1/ping")

    assert [200, 204, 204, 405] == [answer.status for answer in (head, options, star, brew)]
    assert head.body == b""
    assert int(head.headers["content-length"]) > 0


def test_connect_leads_nowhere(served: Served) -> None:
    answer = served.send(b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")

    assert parse(answer).status == 404


def test_an_unread_body_is_not_taken_for_the_next_request(served: Served) -> None:
    """The body spells a request that would write; refused for want of a key, it must not be carried out."""
    hidden = served.request("POST", EMPLOYEES, JSON, "Connection: close", body=GOOD)
    answers = served.send(served.request("POST", EMPLOYEES, JSON, key=None, body=hidden))

    assert answers.startswith(b"HTTP/1.1 401 ")
    assert answers.count(b"HTTP/1.1 ") == 1


def test_a_connection_goes_on_after_a_refusal(served: Served) -> None:
    with served.connect() as connection:
        connection.sendall(served.request("POST", EMPLOYEES, "Content-Type: text/plain", body=GOOD))
        connection.sendall(served.request("GET", "/api/v1/ping", "Connection: close"))
        answers = receive_all(connection)

    assert [b"415", b"200"] == [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]]


def test_a_client_is_not_made_to_send_a_body_that_nobody_will_read(served: Served) -> None:
    answer = served.send(
        served.request(
            "POST",
            EMPLOYEES,
            JSON,
            "Expect: 100-continue",
            "Content-Length: 1000",
            "Connection: close",
            key=None,
        )
    )

    assert answer.startswith(b"HTTP/1.1 401 ")


def test_who_sends_all_of_a_large_body_first_is_told_why_it_was_refused(served: Served) -> None:
    body = b" " * 20_000_000
    with served.connect() as connection:
        connection.sendall(served.request("POST", f"{EMPLOYEES}/sync", JSON, body=body, key=None))
        answer = connection.recv(65536)

    assert answer.startswith(b"HTTP/1.1 401 ")


def test_http_1_0_is_answered_without_a_host(served: Served) -> None:
    answer = parse(served.send(f"GET /api/v1/ping HTTP/1.0\r\nX-Api-Key: {served.key}\r\n\r\n".encode()))

    assert answer.status == 200


def test_nothing_of_all_this_was_an_error_of_ours(served: Served) -> None:
    figures = served.ask("GET", "/metrics", key=None).body.decode()

    assert 'status="5' not in figures
    assert "Traceback" not in served.log.read_text(encoding="utf-8")
