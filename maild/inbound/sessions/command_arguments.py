"""What stands behind a verb of SMTP: host names, paths, parameters. Pure; SmtpError says what is wrong with one."""

import re
from collections.abc import Mapping

from conf.log_events import clean
from maild.errors import SmtpError
from maild.message.fields.address import AddressSyntaxError, ParameterSyntaxError, parse_path

# 8-bit and UTF-8 mail is taken as it comes, announced or not (RFC 6152, RFC 6531).
_WITHOUT_EFFECT = {("BODY", "7BIT"), ("BODY", "8BITMIME"), ("SMTPUTF8", "")}
_SIZE = re.compile(r"[0-9]{1,20}")  # RFC 1870 §3
_HOST_NAME = re.compile(r"[A-Za-z0-9._:\[\]-]{1,255}")


def read_host_name(argument: bytes) -> str:
    """The argument of HELO and EHLO: a domain or an address literal, as far as its characters go."""
    name = argument.decode("ascii", "replace")
    if not _HOST_NAME.fullmatch(name):
        raise SmtpError(501, "5.5.4", "give your host name or address literal")
    return name


def read_any_name(argument: bytes) -> str:
    """The same of a client that logs in, whose name means nothing: many say what their machine is called, `box.(none)`
    or nothing at all. RFC 5321 §4.1.4: no mail is refused for it."""
    return clean(argument.decode("utf-8", "replace"))


def read_reverse_path(argument: bytes) -> tuple[str, int]:
    """The argument of MAIL: the envelope sender ("" is the null one), and the declared size in octets (RFC 1870),
    0 when none was."""
    address, parameters = _read_path(argument, b"FROM:", "5.1.7", "MAIL FROM:<address>")
    return address, _read_size(parameters)


def read_authenticated_path(argument: bytes) -> tuple[str, int]:
    """`read_reverse_path` of a client that logged in: where AUTH is offered, MAIL may say AUTH= (RFC 4954 §5). What it
    says is not believed, and nobody is told."""
    address, parameters = _read_path(argument, b"FROM:", "5.1.7", "MAIL FROM:<address>")
    return address, _read_size({name: value for name, value in parameters.items() if name != "AUTH"})


def read_forward_path(argument: bytes) -> tuple[str, Mapping[str, str | None]]:
    """The argument of RCPT: the recipient's address and its parameters."""
    return _read_path(argument, b"TO:", "5.1.3", "RCPT TO:<address>")


def _read_path(
    argument: bytes, keyword: bytes, fault: str, syntax: str
) -> tuple[str, Mapping[str, str | None]]:
    if argument[: len(keyword)].upper() != keyword:
        raise SmtpError(501, "5.5.4", f"syntax: {syntax}")
    try:
        path = parse_path(argument[len(keyword) :].strip(), smtputf8=True)
    except ParameterSyntaxError as error:
        # Senders take 5.1.3 for a bad address, and may never write to it again.
        raise SmtpError(501, "5.5.4", str(error)) from error
    except AddressSyntaxError as error:
        raise SmtpError(501, fault, str(error)) from error
    return path.address, path.parameters


def _read_size(parameters: Mapping[str, str | None]) -> int:
    """Unknown parameters are refused (RFC 5321 §4.1.1.11)."""
    size = 0
    for keyword, value in parameters.items():
        if keyword == "SIZE" and value is not None and _SIZE.fullmatch(value):
            size = int(value)
        elif keyword not in ("SIZE", "BODY", "SMTPUTF8"):
            raise SmtpError(555, "5.5.4", "parameter not implemented")
        elif (keyword, (value or "").upper()) not in _WITHOUT_EFFECT:
            raise SmtpError(501, "5.5.4", f"bad value of {keyword}")
    return size
