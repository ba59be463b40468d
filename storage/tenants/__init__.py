"""Organizations: who belongs to them, whose request it is, what their plan allows, and what they are shown of
themselves."""
