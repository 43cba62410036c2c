"""Drawings of a game. They know no environment."""
