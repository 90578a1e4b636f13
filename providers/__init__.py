"""Inspect model providers that need no network, for demonstration and tests."""
