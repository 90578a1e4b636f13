"""Moral-reasoning evaluations for Inspect AI: MoReBench, MoReBench-Theory and CORDA.

The repository's root is this package: its rooms (`inspect_tasks`, `loaders`, `solvers`, `scorers`,
`providers`, `reports`) have the same import names in a checkout and in a wheel.
"""
