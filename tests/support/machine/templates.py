"""The console's templates, compiled once in a process of tests instead of once for each daemon.

Compiling them is half of a daemon's start, and tests start some thousand; what comes of it hangs on the text and on how
the environment was made alone. The first daemon of a process compiles all of them as the product does.
"""

import functools
from typing import Any

import jinja2


def compile_once() -> None:
    """From now on, a template whose text was compiled before is what that gave."""
    compiled: dict[tuple[Any, ...], Any] = {}
    compile_template = jinja2.Environment.compile

    @functools.wraps(compile_template)
    def compile(self: jinja2.Environment, source: Any, *names: Any, **options: Any) -> Any:
        if not isinstance(source, str):
            return compile_template(self, source, *names, **options)
        made = (self.autoescape, self.undefined, self.trim_blocks, self.lstrip_blocks, *self.filters)
        key = (source, names, tuple(sorted(options.items())), made)
        if key not in compiled:
            compiled[key] = compile_template(self, source, *names, **options)
        return compiled[key]

    jinja2.Environment.compile = compile  # type: ignore[method-assign]
