"""A class name stands once in the product, so that it says which class is meant wherever it is read."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / "controlplane" / "clients"  # products of their own, which speak of the same things
ROOMS = ("maild", "controlplane", "storage", "conf")


def test_a_class_name_stands_once() -> None:
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py") if CLIENTS not in file.parents]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    counts = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert {name: count for name, count in counts.items() if count > 1} == {}
