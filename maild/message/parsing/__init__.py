"""From the octets of a message to its parts, its bodies and their text."""
