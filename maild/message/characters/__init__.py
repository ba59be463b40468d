"""Octets as characters: charsets that are declared, guessed, or encoded in words."""
