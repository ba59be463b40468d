"""The octets of a message as they leave: signed, dot-stuffed, and few of them in memory."""
