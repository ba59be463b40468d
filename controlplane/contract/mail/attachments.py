"""Attachments, whose answers are bytes."""

from controlplane.contract.model import RequestQuery


class GetAttachment(RequestQuery):
    inline: bool = False
