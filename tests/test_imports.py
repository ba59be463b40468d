"""No module imports itself by way of others: each can be read, and tested, before those that use it."""

import grimp
import pytest


@pytest.mark.parametrize("packages", [("maild", "controlplane", "storage", "conf"), ("maild_client",)])
def test_there_is_no_import_circle(packages: tuple[str, ...]) -> None:
    graph = grimp.build_graph(*packages, cache_dir=None)
    users = {name: set(graph.find_modules_that_directly_import(name)) for name in graph.modules}
    # Modules that nothing is left to use stand in no circle; taken away one by one, they leave the circles.
    while unused := {name for name, by in users.items() if not by & users.keys()}:
        for name in unused:
            del users[name]
    while leaves := {
        name for name in users if not graph.find_modules_directly_imported_by(name) & users.keys()
    }:
        for name in leaves:
            del users[name]
    assert sorted(users) == []
