"""A start reads and builds no more than it needs: what is long and seldom wanted waits for who asks for it first."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import GIVES_UP_S

ROOT = Path(__file__).parents[1]
PROGRAM = """
import json, sys
import maild.daemon
from controlplane.contract.model import ResponseModel

built = [model.__name__ for model in ResponseModel.__subclasses__() if model.__pydantic_complete__]
print(json.dumps([built, sorted(sys.modules)]))
"""


def test_models_that_few_ask_for_are_not_part_of_a_start() -> None:
    """Those of answers, which `/openapi.json` alone reads, and those of the Model Context Protocol."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT, capture_output=True, text=True, timeout=GIVES_UP_S, check=True,
    )  # fmt: skip
    built, modules = json.loads(done.stdout)
    assert built == []
    assert "controlplane.mcp.tools" in modules and "mcp_types" not in modules
