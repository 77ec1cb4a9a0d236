"""Text ⇄ SymPy ⇄ compiled programs: lexer, parser, scope, hints, printer, jets."""
