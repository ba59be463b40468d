"""Headers that whoever asks fills as he likes, read without the readers of Python's library: 8 KiB of Content-Type take
`email` a quarter of a second, and some of it is an exception to it; 8 KiB of cookies are a thousand objects.
"""

from aiohttp import web


def media_type(request: web.Request) -> str:
    """Of the body, without parameters, in lower case; "" where none is told."""
    return request.headers.get("Content-Type", "").partition(";")[0].strip(" \t").lower()


def cookie(request: web.Request, name: str) -> str | None:
    """The cookie's value, the last one of several."""
    header = ";".join(request.headers.getall("Cookie", ()))
    found = None
    for pair in header.split(";"):
        key, equals, value = pair.partition("=")
        if equals and key.strip(" \t") == name:
            found = value.strip(" \t")
    return found
