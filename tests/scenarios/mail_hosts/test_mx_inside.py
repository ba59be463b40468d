"""A domain whose mail host is 127.0.0.1, or this very host: a stranger could have us call what is inside, or ourselves.

A listener stands at the port; nobody ever connects to it.
"""

from pathlib import Path

import pytest

from storage.records import RecipientRow
from tests.support.worlds.sending import Sending

INSIDE = {
    "loopback.test": ["127.0.0.1"],
    "many.test": ["127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"],
    "six.test": ["::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
}


@pytest.mark.parametrize("domain", INSIDE)
async def test_what_lies_inside_is_never_called(tmp_path: Path, domain: str) -> None:
    async with Sending(tmp_path, outbound={"allow_private_networks": False}) as sending:
        for address in INSIDE[domain]:
            sending.dns.add_mx(domain, address=address)
        row = await bounced(sending, domain)
        assert (row.smtp_code, row.enhanced_code) == (550, "5.4.4")
        assert row.response == f"mail host mx.{domain} has no public address"
        assert sending.mx.connections == 0


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
async def test_a_name_that_means_us_to_libraries_is_a_name_without_address(tmp_path: Path, name: str) -> None:
    async with Sending(tmp_path, outbound={"allow_private_networks": True}) as sending:
        sending.dns.add("there.test", "MX", f"10 {name}.")
        row = await bounced(sending, "there.test")
        assert row.response == f"mail host {name} has no address"
        assert sending.mx.connections == 0


async def test_a_domain_that_names_this_host_gets_no_loop(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="mail.ours.test")
        row = await bounced(sending, "there.test")
        assert (row.smtp_code, row.enhanced_code) == (550, "5.4.6")
        assert sending.mx.connections == 0


async def bounced(sending: Sending, domain: str) -> RecipientRow:
    await sending.queue.start()
    message_id = await sending.send(f"you@{domain}")
    await sending.until(message_id, "bounced")
    (row,) = await sending.store.recipients(message_id)
    return row
