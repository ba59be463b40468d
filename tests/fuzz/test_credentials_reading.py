"""What a client says in AUTH is text, or a refusal that does not repeat it, whatever its octets are."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from maild.errors import SmtpError
from maild.submission.credentials import (
    Credentials,
    read_initial_response,
    read_login,
    read_plain,
    read_response,
)

SECRET = b"hunter2"
texts = st.one_of(st.binary(max_size=20), st.sampled_from([b"", b"\0", b"=", b"*", SECRET, b"\xff" + SECRET]))
lines = st.one_of(texts, texts.map(base64.b64encode), st.binary(max_size=40))


@given(line=lines)
def test_a_response_is_octets_or_refused(line: bytes) -> None:
    for read in (read_response, read_initial_response):
        try:
            found = read(line)
        except SmtpError as error:
            assert error.code == 501 and SECRET.decode() not in str(error)
        else:
            assert found == b"" or base64.b64encode(found) == line


@given(parts=st.lists(texts, max_size=5))
def test_credentials_are_text_and_tell_no_password(parts: list[bytes]) -> None:
    said = b"\0".join(parts)
    try:
        found = read_plain(said)
    except SmtpError as error:
        assert error.code == 501 and said.count(b"\0") != 2
        assert SECRET.decode() not in str(error)
        return
    if found is not None:
        acts_for, username, password = said.split(b"\0")
        assert acts_for in (b"", username)
        is_like(found, username, password)


@given(username=texts, password=texts)
def test_login_gives_what_was_said(username: bytes, password: bytes) -> None:
    found = read_login(username, password)
    if found is not None:
        is_like(found, username, password)


def is_like(found: Credentials, username: bytes, password: bytes) -> None:
    assert (found.username.encode(), found.password.encode()) == (username, password)
    assert repr(found) == f"Credentials({found.username!r}, ...)"
