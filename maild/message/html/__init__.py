"""HTML as tokens, and as text."""
