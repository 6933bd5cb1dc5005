import pytest
from store_worker import Nursery


@pytest.fixture(scope="session")
def session_nursery():
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def nursery(session_nursery):
    yield session_nursery
    session_nursery.kill_all()
