"""``python -m frozenpinn`` is the command ``frozenpinn``."""

from frozenpinn.cli import main

if __name__ == "__main__":
    main()
