import os

import pytest
from cli_lab import Finished, Lab, use_lab_registries

from lazyrich.cli import main


@pytest.fixture(scope="session")
def session_lab(tmp_path_factory):
    if not hasattr(os, "fork"):
        pytest.skip("needs fork and POSIX signals")
    lab = Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.close()


@pytest.fixture
def lab(session_lab):
    """Runs commands in processes of their own, on the experiments and checks of the lab."""
    yield session_lab
    session_lab.kill_all()


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def computed(tmp_path, monkeypatch):
    """A function that says what was computed since it was last asked."""
    place = tmp_path / "log"
    monkeypatch.setenv("LAB_LOG", str(place))

    def words():
        found = place.read_text().split() if place.exists() else []
        place.unlink(missing_ok=True)
        return found

    return words


@pytest.fixture
def real(capsys):
    """Runs commands in this process."""

    def run(*arguments):
        capsys.readouterr()
        code = main(list(map(str, arguments)))
        return Finished(code, *capsys.readouterr())

    return run


@pytest.fixture
def lazyrich(real, monkeypatch):
    """Runs commands in this process, on the experiments and checks of the lab."""
    use_lab_registries(monkeypatch.setattr)
    return real
