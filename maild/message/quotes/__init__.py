"""Whose words are whose in an answer: what is new, and what was quoted, copied or put below it."""
