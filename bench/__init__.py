"""Measures the gateway next to other proxies, on one machine, in one run."""
