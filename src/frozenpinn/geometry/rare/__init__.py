"""Shapes other than boxes and balls, and the rules of points in them: imported when they are first used."""
