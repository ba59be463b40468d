"""The header section: its fields, and the structured values in them, down to one address."""
