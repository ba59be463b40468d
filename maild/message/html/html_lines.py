"""Which elements stand on lines of their own where no style says otherwise (HTML, "Rendering")."""

from __future__ import annotations

from typing import Final

# Those that also end an open paragraph, and beyond which no end tag of what stands in them reaches; table parts too.
BLOCKS: Final = frozenset(
    """address article aside blockquote body center details dialog dir div dl dd dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p pre search section summary table
    tbody td tfoot th thead tr ul""".split()
)
LINES: Final = BLOCKS | frozenset("caption optgroup option xmp".split())
# Boxes in a line, which nobody reads as one word with what stands beside them.
BOXES: Final = frozenset("button marquee select td textarea th".split())
