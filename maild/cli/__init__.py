"""`maild`, as it is typed. What the commands do is in `maild/commands`."""
