"""Problem × basis → discretisation."""
