"""Runs racwire by its old name."""

from racwire import main as main
