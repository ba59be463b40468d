"""How often a plain send asks the store: in one look before it composes, and in its transaction, however many people it
goes to."""

from typing import Any

import pytest

from controlplane.sending.pipeline import Pipeline
from storage.engine.tx import Tx
from tests.support.running import Running

LOOKED_MAX = 3  # is the key active, the inbox, the operator's switch
WRITTEN_MAX = 20  # the key and the switch once more


class Noting:
    """A Tx that notes its statements."""

    def __init__(self, tx: Tx, statements: list[str]) -> None:
        self._tx = tx
        self._statements = statements

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._tx, name)
        if name not in ("run", "run_many", "one", "all", "value"):
            return verb

        def noted(sql: str, *parameters: Any) -> Any:
            self._statements.append(sql)
            return verb(sql, *parameters)

        return noted


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Of sends, by the pipeline's unit of work."""
    seen: dict[str, list[str]] = {"_look": [], "_commit": []}
    for name, noted in seen.items():
        unit = getattr(Pipeline, name)
        monkeypatch.setattr(
            Pipeline,
            name,
            lambda self, tx, given, unit=unit, noted=noted: unit(self, Noting(tx, noted), given),
        )
    return seen


@pytest.mark.parametrize("recipients", [1, 10])
async def test_a_send_asks_the_store_little(
    maild: Running, statements: dict[str, list[str]], recipients: int
) -> None:
    bot = await maild.inbox("bot")
    to = [f"user{number}@elsewhere.test" for number in range(recipients)]
    assert (await maild.api.send(bot, to=to, text="words")).status == 201
    assert 0 < len(statements["_look"]) <= LOOKED_MAX
    assert 0 < len(statements["_commit"]) <= WRITTEN_MAX, "\n".join(statements["_commit"])
