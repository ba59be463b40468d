"""What the store does beside its work: what is old goes, what is damaged is found, copies, another master key."""
