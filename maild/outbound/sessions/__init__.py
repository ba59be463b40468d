"""Sessions with other hosts: opened, protected, kept open, spoken on; and what happened in them."""
