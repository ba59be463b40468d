"""What the Python client's README names is there."""

import re

from maild_client import Maild
from scripts import clients
from scripts.client_names import NAMES

README = (clients.CLIENTS / "python" / "README.md").read_text("utf-8")
BY_HAND = {("inboxes", "work"), ("webhooks", "verify")}
ATTRIBUTES = re.compile(r"\bclient\.([a-z_]+)\.([a-z_]+)\(")
ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)


def test_its_blocks_are_python_and_call_what_there_is() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        compile(block, "README.md", "exec")
    client = Maild("svc_live_x", "http://a.test")
    named = ATTRIBUTES.findall(README)
    assert len(named) > 5
    for resource, verb in named:
        assert callable(getattr(getattr(client, resource), verb)), f"{resource}.{verb}"


def test_its_table_has_every_method() -> None:
    shown = {(name, verb) for name, verbs in ROW.findall(README) for verb in re.findall(r"`(\w+)`", verbs)}
    assert shown == {tuple(name) for name in NAMES.values()} | BY_HAND
