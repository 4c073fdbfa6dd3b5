"""Who may ask, and what every answer carries."""

from __future__ import annotations

import socket

import pytest

from wavewright.server.guard import HEADERS


def test_the_page_and_its_script_are_served_with_their_types(client):
    page, script = client.ask(""), client.ask("page.js")
    assert (page.status, page.body) == (200, b"<title>the page</title>")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize("path", ["", "page.js", "api/documents", "api/0/nonsense", "missing.js"])
def test_every_answer_carries_the_strict_headers(client, path):
    reply = client.ask(path)
    assert {name: reply.headers.get(name) for name in HEADERS} == HEADERS
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "server" not in reply.headers


@pytest.mark.parametrize("root", ["/", "/wrong/", "//", "/%00/", "/%C3%A9/", "/%ED%A0%80/"])
@pytest.mark.parametrize("path", ["", "api/documents", "page.js"])
def test_a_wrong_token_gets_one_sentence(client, root, path):
    reply = client.ask(path, root=root)
    assert reply.status == 403
    assert b"another or an ended `wavewright open`" in reply.body
    assert b"the page" not in reply.body
    assert reply.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_the_page_of_an_ended_server_is_told_in_its_own_words(client):
    reply = client.ask("api/documents", root="/token-of-yesterday/")
    assert reply.headers["content-type"] == "application/json"
    assert "ended `wavewright open`" in reply.error["what"]


def test_part_of_the_token_is_not_enough(client):
    for wrong in (client.root[:-2] + "/", client.root[:-1] + "x/", client.root.upper()):
        assert client.ask("api/documents", root=wrong).status == 403


def test_the_token_is_long_and_new_each_time(client):
    assert len(client.root.strip("/")) >= 32


def test_the_address_without_its_last_slash_leads_there(client):
    reply = client.ask("", root=client.root.rstrip("/"))
    assert (reply.status, reply.headers["location"]) == (307, client.root)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9999", "LOCALHOST", "[::1]:80", "[::1]"])
def test_any_port_of_loopback_is_ours_because_tunnels_choose_theirs(client, host):
    assert client.ask("api/documents", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost:80x", "127.0.0.1:", "", "[::1]x"]
)
def test_a_name_that_someone_else_pointed_here_is_refused(client, host):
    reply = client.ask("api/documents", headers={"Host": host})
    assert reply.status == 403


def test_two_hosts_are_refused(client):
    port = client.serving.port
    request = f"GET {client.root} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request.encode())
        assert connection.recv(200).split()[1] in (b"400", b"403")


def test_only_its_own_page_may_ask_from_a_page(client):
    own = {"Host": "localhost:8080", "Origin": "http://localhost:8080"}
    assert client.ask("api/documents", headers=own).status == 200
    for origin in ("http://evil.example", "null", "https://localhost:8080", "http://localhost:8081"):
        assert client.ask("api/documents", headers={**own, "Origin": origin}).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECTX"])
def test_nothing_is_written(client, method):
    reply = client.ask("api/documents", method=method, body=b"{}")
    assert reply.status == 405
    assert reply.headers["allow"] == "GET, HEAD"


def test_head_answers_without_a_body(client):
    reply = client.ask("api/documents", method="HEAD")
    assert (reply.status, reply.body) == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "../secret.html", "..%2fsecret.html", "..%2Fpage%2Findex.html", "%2e%2e/secret.html", "./page.js", "page.js/",
        "//etc/passwd", "%2fetc%2fpasswd", "..%5csecret.html", "link.html", "%00", "page.js%00.html", "api", "api/",
        "api/0", "api/0/overview/more", "index.html/../../secret.html",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(client, path):
    reply = client.ask(path)
    assert reply.status in (400, 404)
    assert b"not for the page" not in reply.body
    assert reply.error["what"]


def test_a_huge_query_is_refused(client):
    reply = client.ask("api/0/overview?x=" + "a" * 40_000)
    assert reply.status == 414
    assert "longer" in reply.error["what"]


def test_headers_without_end_are_cut_off(client):
    with socket.create_connection(("127.0.0.1", client.serving.port)) as connection:
        connection.sendall(f"GET {client.root} HTTP/1.1\r\nHost: localhost\r\n".encode())
        received = b""
        try:
            for number in range(200):
                connection.sendall(f"X-{number}: {'a' * 1000}\r\n".encode())
            received = connection.recv(200)
        except ConnectionError:
            pass
        assert received == b"" or received.split()[1] == b"400"
    assert client.ask("").status == 200


def test_nonsense_instead_of_http_does_no_harm(client):
    with socket.create_connection(("127.0.0.1", client.serving.port)) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert connection.recv(200).split()[1] == b"400"
    assert client.ask("").status == 200
