"""Whose turn it is: the rows that wait in memory, in the line of their destination, and when each is tried again."""
