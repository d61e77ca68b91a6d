"""Concepts of one vocabulary matched with those of another."""
