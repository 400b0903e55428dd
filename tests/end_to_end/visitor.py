"""A browser at the portal of a running server, for tests that need no page drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping

import httpx


class Visitor:
    """A browser over real HTTP. Cookies that are for HTTPS are kept by hand, as browsers do on localhost."""

    def __init__(self, url: str, cookies: Mapping[str, str] | None = None) -> None:
        self._url = url
        self.cookies = dict(cookies or {})
        self._token = ""

    def get(self, path: str) -> httpx.Response:
        return self._keep(self._send("GET", path))

    def post(self, path: str, fields: Mapping[str, str]) -> httpx.Response:
        return self._keep(self._send("POST", path, {"form_token": self._token, **fields}))

    def _send(self, method: str, path: str, fields: Mapping[str, str] | None = None) -> httpx.Response:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"cookie": cookies, "origin": self._url}
        return httpx.request(method, self._url + path, data=fields, headers=headers, timeout=30, verify=False)

    def _keep(self, answer: httpx.Response) -> httpx.Response:
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        found = re.search(r'name="form_token" value="(\w+)"', answer.text)
        self._token = self._token if found is None else found[1]
        return answer
