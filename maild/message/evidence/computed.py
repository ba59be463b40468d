"""What of an element's style decides whether a person sees its text, computed as a browser would without a layout."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from tinycss2 import color4

from maild.message.evidence.css_text import UNREAD
from maild.message.evidence.styles import Style

Colour = tuple[float, float, float]  # 0 to 1
Channels = tuple[float, float, float, float]  # a colour and how opaque it is

MIN_OPACITY: Final = 0.05
MIN_FONT_PX: Final = 2.0
MIN_CONTRAST: Final = 1.2  # WCAG 2.2, "contrast ratio"
OFF_SCREEN_PX: Final = -400.0
ZERO_PX: Final = 2.0
MAX_PARSED_COLOURS: Final = 400  # different ones, of those that are not plain
ROOT_FONT_PX: Final = 16.0
WHITE: Final[Colour] = (1.0, 1.0, 1.0)
BLACK: Final[Colour] = (0.0, 0.0, 0.0)

_LENGTH = re.compile(r"([+-]?(?:\d++\.?\d*+|\.\d++))(px|pt|pc|in|cm|mm|em|rem|ex|ch|vw|vh|%)?")
_PX = {
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "vw": 10.0,
    "vh": 8.0,
    "rem": 16.0,
}
_FONT_WORDS = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
}
_FONT_SIZES = {"1": 10.0, "2": 13.0, "3": 16.0, "4": 18.0, "5": 24.0, "6": 32.0, "7": 48.0}  # <font size>
_SHORTHAND_SIZE = re.compile(r"(?:^|\s)(0|(?:\d++\.?\d*+|\.\d++)(?:px|pt|em|rem|%))(?=[\s/]|\Z)")
_COLOURED = re.compile(r"#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([^)]*\)|[a-z]+")
_HEX = re.compile(r"#(?:[0-9a-f]{3}){1,2}")
_RGB = re.compile(r"rgb\( ?([0-9]{1,3}) ?, ?([0-9]{1,3}) ?, ?([0-9]{1,3}) ?\)")
_TRANSLATED = re.compile(r"translate(?:3d|x|y)?\(([^)]*+)")  # CSS Syntax §5.4.9: the end closes it
_CLIPPED = re.compile(
    r"inset\(\s*(?:[5-9]\d|\d{3,})(?:\.\d+)?%|circle\(\s*0|ellipse\(\s*0|polygon\(\s*0(?:px)?[\s,0px]*\)"
)
_NOTHING = re.compile(r"rect\(\s*(?:[01](?:\.0+)?(?:px)?[\s,]*){4}\)")

INLINE: Final = frozenset(
    "a abbr b big cite code del em font i ins label mark q s samp small span strike strong sub sup tt u".split()
)
CELLS: Final = frozenset("table tbody thead tfoot tr td th caption".split())
FORMATTING: Final = frozenset("a b big code em font i nobr s small strike strong tt u".split())


class Computed(NamedTuple):
    """`gone`: what takes the element and all in it out of sight, for good. The rest is inherited; a colour of None is
    not known (an image lies behind), and hides nothing."""

    gone: str | None = None
    is_invisible: str | None = None  # visibility, which a child may take back
    opacity: float = 1.0
    font_px: float = ROOT_FONT_PX
    colour: Colour | None = BLACK
    background: Colour | None = WHITE

    def hidden_by(self) -> str | None:
        """Why a person does not see text that stands here; None: it is seen."""
        if self.gone or self.is_invisible:
            return self.gone or self.is_invisible
        if self.opacity <= MIN_OPACITY:
            return f"opacity:{self.opacity:.2g}"
        if self.font_px <= MIN_FONT_PX:
            return f"font-size:{self.font_px:.2g}px"
        if self.colour is None or self.background is None:
            return None
        return "color" if contrast(self.colour, self.background) < MIN_CONTRAST else None


class Colours:
    """Colours by their text, each read once for a message. `is_cut`: some were not, as there are too many."""

    def __init__(self) -> None:
        self.is_cut = False
        self._known: dict[str, Channels | None] = {}
        self._parsed = 0

    def read(self, value: str) -> Channels | None:
        """Red, green, blue, alpha; None where it is no colour that we know."""
        if value not in self._known:
            self._known[value] = _plain_colour(value) or self._parse(value)
        return self._known[value]

    def _parse(self, value: str) -> Channels | None:
        if len(value) > 100:
            return None
        self._parsed += 1
        if self._parsed > MAX_PARSED_COLOURS:
            self.is_cut = True
            return None
        return _parsed_colour(value)

    def over(self, value: str, ground: Colour | None) -> Colour | None:
        """The colour that `value` makes on that ground; the ground itself where it is no colour."""
        found = self.read(value)
        if found is None:
            return ground
        *own, alpha = found
        if alpha >= 1:
            return own[0], own[1], own[2]
        if ground is None:
            return None
        mixed = [alpha * mine + (1 - alpha) * under for mine, under in zip(own, ground, strict=True)]
        return mixed[0], mixed[1], mixed[2]


def _plain_colour(value: str) -> Channels | None:
    if _HEX.fullmatch(value):
        digits = value[1:] if len(value) == 7 else "".join(2 * one for one in value[1:])
        red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
        return red, green, blue, 1.0
    if (given := _RGB.fullmatch(value)) is not None:
        red, green, blue = (min(255, int(one)) / 255 for one in given.groups())
        return red, green, blue, 1.0
    return None


def _parsed_colour(value: str) -> Channels | None:
    try:
        found = color4.parse_color(value)
    except (ValueError, TypeError, ArithmeticError, IndexError):
        return None
    if found is None or not hasattr(found, "coordinates"):
        return None
    try:
        red, green, blue = (min(1.0, max(0.0, float(one or 0))) for one in found.to("srgb").coordinates)
        return red, green, blue, float(found.alpha)
    except (ValueError, TypeError, NotImplementedError):
        return None


def contrast(one: Colour, other: Colour) -> float:
    """WCAG 2.2's ratio, 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Colour) -> float:
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else float(((one + 0.055) / 1.055) ** 2.4) for one in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def compute(
    parent: Computed, tag: str, attributes: Mapping[str, str], style: Style, colours: Colours
) -> Computed:
    """The element's own, of its parent's. `style`: what its rules and its `style` attribute come to."""
    font_px = _font_px(parent.font_px, tag, attributes, style)
    background = _background(parent.background, attributes, style, colours)
    gone = parent.gone
    if gone is None and ("hidden" in attributes or not _TAKING_AWAY.isdisjoint(style)):
        gone = _gone(tag, attributes, style, font_px)
    return Computed(
        gone,
        _visibility(parent.is_invisible, style) if "visibility" in style else parent.is_invisible,
        parent.opacity * _opacity(style) if "opacity" in style or "filter" in style else parent.opacity,
        font_px,
        _colour(parent.colour, tag, attributes, style, background, colours),
        background,
    )


def px(value: str | None, font_px: float = ROOT_FONT_PX) -> float | None:
    """A length in CSS pixels; None where it is none, or depends on a layout (but 0 is 0)."""
    if not value:
        return None
    found = _LENGTH.fullmatch(value)
    if found is None:
        return None
    number = float(found[1])
    unit = found[2]
    if unit is None or number == 0:
        return number
    if unit in ("em", "ex", "ch"):
        return number * font_px * (1 if unit == "em" else 0.5)
    return number * _PX[unit] if unit in _PX else None


# Properties that `_gone` looks at; others say what these come to.
_TAKING_AWAY = frozenset(
    f"""{UNREAD} display mso-hide content-visibility left top right bottom text-indent margin-left margin-top transform
    clip clip-path overflow overflow-x overflow-y""".split()
)


def _gone(tag: str, attributes: Mapping[str, str], style: Style, font_px: float) -> str | None:
    display = style.get("display")
    if display == "none":
        return "display:none"
    if "hidden" in attributes and display is None:
        return "hidden"
    if UNREAD in style:
        return "style that was not read"
    if style.get("mso-hide") == "all":
        return "mso-hide:all"
    if style.get("content-visibility") == "hidden":
        return "content-visibility:hidden"
    return _off_screen(style, font_px) or _clipped(style) or _zero_box(tag, attributes, style, font_px)


def _off_screen(style: Style, font_px: float) -> str | None:
    position = style.get("position")
    moved = ("left", "top", "right", "bottom") if position in ("absolute", "fixed", "relative") else ()
    for name in (*moved, "text-indent", "margin-left", "margin-top"):
        found = px(style.get(name), font_px)
        if found is not None and found <= OFF_SCREEN_PX:
            return f"{name}:{style[name]}"
    transform = style.get("transform", "")
    if "scale(0)" in transform.replace(" ", ""):
        return "transform:scale(0)"
    for given in _TRANSLATED.findall(transform):
        if any((px(one.strip(), font_px) or 0) <= OFF_SCREEN_PX for one in given.split(",")):
            return f"transform:{transform[:60]}"
    return None


def _clipped(style: Style) -> str | None:
    if _NOTHING.match(style.get("clip", "")) and style.get("position") in ("absolute", "fixed"):
        return f"clip:{style['clip'][:60]}"
    return f"clip-path:{style['clip-path'][:60]}" if _CLIPPED.match(style.get("clip-path", "")) else None


def _zero_box(tag: str, attributes: Mapping[str, str], style: Style, font_px: float) -> str | None:
    is_boxed = tag not in INLINE or (
        style.get("display", "inline") not in ("inline", "contents")
        or style.get("position") in ("absolute", "fixed")
        or style.get("float", "none") != "none"
    )
    if not is_boxed or tag in CELLS:  # a cell is as large as what stands in it
        return None
    flows = {style.get(name, "visible").split(" ")[0] for name in ("overflow", "overflow-x", "overflow-y")}
    if flows.isdisjoint(("hidden", "clip", "scroll", "auto")) or _is_padded(style):
        return None
    for name in ("height", "max-height", "width", "max-width"):
        found = px(style.get(name), font_px)
        if found is not None and 0 <= found <= ZERO_PX:
            return f"{name}:{style[name]}; overflow:hidden"
    return None


def _is_padded(style: Style) -> bool:
    """A box of no height with a padding, as videos have it, shows what is put over it."""
    given = " ".join(style.get(name, "") for name in ("padding", "padding-top", "padding-bottom"))
    return any(one[-1] == "%" or (px(one) or 0) > ZERO_PX for one in given.split()[:8])


def _visibility(inherited: str | None, style: Style) -> str | None:
    value = style.get("visibility")
    if value in ("hidden", "collapse"):
        return f"visibility:{value}"
    return None if value in ("visible", "initial") else inherited


def _opacity(style: Style) -> float:
    found = [style.get("opacity", "1")]
    if (filtered := style.get("filter", "")).startswith("opacity("):
        found.append(filtered[len("opacity(") :].partition(")")[0])
    result = 1.0
    for one in found:
        length = _LENGTH.fullmatch(one.strip())
        if length is not None:
            result *= min(1.0, max(0.0, float(length[1]) / (100 if length[2] == "%" else 1)))
    return result


def _font_px(inherited: float, tag: str, attributes: Mapping[str, str], style: Style) -> float:
    value = style.get("font-size")
    if value is None and (shorthand := style.get("font")):
        found = _SHORTHAND_SIZE.search(shorthand[:200])
        value = found[1] if found else None
    if value is None:
        return _FONT_SIZES.get(attributes.get("size", ""), inherited) if tag == "font" else inherited
    if value in _FONT_WORDS:
        return _FONT_WORDS[value]
    if value.endswith("%"):
        share = _LENGTH.fullmatch(value)
        return inherited * float(share[1]) / 100 if share else inherited
    found_px = px(value, inherited)
    return inherited if found_px is None or found_px < 0 else found_px


def _background(
    inherited: Colour | None, attributes: Mapping[str, str], style: Style, colours: Colours
) -> Colour | None:
    if not style:
        if "background" in attributes:
            return None
        return (
            colours.over(_hashed(attributes["bgcolor"]), inherited) if "bgcolor" in attributes else inherited
        )
    given = [style.get(name, "") for name in ("background-image", "background")]
    if "background" in attributes or any("url(" in one or "gradient(" in one for one in given):
        return None
    result = colours.over(_hashed(attributes["bgcolor"]), inherited) if "bgcolor" in attributes else inherited
    for value in ("background", "background-color"):
        for word in _COLOURED.findall(style.get(value, "")[:200])[:8]:
            if colours.read(word) is not None:
                result = colours.over(word, inherited)
    return result


def _colour(
    inherited: Colour | None,
    tag: str,
    attributes: Mapping[str, str],
    style: Style,
    background: Colour | None,
    colours: Colours,
) -> Colour | None:
    result = inherited
    if tag == "a" and "href" in attributes:
        result = (0.0, 0.0, 0.93)
    if "color" in attributes and tag in ("font", "basefont"):
        result = colours.over(_hashed(attributes["color"]), result)
    elif "text" in attributes and tag == "body":
        result = colours.over(_hashed(attributes["text"]), result)
    for name in ("color", "-webkit-text-fill-color"):
        value = style.get(name)
        if value in ("inherit", "unset"):
            result = inherited
        elif value is not None and colours.read(value) is not None:
            result = colours.over(value, background)
    return result


def _hashed(value: str) -> str:
    """A colour attribute, which may be hexadecimal without its mark."""
    value = value.strip().lower()
    return f"#{value}" if re.fullmatch(r"[0-9a-f]{6}", value) else value
