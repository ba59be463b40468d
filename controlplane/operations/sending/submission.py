"""Sending a message that its author's program composed, for doors that bring one (SMTP submission)."""

from functools import partial

from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.operations.retries import accepted
from controlplane.sending.writing.written_mail import MailSubmission, submission_of
from maild.message.digest import Digest, digest, digest_at_once


async def submit_message(call: Call) -> Result:
    """`call.input`: a MailSubmission. Its file is the door's to remove where it made no message."""
    mail: MailSubmission = call.input
    found = await _read(call, mail)
    return accepted(await call.services.pipeline.send(submission_of(call.principal, mail, found)))


async def _read(call: Call, mail: MailSubmission) -> Digest:
    stored = mail.stored
    found = None if stored.data is None else digest_at_once(stored.data)
    if found is None:
        work = partial(digest, stored.to_hand_over())
        found = await call.services.cpu_process.run(call.organization_id, work)
    return found
