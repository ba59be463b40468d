"""Who goes next: rounds of the event loop, turns of owners, and threads and processes for what computes."""
