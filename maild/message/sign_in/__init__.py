"""The codes and links by which a mail lets its reader in."""
