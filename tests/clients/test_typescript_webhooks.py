"""`verifyWebhook`: what the daemon signs is verified, and nothing else."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.clients.test_python_webhooks import BODY, EVENT, NOW_S, OTHER, SECRET, signed
from tests.clients.typescript_world import Driver, Refused
from tests.support.machine import tools

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

VERIFY = "return maild.verifyWebhook(given.headers, given.body, given.secret, given.options)"


async def verify(
    driver: Driver, headers: Mapping[str, Any], body: bytes = BODY, secret: str = SECRET, **options: float
) -> Any:
    given = {
        "headers": headers,
        "body": body.decode(),
        "secret": secret,
        "options": {"nowSeconds": NOW_S, **options},
    }
    return await driver.ask("http://a.test", VERIFY, given)


async def test_what_the_daemon_signs_is_verified(driver: Driver) -> None:
    for case in (str.lower, str.upper, str.title):
        assert await verify(driver, {case(name): value for name, value in signed().items()}) == EVENT
    assert await verify(driver, {name: [value] for name, value in signed().items()}) == EVENT
    octets = VERIFY.replace("given.headers", "new Headers(given.headers)").replace(
        "given.body", "new TextEncoder().encode(given.body)"
    )
    given = {"headers": signed(), "body": BODY.decode(), "secret": SECRET, "options": {"nowSeconds": NOW_S}}
    assert await driver.ask("http://a.test", octets, given) == EVENT


async def test_headers_may_be_those_of_another_fetch(driver: Driver) -> None:
    kind = "class extends Map { get [Symbol.toStringTag]() { return 'Headers'; } }"
    theirs = f"new ({kind})(Object.entries(given.headers))"
    given = {"headers": signed(), "body": BODY.decode(), "secret": SECRET, "options": {"nowSeconds": NOW_S}}
    assert await driver.ask("http://a.test", VERIFY.replace("given.headers", theirs), given) == EVENT


async def test_a_header_that_is_null_is_missing(driver: Driver) -> None:
    """`headers.get(…)` of what is not there."""
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        with pytest.raises(Refused, match=f"InvalidSignature: the request has no header {name}"):
            await verify(driver, {**signed(), name: None})


async def test_while_a_secret_is_rotated_either_will_do(driver: Driver) -> None:
    both = signed(OTHER, SECRET)
    assert await verify(driver, both) == await verify(driver, both, secret=OTHER + "\n") == EVENT


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "evt_2"}, {"webhook-timestamp": str(NOW_S + 1)}, {"webhook-timestamp": "x"},
        {"webhook-timestamp": ""}, {"webhook-timestamp": "9" * 400}, {"webhook-timestamp": "²"},
        {"webhook-signature": ""}, {"webhook-signature": "v1,"}, {"webhook-signature": "v1,ü"},
        {"webhook-signature": "v2," + "A" * 44}, {"webhook-signature": "v1," + "A" * 43 + "="},
        {"webhook-id": None}, {"webhook-timestamp": None}, {"webhook-signature": None},
    ],
)  # fmt: skip
async def test_what_was_changed_is_refused(driver: Driver, change: dict[str, str | None]) -> None:
    headers = {name: value for name, value in {**signed(), **change}.items() if value is not None}
    with pytest.raises(Refused, match="InvalidSignature"):
        await verify(driver, headers)


async def test_another_body_or_secret_is_refused(driver: Driver) -> None:
    for body, secret in ((BODY + b" ", SECRET), (b"", SECRET), (BODY, OTHER)):
        with pytest.raises(Refused, match="InvalidSignature"):
            await verify(driver, signed(), body, secret)


async def test_what_is_old_or_of_tomorrow_is_refused(driver: Driver) -> None:
    for passed_s in (300, -300):
        assert await verify(driver, signed(), nowSeconds=NOW_S + passed_s) == EVENT
    for passed_s in (301, -301):
        with pytest.raises(Refused, match="InvalidSignature"):
            await verify(driver, signed(), nowSeconds=NOW_S + passed_s)
        assert await verify(driver, signed(), nowSeconds=NOW_S + passed_s, toleranceSeconds=1000) == EVENT


@pytest.mark.parametrize("secret", ["whsec_not base64!", "whsec_", "", "whsec_abc"])
async def test_a_secret_that_is_none_is_not_quoted(driver: Driver, secret: str) -> None:
    with pytest.raises(Refused, match="ConfigurationError") as error:
        await verify(driver, signed(), secret=secret)
    assert "not base64!" not in error.value.told["message"]
