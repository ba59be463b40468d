"""How much a group of mail hosts is sent at a time: back-off, rates, warm-up."""
