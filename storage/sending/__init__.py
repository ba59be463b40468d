"""The outbound queue, each attempt and what came of it, and what is remembered of mail hosts."""
