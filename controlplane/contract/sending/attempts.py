"""Attempts to deliver a message: what became of each recipient, and what is kept of how it went."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from controlplane.contract.model import ResponseModel, Timestamp
from maild.message.delivery_evidence import Before, Stage, TlsFailure, TlsLevel, TlsPolicyName, VerifiedBy
from maild.message.reports.bounce_classes import Advice, BounceClass
from maild.message.reports.bounces import BounceType


class StageDurations(ResponseModel):
    """Milliseconds; null: it did not come to that. `wait`: for a place among the sessions; `greeting`: the host's;
    `hello`: EHLO; `envelope`: MAIL, RCPT; `data`: the message; `answer`: the reply to it."""

    wait: int | None
    connect: int | None
    greeting: int | None
    hello: int | None
    tls: int | None
    auth: int | None
    envelope: int | None
    data: int | None
    answer: int | None


class PassedOverHost(ResponseModel):
    """A mail host of the domain that was not tried."""

    host: str
    reason: str


class HostTried(ResponseModel):
    """One address of a mail host or smarthost. `fault`: why it took no part in a transaction, or that it was lost in
    one. `dialogue`: what was said, `C: ` by this host, `S: ` by the other, `* ` remarks; without the message, and of
    the recipients this one alone."""

    host: str
    address: str
    port: int
    isRelay: bool
    sourceAddress: str | None
    ehloName: str | None
    isReused: bool
    tlsPolicy: TlsPolicyName
    tlsLevel: TlsLevel
    tlsVersion: str | None
    cipher: str | None
    verifiedBy: VerifiedBy | None
    tlsFailure: TlsFailure | None
    stage: Stage
    durationsMs: StageDurations
    fault: str | None
    dialogue: list[str]


class DeliveryEvidence(ResponseModel):
    """What is kept of an attempt over the network. `endedAt`: the last host's stage, or what it did not get beyond."""

    endedAt: Literal[Stage, Before]
    dnsMs: int | None
    passedOver: list[PassedOverHost]
    hostsLeftOut: int
    hosts: list[HostTried]


class DeliveryAttempt(ResponseModel):
    """Of one recipient. `class`, `permanence`, `advice`: of what failed. `suppressed`: the address is on the
    suppression list, by this attempt or from before it."""

    address: str
    kind: Literal["to", "cc", "bcc"]
    attempt: int
    outcome: Literal["sent", "delivered", "deferred", "bounced", "failed", "suppressed", "expired"]
    remoteHost: str | None
    smtpCode: int | None
    enhancedCode: str | None
    response: str | None
    tls: str | None
    durationMs: int
    createdAt: Timestamp
    class_: Annotated[BounceClass | None, Field(alias="class")]
    permanence: BounceType | None
    advice: Advice | None
    nextAttemptAt: Timestamp | None
    gaveUpAt: Timestamp | None
    suppressed: bool
    evidence: DeliveryEvidence | None

    example: ClassVar[dict[str, Any]] = {
        "address": "ada@there.test",
        "kind": "to",
        "attempt": 1,
        "outcome": "deferred",
        "remoteHost": "mx.there.test",
        "smtpCode": 452,
        "enhancedCode": "4.2.2",
        "response": "mailbox full",
        "tls": "TLSv1.3 TLS_AES_256_GCM_SHA384 (mta-sts)",
        "durationMs": 187,
        "createdAt": "2026-11-02T09:00:00.000Z",
        "class": "mailbox_full",
        "permanence": "transient",
        "advice": "retry_later",
        "nextAttemptAt": "2026-11-02T09:01:02.000Z",
        "gaveUpAt": None,
        "suppressed": False,
        "evidence": {
            "endedAt": "envelope",
            "dnsMs": 12,
            "passedOver": [],
            "hostsLeftOut": 0,
            "hosts": [
                {
                    "host": "mx.there.test",
                    "address": "192.0.2.25",
                    "port": 25,
                    "isRelay": False,
                    "sourceAddress": "198.51.100.7",
                    "ehloName": "mail.acme.dev",
                    "isReused": True,
                    "tlsPolicy": "mta-sts",
                    "tlsLevel": "verify",
                    "tlsVersion": "TLSv1.3",
                    "cipher": "TLS_AES_256_GCM_SHA384",
                    "verifiedBy": "webpki",
                    "tlsFailure": None,
                    "stage": "envelope",
                    "durationsMs": {
                        "wait": 0,
                        "connect": None,
                        "greeting": None,
                        "hello": None,
                        "tls": None,
                        "auth": None,
                        "envelope": 171,
                        "data": None,
                        "answer": None,
                    },
                    "fault": None,
                    "dialogue": [
                        "C: MAIL FROM:<b+01m81pr8.***@acme.dev> SIZE=4821",
                        "S: 250 2.1.0 ok",
                        "C: RCPT TO:<ada@there.test>",
                        "S: 452 4.2.2 mailbox full",
                        "C: DATA",
                        "S: 503 5.5.1 no valid recipients",
                        "C: RSET",
                        "S: 250 2.0.0 ok",
                    ],
                }
            ],
        },
    }
