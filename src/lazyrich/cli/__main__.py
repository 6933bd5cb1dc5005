"""`python -m lazyrich.cli`, which is `python -m lazyrich`."""

from lazyrich.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
