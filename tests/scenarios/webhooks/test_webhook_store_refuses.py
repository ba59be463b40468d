"""The store takes no writes for a while (disk full): nothing is sent twice, nothing goes unrecorded."""

from pathlib import Path
from typing import Any

from storage.engine.database import Database
from tests.support.worlds.webhook_world import ScriptedPoster, WebhookWorld

URL = "https://sink.test/hook"


class _Unwilling(Database):
    """Refuses a number of writes of one unit, then is itself again."""

    def __init__(self, db: Database, unit: str, times: int) -> None:
        self.__dict__.update(db.__dict__)
        self._unit = unit
        self.refusals = times

    async def write(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        if unit.__name__ == self._unit and self.refusals:
            self.refusals -= 1
            raise OSError(28, "No space left on device")
        return await super().write(unit, *args, **kwargs)


async def _run(tmp_path: Path, unit: str) -> tuple[WebhookWorld, ScriptedPoster]:
    world = await WebhookWorld.open(tmp_path)
    poster = ScriptedPoster()
    await world.webhook(URL)
    unwilling = _Unwilling(world.db, unit, 3)
    dispatcher = world.dispatcher(poster, db=unwilling)
    await dispatcher.start()
    await world.event()
    dispatcher.wake()
    await poster.posted_count(1, URL)
    await world.settled(dispatcher)
    assert unwilling.refusals == 0
    await dispatcher.stop()
    return world, poster


async def test_a_record_that_is_refused_is_written_later(tmp_path: Path) -> None:
    world, poster = await _run(tmp_path, "_conclude")
    assert len(poster.posted) == 1
    assert [record.is_successful for record in await world.attempts()] == [1]
    await world.db.close()


async def test_a_claim_that_is_refused_is_made_later(tmp_path: Path) -> None:
    world, poster = await _run(tmp_path, "_take")
    assert len(poster.posted) == 1
    await world.db.close()
