"""What people look at: plots, pages, films, tables for other programs."""
