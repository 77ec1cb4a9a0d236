"""What a solve may use and how it tells what it does: budget, threads, progress."""
