"""The live page's server as a browser meets it."""

import asyncio
import contextlib
import json
import re
import threading
import time

import aiohttp
import pytest

from tollgate.live.server import LiveServer
from tollgate.live.view import REQUESTS, Snapshot
from tollgate.report.pages.live.page import to_html
from tollgate.report.table import CODE, Column, Table, TableCell

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def server():
    made = LiveServer(*to_html("check", "2026-11-26 06:00", {REQUESTS: "Requests"}))
    made.start()
    yield made
    made.close()


def snapshot(sentence, **more):
    table = Table("fork", [Column("label", CODE), Column("failed")], [(TableCell(EVIL), "3")])
    return Snapshot(sentence, sections={REQUESTS: [table]}, **more).to_json()


def fetch(url):
    async def ask():
        async with aiohttp.ClientSession() as client, client.get(url) as answer:
            return answer.status, answer.headers, await answer.text()

    return asyncio.run(ask())


async def next_event(stream):
    """The data of the next server-sent event that has any."""
    async for line in stream:
        if line.startswith(b"data: "):
            return line[len(b"data: ") :].decode()
    return None


def test_the_page_needs_the_token_and_says_nothing_without_it(server):
    assert fetch(server.url)[0] == 200
    origin, token = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/([\w-]{20,})/", server.url).groups()
    for path in ("/", "/events", f"/{token[:-1]}/", f"/{token[:-1]}/events", f"/{token}x/"):
        status, _, text = fetch(origin + path)
        assert status == 404
        assert token not in text


def test_the_page_may_run_its_own_scripts_alone_and_ask_its_server_alone(server):
    _, headers, page = fetch(server.url)
    policy = headers["Content-Security-Policy"]
    directives = dict(it.strip().split(" ", 1) for it in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["connect-src"] == "'self'"
    assert directives["frame-ancestors"] == "'none'"
    hashes = re.findall(r"'sha256-[\w+/=]+'", directives["script-src"])
    assert " ".join(hashes) == directives["script-src"]
    assert len(hashes) == len(re.findall("<script>", page))
    assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert 'http-equiv="Content-Security-Policy"' in page


def test_snapshots_come_as_events_and_a_label_is_never_markup(server):
    async def listen():
        async with aiohttp.ClientSession() as client, client.get(f"{server.url}events") as answer:
            assert answer.content_type == "text/event-stream"
            server.publish(snapshot("one"))
            first = await next_event(answer.content)
            assert server.clients == 1
            server.publish(snapshot("two"))
            return first, await next_event(answer.content)

    texts = asyncio.run(listen())
    assert [json.loads(it)["sentence"] for it in texts] == ["one", "two"]
    for text in texts:
        assert "<" not in text
        (section,) = json.loads(text)["sections"]
        assert section["tables"][0]["rows"] == [[{"text": EVIL}, {"text": "3"}]]


def test_who_comes_again_has_the_newest_at_once(server):
    async def read_once():
        async with aiohttp.ClientSession() as client, client.get(f"{server.url}events") as answer:
            return json.loads(await next_event(answer.content))["sentence"]

    for sentence in ("one", "two", "three"):
        server.publish(snapshot(sentence))
    assert [asyncio.run(read_once()) for _ in range(2)] == ["three", "three"]


def test_at_the_end_the_address_has_the_page_of_the_run(server, tmp_path):
    report = tmp_path / "index.html"
    report.write_text("<!DOCTYPE html><title>PASS</title>", encoding="utf-8")

    async def watch():
        async with aiohttp.ClientSession() as client:
            async with client.get(f"{server.url}events") as answer:
                ending = asyncio.get_running_loop().run_in_executor(
                    None, server.end, snapshot("over", is_over=True, has_page=True), report
                )
                last = json.loads(await next_event(answer.content))
                assert await next_event(answer.content) is None
            async with client.get(server.url) as answer:
                page = await answer.text()
                policy = answer.headers["Content-Security-Policy"]
            await ending
            return last, page, policy

    last, page, policy = asyncio.run(watch())
    assert (last["isOver"], last["hasPage"]) == (True, True)
    assert page == report.read_text()
    assert policy == "frame-ancestors 'none'"


def test_an_end_that_nobody_watches_takes_no_time(server):
    began = time.monotonic()
    server.end(snapshot("over", is_over=True), None)
    assert time.monotonic() - began < 2


def test_a_reader_that_reads_nothing_neither_holds_up_the_run_nor_fills_its_memory(server):
    long = Snapshot("x" * 200_000).to_json()

    async def stall():
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        writer.write(f"GET {path_of(server)}events HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await writer.drain()
        reader._transport.pause_reading()
        for _ in range(200):
            server.publish(long)
            await asyncio.sleep(0.001)
        other = await asyncio.get_running_loop().run_in_executor(None, fetch, server.url)
        writer.close()
        return other[0]

    assert asyncio.run(stall()) == 200


def port_of(server):
    return int(server.url.split(":")[2].split("/")[0])


def path_of(server):
    return "/" + server.url.split("/", 3)[3]


def test_nothing_is_left_of_it():
    made = LiveServer("<!DOCTYPE html>", "default-src 'none'")
    made.start()
    url = made.url
    made.close()
    with contextlib.suppress(aiohttp.ClientConnectionError):
        fetch(url)
        pytest.fail("the port is still open")
    assert "live" not in {it.name for it in threading.enumerate()}
