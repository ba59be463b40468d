"""STARTTLS: used where it works, plain text where it is broken, and nothing believed from before it."""

from pathlib import Path

from tests.support.clients.attempts import shown_attempts
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.worlds.sending import Sending


async def test_a_working_starttls_is_used_though_nobody_vouches_for_the_certificate(tmp_path: Path) -> None:
    context = ThrowawayCa(tmp_path).server_context(["other.test"])
    async with Sending(tmp_path, mx=Mx(starttls="good", tls_context=context)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "delivered")
        (row,) = await sending.store.recipients(message_id)
        assert row.tls.startswith("TLSv1.3 ")
        assert sending.mx.received[0].tls


async def test_a_broken_starttls_means_plain_text_and_is_remembered_for_an_hour(tmp_path: Path) -> None:
    context = ThrowawayCa(tmp_path).server_context(["other.test"])
    async with Sending(tmp_path, mx=Mx(starttls="broken", tls_context=context)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        first = await sending.send("you@there.test")
        await sending.until(first, "delivered")
        assert (await sending.store.recipients(first))[0].tls is None
        assert sending.mx.connections == 2
        sending.clock.forward(60)  # the kept-open session is too old now
        second = await sending.send("you@there.test")
        await sending.until(second, "delivered")
        assert sending.mx.connections == 3
        sending.mx.starttls = "good"
        sending.clock.forward(3600)
        third = await sending.send("you@there.test")
        await sending.until(third, "delivered")
        assert (await sending.store.recipients(third))[0].tls is not None


async def test_what_is_injected_behind_the_220_is_discarded(tmp_path: Path) -> None:
    """Threat S4: replies sent in plain text must not answer commands sent under TLS."""
    context = ThrowawayCa(tmp_path).server_context(["mx.there.test"])
    async with Sending(tmp_path, mx=Mx(starttls="injecting", tls_context=context)) as sending:
        sending.dns.add_mx("there.test")
        # The true answer of the encrypted session: were the injected 250 believed, this would be delivered.
        sending.mx.always["RCPT"] = "550 5.1.1 no such user"
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "bounced")
        (row,) = await sending.store.recipients(message_id)
        assert row.response == "no such user"
        assert row.tls is not None


async def test_a_host_that_shows_certificates_without_end_is_told(tmp_path: Path) -> None:
    context = ThrowawayCa(tmp_path).server_context(["mx.there.test"], shows_ca=80)
    async with Sending(tmp_path, mx=Mx(starttls="good", tls_context=context)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "delivered")
        (attempt,) = await shown_attempts(sending.store, message_id)
        (host,) = attempt["evidence"]["hosts"]
        assert "* TLS failed: no TLS: handshake too long; once more, in plain text" in host["dialogue"]
