from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.worlds.webhook_world import WebhookWorld


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[WebhookWorld]:
    opened = await WebhookWorld.open(tmp_path)
    yield opened
    await opened.db.close()
