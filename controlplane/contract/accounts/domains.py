"""Custom domains and the DNS records that they need."""

from typing import Annotated, Any, ClassVar, Literal

from controlplane.contract.fields import DailyCap, DomainName, Limit, cursor_of
from controlplane.contract.model import Large, RequestBody, RequestQuery, ResponseModel, Timestamp, an_id


class RegisterDomain(RequestBody):
    domainName: DomainName
    dailyCap: DailyCap | None = None

    example: ClassVar[dict[str, Any]] = {"domainName": "mail.example.org", "dailyCap": 500}


class PatchDomain(RequestBody):
    dailyCap: DailyCap | None

    example: ClassVar[dict[str, Any]] = {"dailyCap": 1000}


class DomainRecord(ResponseModel):
    purpose: Literal["ownership", "mx", "spf", "dkim", "dmarc"]
    type: Literal["TXT", "MX"]
    name: str
    value: str
    priority: int | None
    required: bool
    status: str
    observed: list[str]


class Domain(ResponseModel):
    id: Annotated[str, an_id("dom")]
    domainName: str
    status: Literal["pending", "verified", "failed"]
    mxStatus: bool
    spfStatus: bool
    dkimStatus: bool
    dmarcStatus: bool
    records: list[DomainRecord]
    dailyCap: int | None
    todayUsed: int
    resetsAt: Timestamp
    note: str | None
    verifiedAt: Timestamp | None
    createdAt: Timestamp


class DomainChecks(ResponseModel):
    ownership: bool
    mx: bool
    spf: bool
    dkim: bool


class DomainVerification(ResponseModel):
    id: str
    domainName: str
    status: Literal["active", "pending", "failed"]
    checks: DomainChecks
    verifiedAt: Timestamp | None


class DomainCeiling(ResponseModel):
    id: str
    domainName: str
    dailyCap: int | None
    todayUsed: int
    resetsAt: Timestamp
    note: str | None


DomainReportType = Literal["dmarc", "tls"]


class ListDomainReports(RequestQuery):
    type: DomainReportType | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("rep")] | None = None


class ReportedDispositions(ResponseModel):
    none: Large
    quarantine: Large
    reject: Large


class ReportedSource(ResponseModel):
    address: str
    total: Large
    passed: Large
    failed: Large


class DmarcSummary(ResponseModel):
    """Messages that say to be from the domain, as their receiver judged them."""

    dkimAligned: Large
    spfAligned: Large
    dispositions: ReportedDispositions
    sources: list[ReportedSource]


class ReportedFailure(ResponseModel):
    type: str
    sessions: Large


class TlsSummary(ResponseModel):
    """Sessions of the reporter with the domain's mail hosts."""

    policyTypes: list[str]
    failures: list[ReportedFailure]


class AggregateReport(ResponseModel):
    """What another host reports about the domain. `total` counts messages (dmarc) or sessions (tls)."""

    id: Annotated[str, an_id("rep")]
    domainId: Annotated[str, an_id("dom")]
    type: DomainReportType
    reporter: str
    reportId: str
    verifiedDomain: str | None
    periodBegin: Timestamp
    periodEnd: Timestamp
    total: Large
    passed: Large
    failed: Large
    isTruncated: bool
    dmarc: DmarcSummary | None
    tls: TlsSummary | None
    messageId: Annotated[str, an_id("msg")]
    createdAt: Timestamp
