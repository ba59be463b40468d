"""From what is to be said to the octets of a message, and what is looked at before it leaves."""
