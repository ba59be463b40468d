"""The audit log: which acts there are, who did what in the transaction that did it, the chain that shows tampering."""
