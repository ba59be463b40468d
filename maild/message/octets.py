"""What a message is read from: the whole of it, in memory or mapped."""

import mmap
from typing import TypeAlias

# What `parse` and `read_text` accept.
RawMessage: TypeAlias = bytes | bytearray | memoryview | mmap.mmap
# What the readers inside work on: it has `find`, and its slices are cheap.
Buffer: TypeAlias = bytes | bytearray | mmap.mmap
