"""What this host has: domains for its inboxes, places to listen, room on its disk, backups."""

import asyncio
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from conf.setting_kinds import host_port
from maild.commands.doctor.patient import Diagnosis, Patient, ip_version, why
from maild.resolver import DnsError
from storage.clock import is_clock_behind, is_recent, iso
from storage.data_folder import DataFolder, user_of
from storage.disk import Disk
from storage.durable_files import is_there

LISTENS_S = 3
BACKUP_OLD_S = 2 * 24 * 3600  # as the alert MaildBackupOld
_VERSIONS = {"ipv4": ("IPv4", "0.0.0.0:25"), "ipv6": ("IPv6", "[::]:25")}
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (a name of it, not a binding)


async def homes(patient: Patient) -> list[Diagnosis]:
    """Is there a domain for each inbox? After a move with another configuration there may be none, and the mail of real
    inboxes is refused as that of strangers."""
    advice = (
        "Name it in server.shared_domains, if it stood there: until then mail to them is refused for good (550), and"
        " they can't send. If it was given up, have them deactivated."
    )
    return [
        Diagnosis("inboxes", domain, "fault", f"{count} at a domain that nobody has", advice)
        for domain, count in patient.homeless
    ]


async def listening(patient: Patient) -> list[Diagnosis]:
    """Does somebody answer where the daemon is to listen, and is that where DNS sends mail?"""
    smtp, http = patient.settings.smtp, patient.settings.http
    submission = (*smtp.submission_listen, *smtp.submission_listen_tls)
    places = [*smtp.listen, *smtp.listen_tls, *submission, http.listen]
    return [*await asyncio.gather(*map(_listens, places)), *await _unheard(patient)]


async def _unheard(patient: Patient) -> list[Diagnosis]:
    """Versions of IP by which hosts look for this one (RFC 5321 §5.2), and where it does not listen."""
    settings, name = patient.settings, patient.settings.server.hostname
    if settings.smtp.proxy_from:  # a balancer has the addresses that are published
        return []
    try:
        published = {ip_version(one) for one in await patient.resolver.addresses(name)}
    except DnsError:  # told by `names`
        return []
    heard = {ip_version(host_port(place)[0]) for place in settings.smtp.listen}
    return [
        Diagnosis(
            "listening",
            name,
            "fault" if version == "ipv4" else "warning",
            f"DNS has an address of {_VERSIONS[version][0]} for it, and smtp.listen none",
            f'Add "{_VERSIONS[version][1]}" to smtp.listen: hosts that come by it find nobody.',
        )
        for version in sorted(published - heard)
    ]


async def _listens(place: str) -> Diagnosis:
    host, port = host_port(place)
    try:
        async with asyncio.timeout(LISTENS_S):
            _, writer = await asyncio.open_connection(_EVERYWHERE.get(host, host), port)
        writer.close()
    except OSError as error:  # a timeout is one
        advice = (
            "Start the daemon (systemctl start maild), or look why it does not run (journalctl -u maild)."
        )
        return Diagnosis("listening", place, "fault", why(error), advice)
    return Diagnosis("listening", place, "ok", "somebody answers")


async def disk(patient: Patient) -> list[Diagnosis]:
    """Is there room beyond the reserve, and is it taken?"""
    place = str(patient.folder)
    if not Disk(patient.folder, patient.settings.storage.reserve_percent).has_room():
        advice = "Free some, or make the file system larger: until then no mail is accepted."
        return [Diagnosis("disk", place, "fault", "less is free than storage.reserve_percent", advice)]
    if (refusal := _refusal_to_write(patient.folder)) is not None:
        told = f"nothing can be written there: {refusal}"
        advice = (
            "Until it can no mail is accepted. Look at dmesg: a file system is made read-only after an error."
        )
        return [Diagnosis("disk", place, "fault", told, advice)]
    return [Diagnosis("disk", place, "ok", "there is room")]


def _refusal_to_write(folder: Path) -> str | None:
    """What the file system says to a file that leaves nothing behind; None: it takes it, or is not ours to ask."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"?")
            probe.flush()
            os.fsync(probe.fileno())
    except PermissionError:
        return None
    except OSError as error:
        return why(error)
    return None


async def clock(patient: Patient) -> list[Diagnosis]:
    """Is it behind what the store has, as after a machine was restored with its clock?"""
    now_ms, newest_ms = patient.clock.now_ms(), patient.newest_ms
    told = f"it says {iso(now_ms)}"
    if newest_ms is None or not is_clock_behind(now_ms, newest_ms):
        return [Diagnosis("clock", "wall time", "ok", told)]
    found = f"{told}, and the store has what was made at {iso(newest_ms)}"
    advice = (
        "Set it, by NTP: new mail is listed behind what is there, and what is due waits."
        " Where it is right now, it was ahead then, and nothing is to be done."
    )
    return [Diagnosis("clock", "wall time", "warning", found, advice)]


async def files(patient: Patient) -> list[Diagnosis]:
    """Can the daemon use what is in its folder, and nobody else? After a restore by hand neither is sure."""
    folder, place = DataFolder(patient.folder), str(patient.folder)
    found = [*_closed(folder), *_open_to_others(folder)]
    return found or [Diagnosis("files", place, "ok", "the daemon's, and closed to others")]


def _closed(folder: DataFolder) -> list[Diagnosis]:
    closed = folder.closed_parts()
    if not closed:
        return []
    user = user_of(folder.path)
    found = f"{closed[0]} is closed to the user {user}, whom the folder belongs to"
    more = f" (and {len(closed) - 1} others)" if len(closed) > 1 else ""
    advice = f"chown -R {user.removeprefix('#')}: {folder.path}; without it the daemon does not start, or refuses mail."
    return [Diagnosis("files", str(folder.path), "fault", found + more, advice)]


def _open_to_others(folder: DataFolder) -> list[Diagnosis]:
    """A group may be one of the operator's choice."""
    return [
        Diagnosis(
            "files",
            str(part),
            "warning",
            f"every user of this host has a right to it ({mode:04o})",
            f"chmod {wanted} {part}: all mail is in the folder, and the key opens every secret of the store.",
        )
        for part, wanted in ((folder.path, "700"), (folder.master_key, "600"))
        if is_there(part) and (mode := part.stat().st_mode & 0o777) & 0o007
    ]


async def backup(patient: Patient) -> list[Diagnosis]:
    """How old is the last one? None is no fault: a snapshot of the file system leaves no note."""
    at = DataFolder(patient.folder).backed_up_at
    if at is None:
        return [Diagnosis("backup", str(patient.folder), "ok", "none by maild backup has ended well yet")]
    ended = f"the last one ended well at {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    if is_recent(round(at * 1000), patient.clock.now_ms(), BACKUP_OLD_S * 1000):
        return [Diagnosis("backup", str(patient.folder), "ok", ended)]
    advice = "See that what runs maild backup does, and that it ends with exit code 0."
    return [Diagnosis("backup", str(patient.folder), "warning", ended, advice)]
