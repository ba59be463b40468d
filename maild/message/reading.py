"""What is read of a message that came in, at one go. It runs in the process that computes where it may take long."""

from maild.message.digest import Digest, digest
from maild.message.octets import RawMessage
from maild.message.reports.report import Report, read_report


def read_message(raw: RawMessage, may_report: bool) -> tuple[Digest, Report | None]:
    """The digest, and the report that the message is, if it may be one."""
    found = digest(raw)
    return found, read_report(raw, found.parsed) if may_report else None
