"""Numbers of BLAS threads."""

import time

import pytest

from frozenpinn.runtime import threads
from frozenpinn.runtime.deadline import OverrunError, deadline


def changed_and_slow(library):
    library.set_num_threads(library.num_threads + 1)
    for _ in range(500):
        time.sleep(0.01)


def test_threads_are_restored_if_a_block_is_broken_off_while_it_changes_them():
    library = threads._controller().lib_controllers[0]
    before = library.num_threads
    with pytest.raises(OverrunError), deadline(0.05):
        changed_and_slow(library)
    assert library.num_threads == before
