"""Hostile inputs in a short form; ``frozenpinn study fuzz`` tries hundreds of each kind."""

import time

import numpy as np
import pytest

from frozenpinn.errors import FrozenPinnError
from frozenpinn_lab.fuzzing import KINDS, Trial, outcome_of, trial
from frozenpinn_lab.fuzzing.trial import WrongValueError
from frozenpinn_lab.studies import fuzz

COUNTS = {"texts": 24, "calls": 160, "problem files": 90, "meshes": 90, "stored solutions": 90}
SEED = 5  #: other inputs than those of the study


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_inputs_are_refused_in_our_own_words_or_taken_rightly(kind):
    found = [outcome_of(one) for one in KINDS[kind](np.random.default_rng(SEED), COUNTS[kind])]
    assert not [f"{o.verdict}: {o.label[:300]}: {o.text}" for o in found if not o.good]
    verdicts = [o.verdict for o in found]
    assert {"refused", "accepted"} == set(verdicts), "neither everything nor nothing is refused"


def test_inputs_follow_from_the_seed():
    for generate in KINDS.values():
        first, again, other = ([t.label for t in generate(np.random.default_rng(s), 12)] for s in (1, 1, 2))
        assert first == again != other


def fails(error):
    def action():
        raise error

    return Trial("it", action)


def test_what_went_wrong_is_told_apart():
    assert outcome_of(fails(FrozenPinnError("no"))).verdict == "refused"
    assert outcome_of(Trial("it", lambda: 5)).verdict == "accepted"
    raw = outcome_of(fails(KeyError("k")))
    assert (raw.verdict, raw.good) == ("raw", False)
    assert raw.text.startswith("KeyError: 'k' (in action")
    assert outcome_of(fails(WrongValueError("2 instead of 1"))).text == "2 instead of 1"
    assert outcome_of(Trial("it", lambda: np.array(1.0) / 0.0)).verdict == "raw", "warnings of others are errors"


def test_limits_of_time_and_memory(monkeypatch):
    monkeypatch.setattr(trial, "PATIENCE", 0.2)

    def busy():
        end = time.process_time() + 5.0
        while time.process_time() < end:
            pass

    assert outcome_of(Trial("busy", busy)).verdict == "slow"
    assert outcome_of(Trial("large", lambda: np.ones(2**29))).verdict == "memory"


def test_study_counts(monkeypatch):
    monkeypatch.setattr(fuzz, "KINDS", {"some": lambda rng, n: [fails(KeyError("k")), Trial("good", lambda: 1)]})
    row = fuzz.rows(2, lambda text: None, 2)[0]
    assert (row["inputs"], row["raw"], row["accepted"], row["refused"]) == (4, 2, 2, 0)
    assert row["failures"][0].startswith("some, raw: it: KeyError: 'k'")
