"""`webhooks.verify`: what the daemon signs is verified, and nothing else."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from standardwebhooks import Webhook

from controlplane.webhooks import signing
from maild_client import ConfigurationError, InvalidSignature, Maild, webhooks

NOW_S = 1_790_000_000
SECRET = signing.secret_text(bytes(range(32)))
OTHER = signing.secret_text(bytes(range(1, 33)))
EVENT = {"id": "evt_1", "type": "mood.changed", "data": {"words": "Grüße 👋"}}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()


def signed(*secrets: str, body: bytes = BODY, at_s: int = NOW_S) -> dict[str, str]:
    """The headers as the daemon makes them."""
    return signing.request_headers(
        webhook_id="whk_1", event_id="evt_1", event_type="mood.changed", attempt=1, at_s=at_s, body=body,
        secrets=[signing.keys(secret) for secret in secrets or (SECRET,)],
    )  # fmt: skip


def verify(headers: Mapping[str, str], body: bytes | str = BODY, secret: str = SECRET, **more: Any) -> Any:
    return webhooks.verify(headers, body, secret, **{"now_s": NOW_S, **more})


@pytest.mark.parametrize("case", [str.lower, str.upper, str.title, str])
def test_what_the_daemon_signs_is_verified(case: Any) -> None:
    headers = {case(name): value for name, value in signed().items()}
    assert verify(headers) == EVENT
    assert verify(headers, BODY.decode()) == EVENT
    assert verify(headers, bytearray(BODY)) == EVENT  # type: ignore[arg-type]
    assert Maild("svc_live_x", "http://a.test").webhooks.verify(headers, BODY, SECRET, now_s=NOW_S) == EVENT


def test_headers_may_be_those_of_asgi() -> None:
    pairs = [(name.lower().encode(), value.encode()) for name, value in signed().items()]
    assert webhooks.verify(pairs, BODY, SECRET, now_s=NOW_S) == EVENT


@pytest.mark.parametrize("body", [EVENT, [EVENT], None, 25])
def test_a_parsed_body_is_told_to_be_none(body: Any) -> None:
    """Not `InvalidSignature`, which would look like a stranger: and `bytes(25)` is 25 zeros."""
    with pytest.raises(TypeError, match="body is the request's, as it came"):
        verify(signed(), body)


@pytest.mark.parametrize(
    "headers", [None, BODY, "webhook-id: evt_1", {"webhook-id": ["evt_1"]}, {"webhook-id": None}]
)
def test_what_is_no_headers_is_told(headers: Any) -> None:
    with pytest.raises(TypeError, match="headers are those of the request"):
        verify(headers)


@pytest.mark.parametrize("secret", [None, SECRET.encode(), 5])
def test_a_secret_that_is_no_text_is_told(secret: Any) -> None:
    with pytest.raises(ConfigurationError, match="whsec_"):
        verify(signed(), secret=secret)


def test_while_a_secret_is_rotated_either_will_do() -> None:
    both = signed(OTHER, SECRET)
    assert len(both["webhook-signature"].split()) == 2
    assert verify(both) == verify(both, secret=OTHER) == EVENT
    assert verify(both, secret=OTHER + "\n") == EVENT


def test_others_agree() -> None:
    id, at = "evt_1", str(NOW_S)
    theirs = base64.b64encode(base64.b64decode(Webhook(SECRET).sign(id, _date(), BODY.decode())[3:])).decode()
    assert (
        verify({"webhook-id": id, "webhook-timestamp": at, "webhook-signature": f"v2,x v1,{theirs}"}) == EVENT
    )


def _date() -> Any:
    from datetime import UTC, datetime  # noqa: PLC0415

    return datetime.fromtimestamp(NOW_S, UTC)


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "evt_2"}, {"webhook-timestamp": str(NOW_S + 1)}, {"webhook-timestamp": "x"},
        {"webhook-timestamp": ""}, {"webhook-timestamp": "9" * 400}, {"webhook-timestamp": "²"},
        {"webhook-signature": ""}, {"webhook-signature": "v1,"}, {"webhook-signature": "v1,ü"},
        {"webhook-signature": "v1,\udcff"}, {"webhook-id": "\udcff"},
        {"webhook-signature": "v2," + "A" * 44}, {"webhook-id": None}, {"webhook-timestamp": None},
        {"webhook-signature": None},
    ],
)  # fmt: skip
def test_what_was_changed_is_refused(change: dict[str, str | None]) -> None:
    headers = {name: value for name, value in {**signed(), **change}.items() if value is not None}
    with pytest.raises(InvalidSignature):
        verify(headers)


def test_another_body_or_secret_is_refused() -> None:
    for body, secret in ((BODY + b" ", SECRET), (b"", SECRET), (BODY, OTHER)):
        with pytest.raises(InvalidSignature):
            verify(signed(), body, secret)


@pytest.mark.parametrize(("passed_s", "is_fresh"), [(300, True), (-300, True), (301, False), (-301, False)])
def test_what_is_old_or_of_tomorrow_is_refused(passed_s: int, is_fresh: bool) -> None:
    if is_fresh:
        assert verify(signed(), now_s=NOW_S + passed_s) == EVENT
    else:
        with pytest.raises(InvalidSignature):
            verify(signed(), now_s=NOW_S + passed_s)
    assert verify(signed(), now_s=NOW_S + passed_s, tolerance_s=1000) == EVENT


def test_a_secret_that_was_not_set_lets_nobody_sign() -> None:
    for secret in ("", " ", "whsec_", "whsec_\n"):
        with pytest.raises(ConfigurationError):
            verify(signed("whsec_"), secret=secret)


@pytest.mark.parametrize("secret", ["whsec_not base64!", "whsec_abc", "whsec_not base64! ü"])
def test_a_secret_that_is_none_is_not_quoted(secret: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        verify(signed(), secret=secret)
    assert "not base64!" not in str(error.value)
