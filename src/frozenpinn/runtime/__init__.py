"""What a solve may use and how it shows what it does: budget, threads, progress."""
