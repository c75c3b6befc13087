"""Python's collector is put off while a stage works, and is as it was afterwards, however the stage ends."""

from __future__ import annotations

import gc

import pytest

from audit_lib.collector import seldom_collected


@pytest.fixture(params=[(700, 10, 10), (0, 10, 10), (5_000_000, 1, 1)])
def before(request):
    found = gc.get_threshold()
    gc.set_threshold(*request.param)
    yield request.param
    gc.set_threshold(*found)


def test_it_is_as_it_was_after_an_error(before):
    with pytest.raises(KeyError), seldom_collected():
        raise KeyError
    assert gc.get_threshold() == before


def test_it_is_never_made_to_run_more_often(before):
    with seldom_collected():
        during = gc.get_threshold()[0]
    assert during == 0 if before[0] == 0 else during >= before[0]
