#!/usr/bin/env python3
"""Requests to a server of pages, as browsers, other sites and other users send them: requests.py MADE_TRACE"""
import concurrent.futures
import http.client
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

wrong = []


def check(what, good):
    print(("ok   " if good else "FAIL ") + what)
    if not good:
        wrong.append(what)


class Site:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port, self.base = parts.hostname, parts.port, parts.path

    def ask(self, path, method="GET", headers=None, body=None, raw=False):
        """(status, headers, bytes); the token is put before @path unless @raw."""
        link = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            link.request(method, path if raw else self.base + path, body=body, headers=headers or {})
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()

    def status(self, *args, **kwargs):
        return self.ask(*args, **kwargs)[0]

    def send(self, data):
        """What comes back for these bytes."""
        with socket.create_connection((self.host, self.port), timeout=20) as link:
            try:
                link.sendall(data)
            except OSError:
                pass  # it closed the connection meanwhile
            got = b""
            while True:
                try:
                    piece = link.recv(65536)
                except OSError:
                    break
                if not piece:
                    break
                got += piece
                if len(got) > 1 << 16:
                    break
            return got


def page(site):
    status, headers, body = site.ask("")
    text = body.decode()
    policy = headers.get("Content-Security-Policy", "")
    nonce = re.search(r"'nonce-([0-9a-f]{32})'", policy)
    check("the page is there", status == 200 and headers["Content-Type"] == "text/html; charset=utf-8" and
          "<title>app</title>" in text)
    check("its policy allows its own scripts and requests only", nonce and
          policy.startswith("default-src 'none'; script-src 'nonce-") and "connect-src 'self'" in policy and
          "unsafe-inline" not in policy.split("script-src")[1].split(";")[0] and "frame-ancestors 'none'" in policy)
    scripts = re.findall(r"<script( [^>]*)?>", text)
    check("every script has the nonce", scripts and all(
        nonce[1] in attributes or 'type="application/json"' in attributes for attributes in scripts))
    again = re.search(r"'nonce-([0-9a-f]{32})'", site.ask("")[1]["Content-Security-Policy"])
    check("which is another one each time", again[1] != nonce[1])
    check("nobody keeps it, frames it or learns its address", headers["Cache-Control"] == "no-store" and
          headers["X-Frame-Options"] == "DENY" and headers["Referrer-Policy"] == "no-referrer" and
          headers["X-Content-Type-Options"] == "nosniff" and headers["Cross-Origin-Resource-Policy"] == "same-origin")
    check("no other origin may read it", not any(name.lower().startswith("access-control") for name in
          site.ask("", headers={"Origin": "http://evil.example"})[1]))
    status, headers, body = site.ask("", method="HEAD")
    check("HEAD has the headers alone", status == 200 and int(headers["Content-Length"]) > 10000 and body == b"")
    status, headers, _ = site.ask(site.base.rstrip("/"), raw=True)
    check("the address without its last / leads to the page", status == 301 and headers["Location"] == site.base)


def tokens(site):
    token = site.base.strip("/")
    for what, path in (("no token", "/"), ("half a token", f"/{token[:16]}/"), ("a longer token", f"/{token}0/"),
                       ("a wrong token", f"/{'0' * 32}/"), ("its case changed", f"/{token.upper()}x/"),
                       ("the token as a query", f"/?{token}"), ("the token behind a folder", f"/x/{token}/"),
                       ("tiles without it", "/tiles?blocks=0")):
        status, _, body = site.ask(path, raw=True)
        check(f"{what}: 403", status == 403 and b"the address is not complete" in body)
    check("an answer to a stranger does not name it", token.encode() not in site.ask("/", raw=True)[2])


def hosts(site):
    for host, expected in ((f"127.0.0.1:{site.port}", 200), (f"localhost:{site.port}", 200), ("LOCALHOST:9000", 200),
                           ("localhost", 200), ("[::1]:8050", 200), ("evil.example", 403), ("localhost.evil.example", 403),
                           ("127.0.0.1.evil.example:80", 403), ("127.0.0.10", 403), ("localhost:80@evil.example", 403),
                           ("", 403)):
        check(f"Host '{host}': {expected}", site.status("", headers={"Host": host}) == expected)
    got = site.send(f"GET {site.base} HTTP/1.0\r\n\r\n".encode())
    check("no Host: 403", got.startswith(b"HTTP/1.0 403") or got.startswith(b"HTTP/1.1 403"))


def paths(site):
    for path in ("../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "tiles/",
                 "tiles%00", "./tiles", "head", "..\\..\\etc\\passwd", "a" * 4000):
        status, _, body = site.ask(path)
        check(f"no file: {path[:40]}", status in (400, 404) and b"root:" not in body)


def methods(site):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "PROPFIND"):
        status, headers, _ = site.ask("", method=method, body=b"x=1" if method == "POST" else None)
        check(f"{method}: 405", status == 405 and headers.get("Allow") == "GET, HEAD")
    check("a GET with a body is answered", site.status("", body=b"y" * 100000) == 200)


def unusual(site):
    """What no browser sends. The server must be there afterwards."""
    head = f"GET {site.base} HTTP/1.1\r\nHost: localhost\r\n".encode()
    huge = site.send(head + b"X: " + b"y" * (1 << 20) + b"\r\n\r\n")
    check("a huge header is refused", re.match(rb"HTTP/1.[01] (431|413|400)", huge) or huge == b"")
    many = site.send(head + b"".join(b"X%d: y\r\n" % i for i in range(20000)) + b"\r\n")
    check("so are many of them", re.match(rb"HTTP/1.[01] (431|413|400)", many) or many == b"")
    long = site.send(b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    check("and a huge address", re.match(rb"HTTP/1.[01] (414|431|413|400)", long) or long == b"")
    check("bytes that are no request are refused", not site.send(b"\x16\x03\x01\x02\x00\x01\x00\xff\xfe\r\n\r\n")
          .startswith(b"HTTP/1.1 200"))
    check("queries with any bytes are", site.status("tiles?blocks=%ff%00%0d%0aX:1&blocks=%") == 400)
    check("and repeated keys count once", site.status("tiles?blocks=0&blocks=x") == 200)
    whole = site.ask("tiles?blocks=0")[2]
    status, _, body = site.ask("tiles?blocks=0", headers={"Range": "bytes=2-5"})
    check("parts of an answer are not sent", status == 200 and body == whole)
    with socket.create_connection((site.host, site.port), timeout=20) as link:
        link.sendall(f"GET {site.base}tiles?blocks=0-4 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        link.recv(10)  # and gone, in the middle of the answer
    check("the server is still there", site.status("") == 200)


def data(site):
    status, headers, body = site.ask("tables")
    names = zlib.decompress(body).decode()
    check("names are there", status == 200 and headers["Content-Type"] == "application/octet-stream" and
          "hipGetLastError" in names and headers["Content-Security-Policy"].startswith("default-src 'none'"))
    sizes = {}
    for blocks in ("0", "1", "2", "0-2"):
        status, headers, body = site.ask("tiles?blocks=" + blocks)
        sizes[blocks] = len(body)
        length = struct.unpack_from("<I", body)[0]
        check(f"blocks {blocks} are tiles", status == 200 and zlib.decompress(body[4:4 + length]) and
              int(headers["Content-Length"]) == len(body))
    check("several are one after the other", sizes["0-2"] == sizes["0"] + sizes["1"] + sizes["2"])
    for query, why in (("", b"is missing"), ("?blocks=0-999999", b"ascending"), ("?blocks=x", b"looks like"),
                       ("?blocks=5,3", b"ascending")):
        status, _, body = site.ask("tiles" + query)
        check(f"tiles{query}: 400", status == 400 and why in body)
    status, _, body = site.ask("sums?from=0&to=200000000&samples=0")
    check("sums have the number of rows first", status == 200 and 5 < zlib.decompress(body)[0] < 128)
    check("an empty range has none", zlib.decompress(site.ask("sums?from=199000000&to=200000000&samples=0")[2]) == b"\0")


def concurrency(site):
    wanted = {blocks: site.ask("tiles?blocks=" + blocks)[2] for blocks in ("0", "1-2", "0-4")}
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        jobs = [(blocks, pool.submit(site.ask, "tiles?blocks=" + blocks)) for _ in range(60) for blocks in wanted]
        check("many at once get what each asked for",
              all(job.result()[0] == 200 and job.result()[2] == wanted[blocks] for blocks, job in jobs))
    idle = [socket.create_connection((site.host, site.port), timeout=20) for _ in range(40)]
    check("idle connections keep nobody out", site.status("") == 200)
    more = []
    for _ in range(60):
        more.append(socket.create_connection((site.host, site.port), timeout=20))
    for link in idle + more:
        link.close()
    check("nor do more than are allowed, once they are closed", site.status("") == 200)


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) / 1024


def is_sanitized(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as f:
        return "libasan" in f.read()


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([sys.argv[1], folder, "serve"], stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            check("the address is printed", re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", url))
            site = Site(url)
            hint = "".join(server.stdout.readline() for _ in range(3))
            check("and how to reach it from elsewhere", f"ssh -N -L {site.port}:127.0.0.1:{site.port} " in hint)
            with open("/proc/net/tcp", encoding="ascii") as f:
                listening = [line.split()[1] for line in f if line.split()[3] == "0A" and
                             line.split()[1].endswith(f":{site.port:04X}")]
            check("it listens on the loopback interface only", listening == [f"0100007F:{site.port:04X}"])
            for test in (page, tokens, hosts, paths, methods, data, unusual, concurrency):
                test(site)
            check("its memory is bounded", resident_mb(server.pid) < (400 if is_sanitized(server.pid) else 100))
        finally:
            server.send_signal(signal.SIGINT)
        check("Ctrl-C ends it with 0", server.wait(20) == 0)
        check("and nothing is left behind", os.listdir(folder) == [])
    sys.exit(1 if wrong else 0)


main()
