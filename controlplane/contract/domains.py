"""Custom domains and the DNS records that they need."""

from typing import Annotated, Any, ClassVar, Literal

from controlplane.contract.fields import DailyCap, DomainName
from controlplane.contract.model import RequestBody, ResponseModel, Timestamp, an_id


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
