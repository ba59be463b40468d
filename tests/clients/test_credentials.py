"""Where the command has its key from, what it keeps, and to whom that goes."""

import os
import stat
from pathlib import Path

import pytest

from maild_client import credentials
from maild_client.credentials import FILE_BYTES_MAX, ClientCredentials, CredentialsError

KEY, URL = "svc_live_abcdefgh", "https://mail.example.org"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_what_is_kept_is_found_and_nobody_else_can_read_it(environ: dict[str, str]) -> None:
    os.umask(0)
    file = credentials.keep(environ, ClientCredentials(URL, KEY))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert credentials.find(environ) == (URL, KEY)
    credentials.keep(environ, ClientCredentials(URL, KEY + "2"))
    assert credentials.find(environ) == (URL, KEY + "2")
    assert [one.name for one in file.parent.iterdir()] == [file.name], "nothing half-made beside it"


def test_a_kept_key_goes_to_its_own_server_alone(environ: dict[str, str]) -> None:
    credentials.keep(environ, ClientCredentials(URL, KEY))
    assert credentials.find(environ, f"{URL}/") == (URL, KEY)
    for url in ("https://mail.example.org.evil.test", "http://mail.example.org", f"{URL}:8443"):
        with pytest.raises(CredentialsError, match="goes to no other server"):
            credentials.find(environ, url)
        with pytest.raises(CredentialsError, match="goes to no other server"):
            credentials.find(environ | {"MAILD_URL": url})


def test_a_file_goes_before_the_environment_before_what_is_kept(
    environ: dict[str, str], tmp_path: Path
) -> None:
    credentials.keep(environ, ClientCredentials(URL, KEY))
    environ |= {"MAILD_API_KEY": "svc_live_environ\n", "MAILD_URL": "http://here.test/\n"}
    assert credentials.find(environ) == ("http://here.test", "svc_live_environ")
    file = tmp_path / "key"
    file.write_text("svc_live_in_a_file\n")
    file.chmod(0o400)
    assert credentials.find(environ, key_file=file) == ("http://here.test", "svc_live_in_a_file")
    assert credentials.find(environ, "http://there.test").url == "http://there.test"


def test_a_key_without_an_address_goes_nowhere(environ: dict[str, str]) -> None:
    with pytest.raises(CredentialsError, match="MAILD_URL") as caught:
        credentials.find(environ | {"MAILD_API_KEY": KEY})
    assert not caught.value.is_key
    with pytest.raises(CredentialsError, match="maildc login"):
        credentials.find(environ)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"url": 7, "apiKey": 8}', '{"url": "http://x"}', "\x00"]
)
def test_what_was_kept_and_is_damaged_is_told(environ: dict[str, str], text: str) -> None:
    file = credentials.keep(environ, ClientCredentials(URL, KEY))
    file.write_text(text)
    with pytest.raises(CredentialsError, match="maildc login"):
        credentials.find(environ)


def test_what_others_can_read_is_not_used(environ: dict[str, str]) -> None:
    credentials.keep(environ, ClientCredentials(URL, KEY)).chmod(0o644)
    with pytest.raises(CredentialsError, match="chmod 600") as caught:
        credentials.find(environ)
    assert KEY not in str(caught.value)


def test_what_somebody_else_put_there_is_not_used(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """He knows the key, and reads what it is for."""
    file = credentials.keep(environ, ClientCredentials(URL, KEY))
    if os.geteuid() == 0:
        os.chown(file, 4711, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(CredentialsError, match="belongs to somebody else"):
        credentials.find(environ)


def test_a_file_is_read_as_far_as_a_key_may_be_long(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(KEY.ljust(FILE_BYTES_MAX, "\n"))
    file.chmod(0o600)
    assert credentials.find(environ, URL, file) == (URL, KEY)
    file.write_text(KEY.ljust(FILE_BYTES_MAX + 1, "\n"))
    with pytest.raises(CredentialsError, match="too long"):
        credentials.find(environ, URL, file)


@pytest.mark.parametrize("who", ["ann@", ":secret@", "ann:secret@", "@", ":@"])
def test_an_address_holds_no_name_and_no_password(who: str) -> None:
    with pytest.raises(CredentialsError, match="no name or password"):
        credentials.checked_url(f"https://{who}mail.example.org")


def test_no_repr_shows_the_key() -> None:
    found = ClientCredentials(URL, KEY)
    assert KEY not in f"{found!r} {found!s} {found}"
