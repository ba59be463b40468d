"""What methods take, told to callers that say something else."""

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any


def tell_names(resource: type) -> None:
    """Let the methods of the class say what they take, where a caller names something else."""
    for name, method in list(vars(resource).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(resource, name, _telling(method))


def _telling(method: Callable[..., Any]) -> Callable[..., Any]:
    code = inspect.unwrap(method).__code__
    takes = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

    def look(positional: int, named: Iterable[str]) -> None:
        unknown = [name for name in named if name not in takes]
        if unknown:
            raise TypeError(_unknown(f"{method.__qualname__}()", unknown[0], takes))
        if positional > code.co_argcount:
            said = ", ".join(f"{name}=…" for name in takes[code.co_argcount - 1 :]) or "nothing else"
            raise TypeError(f"{method.__qualname__}() takes by name: {said}")

    if inspect.iscoroutinefunction(method):

        @wraps(method)
        async def asked(*args: Any, **named: Any) -> Any:
            look(len(args), named)
            return await method(*args, **named)

        return asked

    @wraps(method)
    def called(*args: Any, **named: Any) -> Any:
        look(len(args), named)
        return method(*args, **named)

    return called


def _unknown(method: str, name: str, takes: tuple[str, ...]) -> str:
    plain = {_plain(one): one for one in takes}
    close = difflib.get_close_matches(_plain(name), plain, 1)
    meant = f" (is it {plain[close[0]]!r}?)" if close else ""
    return f"{method} takes no {name!r}{meant}; it takes: {', '.join(takes) or 'nothing'}"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()  # `inReplyTo`, as the wire has it, is `in_reply_to`
