"""What one room (a folder of modules) uses of another has a docstring: it tells what name and signature can't.

Three kinds need none here: methods, models of the contract, whose fields with their descriptions are the document, and
operations, whose rows are.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOPS = ("maild", "controlplane", "storage", "conf")
MODELS = "controlplane.contract"
TABLE = "controlplane.operations.table"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

FILES = [file.relative_to(ROOT) for top in TOPS for file in (ROOT / top).rglob("*.py")]
ROOMS = {".".join(file.parent.parts) for file in FILES}
TREES = {
    ".".join(file.with_suffix("").parts).removesuffix(".__init__"): ast.parse(
        (ROOT / file).read_text("utf-8")
    )
    for file in FILES
}


def test_what_another_room_uses_has_a_docstring() -> None:
    used = {
        name for module, tree in TREES.items() if module != TABLE for name in used_of_others(module, tree)
    }
    bare = {name for module, tree in TREES.items() for name in without_docstring(module, tree)}
    assert {"storage.records.load", "storage.tenants.keys.create"} <= used, (
        "imported by name, and through the module"
    )
    assert sorted(used & bare) == [], "another room uses it: say in a docstring what name and signature don't"


def used_of_others(module: str, tree: ast.Module) -> Iterator[str]:
    """The full names that `module` imports from other rooms, or uses as an attribute of what it imports."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):  # breadth first: an import comes before what uses it
        match node:
            case ast.ImportFrom(module=str(source)) if room_of(source) != room_of(module):
                imported |= {one.asname or one.name: f"{source}.{one.name}" for one in node.names}
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in imported:
                yield f"{imported[name]}.{attribute}"
    yield from imported.values()


def without_docstring(module: str, tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and f"{module}.".startswith(f"{MODELS}."):
            continue
        if isinstance(node, DEFINITIONS) and ast.get_docstring(node) is None:
            yield f"{module}.{node.name}"


def room_of(module: str) -> str:
    return module if module in ROOMS else module.rpartition(".")[0]
