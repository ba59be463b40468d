"""`maild doctor`: is this host set up as mail hosts must be, as far as it can see by itself?

It changes nothing, and may run beside a daemon. Each of CHECKS looks at one thing, all of them at once, each within a
limit of time, and makes a diagnosis of whatever it finds. A fault keeps mail from coming in or from being taken; a
warning is worth knowing, and so is that something can't be told now.
"""

import asyncio
from typing import Any

from maild.commands.doctor.certificate_checks import authorities, certificate
from maild.commands.doctor.dns_checks import names, nameservers, published, signatures
from maild.commands.doctor.host_checks import (
    backup,
    clock,
    disk,
    files,
    homes,
    listening,
)
from maild.commands.doctor.outbound_checks import queue, reaching, ways
from maild.commands.doctor.patient import Check, Patient


async def examine(patient: Patient) -> dict[str, Any]:
    """`{"ok", "diagnoses": [{"check", "subject", "status", "found", "advice"}]}`; `ok`: nothing is a fault."""
    found = await asyncio.gather(*(check(patient) for check in CHECKS))
    diagnoses = [one for some in found for one in some]
    return {
        "ok": all(one.status != "fault" for one in diagnoses),
        "diagnoses": [one._asdict() for one in diagnoses],
    }


CHECKS: tuple[Check, ...] = (
    nameservers,
    names,
    published,
    signatures,
    homes,
    certificate,
    authorities,
    listening,
    clock,
    disk,
    files,
    backup,
    queue,
    ways,
    reaching,
)
