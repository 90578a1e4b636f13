"""What all runs of whole tasks share."""

import pytest


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path, monkeypatch):
    """Logs go below the test's own folder."""
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
