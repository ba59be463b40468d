"""`python -m maild` is `maild`."""

from maild.cli import main

if __name__ == "__main__":
    main()
