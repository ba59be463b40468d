"""Keys: contract, sections 2 to 5; decisions.md, "Keys, scopes, bound keys"."""

import hashlib
import re
from typing import Any

import pytest

from controlplane.contract.scopes import MAIL_SCOPES
from storage.clock import iso
from tests.conftest import Start
from tests.support.running import Answer, Api, Running, until
from tests.support.worlds.store import ManualClock

FIELDS = {
    "id", "name", "keyPrefix", "mode", "scopes", "inboxId", "isActive", "mintedBy", "lastUsedAt", "createdAt",
}  # fmt: skip
ABSENT = "key_01m7yg00000000000000000000"


async def mint(api: Api, **fields: Any) -> Answer:
    return await api.post("/v1/keys", {"name": "ci", **fields})


async def revoke(api: Api, key_id: str) -> Answer:
    return await api.call("DELETE", f"/v1/keys/{key_id}")


# Minting -----------------------------------------------------------------------------------------


async def test_a_new_key_is_complete_and_works(maild: Running) -> None:
    answer = await mint(maild.api, scopes=["messages:read", "inboxes:*"])
    assert answer.status == 201
    key = answer.data
    assert set(key) == FIELDS | {"apiKey", "warning"}
    assert re.fullmatch(r"svc_live_[0-9a-f]{48}", key["apiKey"])
    assert key["keyPrefix"] == key["apiKey"][:16]
    assert "save" in key["warning"].lower()
    assert (key["name"], key["scopes"], key["mode"]) == ("ci", ["messages:read", "inboxes:*"], "live")
    assert (key["inboxId"], key["isActive"], key["lastUsedAt"]) == (None, True, None)
    fresh = maild.api.with_key(key["apiKey"])
    assert (await fresh.get("/v1/messages")).status == 200
    assert (await fresh.get("/v1/inboxes")).status == 200
    assert (await fresh.get("/v1/keys")).code == "insufficient_scope"


async def test_scopes_are_all_unless_named(maild: Running) -> None:
    key = (await mint(maild.api)).data
    assert key["scopes"] == ["*"]
    assert (await maild.api.with_key(key["apiKey"]).get("/v1/organization")).status == 200


async def test_a_scope_named_twice_is_held_once(maild: Running) -> None:
    key = (await mint(maild.api, scopes=["keys:read", "keys:read"])).data
    assert key["scopes"] == ["keys:read"]


async def test_the_key_is_stored_as_a_hash_alone(maild: Running) -> None:
    raw = (await mint(maild.api)).data["apiKey"]
    ((digest,),) = maild.sql("SELECT key_hash FROM api_keys WHERE id = (SELECT max(id) FROM api_keys)")
    assert digest == hashlib.sha256(raw.encode()).digest()
    stored = b"".join(path.read_bytes() for path in maild.settings.data_path.glob("maild.sqlite3*"))
    assert raw.encode() not in stored and raw[9:].encode() not in stored


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"name": "required"}),
        ({"name": ""}, {"name": "too_short"}),
        ({"name": "n" * 65}, {"name": "too_long"}),
        ({"name": "a\nb"}, {"name": "control_character"}),
        ({"name": 1}, {"name": "wrong_type"}),
        ({"name": "n", "scopes": []}, {"scopes": "too_few"}),
        ({"name": "n", "scopes": "*"}, {"scopes": "wrong_type"}),
        ({"name": "n", "scopes": ["keys:read", "keys:fly"]}, {"scopes[1]": "not_allowed"}),
        ({"name": "n", "scopes": ["*:*"]}, {"scopes[0]": "not_allowed"}),
        ({"name": "n", "scopes": ["KEYS:READ"]}, {"scopes[0]": "not_allowed"}),
        ({"name": "n", "mode": "both"}, {"mode": "not_allowed"}),
        ({"name": "n", "expiresAt": None}, {"expiresAt": "unknown_field"}),
        ({"name": "", "scopes": ["x"], "mode": 1}, {"name": "too_short", "scopes[0]": "not_allowed",
                                                    "mode": "not_allowed"}),
    ],
)  # fmt: skip
async def test_every_fault_is_named(maild: Running, body: Any, faults: dict[str, str]) -> None:
    answer = await maild.api.post("/v1/keys", body)
    assert (answer.status, answer.faults) == (400, faults)


async def test_a_name_of_64_characters_is_taken(maild: Running) -> None:
    assert (await mint(maild.api, name="ü" * 64)).status == 201


@pytest.mark.parametrize(
    ("held", "wanted", "missing"),
    [
        (["keys:write"], None, "*"),
        (["keys:write"], ["*"], "*"),
        (["keys:write"], ["keys:*"], "keys:*"),
        (["keys:write", "keys:read"], ["keys:*"], "keys:*"),
        (["keys:*"], ["keys:read", "messages:read"], "messages:read"),
        (["keys:*", "messages:read"], ["messages:*"], "messages:*"),
        (["keys:write"], ["keys:write"], None),
        (["keys:*"], ["keys:read", "keys:*"], None),
        (["keys:*", "messages:*"], ["messages:send"], None),
        (["*"], ["domains:*", "*"], None),
    ],
)  # fmt: skip
async def test_a_key_mints_only_what_it_holds(
    maild: Running, held: list[str], wanted: list[str] | None, missing: str | None
) -> None:
    answer = await mint(await maild.key(*held), **({} if wanted is None else {"scopes": wanted}))
    if missing is None:
        assert answer.data["scopes"] == wanted
        return
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    assert answer.error["details"] == {"requiredScope": missing, "grantedScopes": held}


async def test_a_key_that_is_revoked_meanwhile_mints_nothing(maild: Running) -> None:
    """A stolen key may not outlive itself by a request that was under way."""
    made = (await mint(maild.api)).data
    before = maild.sql("SELECT count(*) FROM api_keys")
    assert (await revoke(maild.api, made["id"])).status == 200
    assert (await mint(maild.api.with_key(made["apiKey"]))).code == "invalid_api_key"
    assert maild.sql("SELECT count(*) FROM api_keys") == before


# Modes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minter", "wanted", "mode"),
    [("live", None, "live"), ("live", "live", "live"), ("live", "test", "test"), ("test", None, "test"),
     ("test", "test", "test")],
)  # fmt: skip
async def test_who_mints_which_mode(maild: Running, minter: str, wanted: str | None, mode: str) -> None:
    api = maild.api if minter == "live" else maild.test_api
    key = (await mint(api, **({} if wanted is None else {"mode": wanted}))).data
    assert key["mode"] == mode
    assert re.fullmatch(rf"svc_{mode}_[0-9a-f]{{48}}", key["apiKey"])


async def test_a_test_key_mints_no_live_key(maild: Running) -> None:
    assert (await mint(maild.test_api, mode="live")).faults == {"mode": "not_allowed"}


# Keys bound to an inbox --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        (None, list(MAIL_SCOPES)),
        (["*"], list(MAIL_SCOPES)),
        (["messages:*"], ["messages:read", "messages:send"]),
        (["threads:read", "webhooks:read", "inboxes:write"], ["threads:read"]),
        (["inboxes:*"], ["inboxes:read"]),
        (["messages:label", "threads:read"], ["threads:read", "messages:label"]),
        (["messages:reply", "messages:*"], ["messages:read", "messages:send", "messages:reply"]),
        (["messages:label"], ["messages:label"]),
    ],
)  # fmt: skip
async def test_a_bound_key_holds_mail_scopes_alone(
    maild: Running, bot: dict[str, Any], wanted: list[str] | None, held: list[str]
) -> None:
    key = (await mint(maild.api, inboxId=bot["id"], **({} if wanted is None else {"scopes": wanted}))).data
    assert (key["inboxId"], key["scopes"]) == (bot["id"], held)
    answer = await maild.api.with_key(key["apiKey"]).post("/v1/inboxes", {"username": "more"})
    assert answer.code == "inbox_access_denied"


@pytest.mark.parametrize("scopes", [["webhooks:read"], ["keys:*", "domains:write"], ["inboxes:write"], []])
async def test_a_bound_key_without_mail_scopes_is_invalid(
    maild: Running, bot: dict[str, Any], scopes: list[str]
) -> None:
    answer = await mint(maild.api, inboxId=bot["id"], scopes=scopes)
    assert (answer.status, answer.code) == (400, "invalid_scopes")
    assert "allowedScopes" in answer.error["message"] and len(answer.error["details"]["allowedScopes"]) == 6


async def test_who_may_send_mints_what_may_only_answer_or_sort(maild: Running, bot: dict[str, Any]) -> None:
    minter = await maild.key("keys:write", "messages:reply")
    for scope in ("messages:reply", "messages:label"):
        assert (await mint(minter, inboxId=bot["id"], scopes=[scope])).data["scopes"] == [scope]
    assert (await mint(minter, inboxId=bot["id"], scopes=["messages:send"])).code == "insufficient_scope"


async def test_the_mail_scopes_must_be_held_to_be_bound(maild: Running, bot: dict[str, Any]) -> None:
    minter = await maild.key("keys:write", "messages:read", "threads:read")
    refused = await mint(minter, inboxId=bot["id"])
    assert (refused.status, refused.code) == (403, "insufficient_scope")
    granted = await mint(minter, inboxId=bot["id"], scopes=["messages:read", "domains:read"])
    assert granted.data["scopes"] == ["messages:read"]


async def test_a_key_is_bound_to_an_active_inbox_of_the_organization(
    maild: Running, bot: dict[str, Any]
) -> None:
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    gone = await maild.inbox("gone")
    maild.sql("UPDATE inboxes SET is_active = 0, deactivated_at = 1 WHERE id = ?", gone["id"])
    for inbox_id in (theirs["id"], gone["id"], "inb_01m7yg00000000000000000000", "nonsense", ""):
        answer = await mint(maild.api, inboxId=inbox_id)
        assert (answer.status, answer.code) == (404, "inbox_not_found"), inbox_id
    assert maild.sql("SELECT count(*) FROM api_keys WHERE inbox_id IS NOT NULL") == [(0,)]


async def test_a_bound_key_manages_no_keys(maild: Running, bot: dict[str, Any]) -> None:
    bound = await maild.key(inbox=bot)
    for answer in (await mint(bound), await bound.get("/v1/keys"), await revoke(bound, ABSENT)):
        assert (answer.status, answer.code) == (403, "insufficient_scope")


# Listing -----------------------------------------------------------------------------------------


async def test_keys_are_listed_newest_first_by_prefix_alone(maild: Running) -> None:
    made = [(await mint(maild.api, name=name)).data for name in ("one", "two")]
    answer = await maild.api.get("/v1/keys")
    assert [one["name"] for one in answer.data] == ["two", "one", "first test key", "first key"]
    assert all(set(one) == FIELDS for one in answer.data)
    for key in made:
        assert key["apiKey"][16:].encode() not in answer.body
        assert hashlib.sha256(key["apiKey"].encode()).hexdigest().encode() not in answer.body


async def test_revoked_keys_stay_listed(maild: Running) -> None:
    key = (await mint(maild.api)).data
    await revoke(maild.api, key["id"])
    newest = (await maild.api.get("/v1/keys")).data[0]
    assert (newest["id"], newest["isActive"]) == (key["id"], False)


async def test_the_list_has_pages_for_who_wants_them(maild: Running) -> None:
    first = (await maild.api.get("/v1/keys", limit="1")).data
    rest = (await maild.api.get("/v1/keys", cursor=first[0]["id"])).data
    assert [len(first), len(rest)] == [1, 1] and first != rest
    assert (await maild.api.get("/v1/keys", limit="0")).faults == {"limit": "out_of_range"}
    assert (await maild.api.get("/v1/keys", cursor="x")).faults == {"cursor": "invalid_cursor"}


async def test_keys_of_others_are_not_listed(maild: Running) -> None:
    stranger = await maild.organization()
    mine = {one["id"] for one in (await maild.api.get("/v1/keys")).data}
    theirs = {one["id"] for one in (await stranger.api.get("/v1/keys")).data}
    assert len(mine) == len(theirs) == 2 and not mine & theirs


async def test_last_used_is_within_a_minute(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    key = (await mint(maild.api)).data
    fresh = maild.api.with_key(key["apiKey"])
    for forward_s, shown in ((0, "11:06:40"), (59, "11:06:40"), (1, "11:07:40")):
        clock.forward(forward_s)

        async def is_shown(at: str = f"2026-11-18T{shown}.000Z") -> bool | None:
            # Noted behind the answer, and not while it is noted: used until it shows.
            await fresh.get("/v1/inboxes")
            listed = {one["id"]: one for one in (await maild.api.get("/v1/keys")).data}
            return listed[key["id"]]["lastUsedAt"] == at or None

        await until(is_shown)


async def test_last_used_follows_a_clock_that_was_ahead(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)

    async def is_shown_now() -> bool | None:
        (shown,) = [one for one in (await maild.api.get("/v1/keys")).data if one["mode"] == "live"]
        return shown["lastUsedAt"] == iso(clock.now_ms()) or None

    clock.forward(400 * 86_400)
    await until(is_shown_now)
    clock.set_back(400 * 86_400)
    await until(is_shown_now)


# Revoking ----------------------------------------------------------------------------------------


async def test_revoking_works_at_once(maild: Running) -> None:
    key = (await mint(maild.api)).data
    fresh = maild.api.with_key(key["apiKey"])
    assert (await fresh.get("/v1/inboxes")).status == 200  # on the connection that is used below
    answer = await revoke(maild.api, key["id"])
    assert (answer.status, answer.data) == (200, {"id": key["id"], "status": "revoked"})
    for _ in range(3):
        refused = await fresh.get("/v1/inboxes")
        assert (refused.status, refused.code) == (401, "invalid_api_key")
    assert (await maild.api.get("/v1/inboxes")).status == 200


async def test_revoking_again_says_the_same(maild: Running) -> None:
    key = (await mint(maild.api)).data
    answers = [await revoke(maild.api, key["id"]) for _ in range(2)]
    assert [one.data["status"] for one in answers] == ["revoked", "revoked"]


async def test_the_operator_revokes_beside_the_running_daemon(maild: Running) -> None:
    key = (await mint(maild.api)).data
    assert maild.store.keys.revoke(key["id"])["status"] == "revoked"
    with pytest.raises(KeyError):
        maild.store.keys.revoke(ABSENT)
    assert (await maild.api.with_key(key["apiKey"]).get("/v1/inboxes")).code == "invalid_api_key"


async def test_a_key_may_revoke_itself(maild: Running) -> None:
    key = (await mint(maild.api)).data
    fresh = maild.api.with_key(key["apiKey"])
    assert (await revoke(fresh, key["id"])).status == 200
    assert (await revoke(fresh, key["id"])).code == "invalid_api_key"


async def test_what_is_no_key_of_ours_is_not_found(maild: Running) -> None:
    stranger = await maild.organization()
    theirs = (await stranger.api.get("/v1/keys")).data[0]["id"]
    for key_id in (theirs, ABSENT, "x", "%00"):
        answer = await revoke(maild.api, key_id)
        assert (answer.status, answer.code) == (404, "key_not_found")
    assert (await stranger.api.get("/v1/inboxes")).status == 200
