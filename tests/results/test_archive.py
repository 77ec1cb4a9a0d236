"""Files that are no stored solutions, or damaged ones: refused with the place, whatever is wrong with them."""

import json
import zipfile

import numpy as np
import pytest

import frozenpinn as fp
import zoo
from frozenpinn import FrozenPinnError
from frozenpinn.results.archive import FORMAT, Reader, write_archive


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    file = tmp_path_factory.mktemp("damaged") / "heat.fpinn"
    zoo.solved("heat").save(file)
    return file


def rewritten(stored, target, change=lambda meta: meta, drop=(), arrays=lambda name, array: array):
    """Write a copy of a stored solution with other metadata or arrays, and with checksums that fit them."""
    meta, kept = Reader(stored, FORMAT).read()
    write_archive(target, change(meta), {n: arrays(n, a) for n, a in kept.items() if n not in drop})
    return target


def test_missing_file(tmp_path):
    with pytest.raises(fp.StorageError, match=r"there is no file '.*nowhere\.fpinn'"):
        fp.load(str(tmp_path / "nowhere.fpinn"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: b"hello, this is a text\n",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw[:2000] + bytes(300) + raw[2300:],
    ],
    ids=["empty", "text", "cut off", "overwritten"],
)
def test_corrupt_file(stored, tmp_path, damage):
    file = tmp_path / "broken.fpinn"
    file.write_bytes(damage(stored.read_bytes()))
    with pytest.raises(FrozenPinnError, match=r"broken\.fpinn' is not a stored frozenpinn solution") as caught:
        fp.load(file)
    assert "pickle" not in str(caught.value), "no advice to load something unsafely"


def test_other_files_of_numpy(tmp_path):
    np.save(tmp_path / "one.npy", np.zeros(3))
    np.savez(tmp_path / "several.npz", a=np.zeros(3))
    for name in ("one.npy", "several.npz"):
        with pytest.raises(FrozenPinnError, match="is not a stored frozenpinn solution"):
            fp.load(tmp_path / name)


def test_pickles_are_refused(tmp_path):
    class Trap:
        def __reduce__(self):
            return (print, ("executed",))

    np.savez(tmp_path / "trap.fpinn", meta=np.array([Trap()], dtype=object))
    (tmp_path / "trap.fpinn.npz").rename(tmp_path / "trap.fpinn")
    with pytest.raises(FrozenPinnError, match="is not a stored frozenpinn solution"):
        fp.load(tmp_path / "trap.fpinn")


def test_format_of_another_version(stored, tmp_path):
    file = rewritten(stored, tmp_path / "new.fpinn", lambda meta: {**meta, "format": 99})
    with pytest.raises(FrozenPinnError, match=rf"new\.fpinn' has format 99; this version reads format {FORMAT}\."):
        fp.load(file)


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize(
    ("change", "drop", "place"),
    [
        (lambda meta: {k: v for k, v in meta.items() if k != "pieces"}, (), "KeyError: 'pieces'"),
        (lambda meta: {}, (), "'meta' tells no format"),
        (lambda meta: meta, ("0/basis/0/0/weights",), "KeyError: 'weights'"),
        (lambda meta: {**meta, "pieces": [{**meta["pieces"][0], "trajectory": "sundial"}]}, (), "trajectory 'sundial'"),
        (lambda meta: {**meta, "notes": nested(150)}, (), "'meta' is nested deeper than 100 levels"),
        (lambda meta: {**meta, "problem": {**meta["problem"], "equation": "u_t = "}}, (), "can't be put together"),
    ],
)
def test_incomplete_file(stored, tmp_path, change, drop, place):
    file = rewritten(stored, tmp_path / "part.fpinn", change, drop)
    with pytest.raises(fp.StorageError, match=r"part\.fpinn' is not a stored frozenpinn solution.*" + place):
        fp.load(file)


def test_arrays_that_do_not_fit_each_other(stored, tmp_path):
    file = rewritten(stored, tmp_path / "part.fpinn", arrays=lambda n, a: a[:-1] if n.endswith("mixing") else a)
    with pytest.raises(fp.StorageError, match="can't be put together"):
        fp.load(file)


def test_any_flipped_bit_is_found_or_does_not_matter(stored, tmp_path):
    raw, rng, found = stored.read_bytes(), np.random.default_rng(0), 0
    value, file = float(fp.load(stored)(0.5, 0.1)), tmp_path / "flipped.fpinn"
    for place in rng.integers(0, len(raw), 150):
        changed = bytearray(raw)
        changed[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(changed)
        try:
            assert float(fp.load(file)(0.5, 0.1)) == value
        except fp.StorageError as error:
            found += "flipped.fpinn" in str(error)
    assert found > 140


def test_message_names_the_array(stored, tmp_path):
    raw = bytearray(stored.read_bytes())
    place = raw.index(b"0/basis/0/0/weights.npy") + 200
    raw[place] ^= 1
    (tmp_path / "w.fpinn").write_bytes(raw)
    with pytest.raises(fp.StorageError, match=r"w\.fpinn' .* the entry '0/basis/0/0/weights' can't be read"):
        fp.load(tmp_path / "w.fpinn")


def test_changed_arrays_are_found_though_the_archive_is_in_order(stored, tmp_path):
    with zipfile.ZipFile(stored) as old, zipfile.ZipFile(tmp_path / "w.fpinn", "w") as new:
        for name in old.namelist():
            raw = bytearray(old.read(name))
            if name == "0/basis/0/0/weights.npy":
                raw[-1] ^= 1
            new.writestr(name, bytes(raw))
    with pytest.raises(fp.StorageError, match="the array '0/basis/0/0/weights' has been changed"):
        fp.load(tmp_path / "w.fpinn")


def test_bombs_are_refused_before_they_are_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.fpinn", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.npy", bytes(10_000_000))
    with pytest.raises(fp.StorageError, match=r"'meta\.npy' is compressed, as in files of format 6 and before"):
        fp.load(tmp_path / "bomb.fpinn")


def test_headers_that_promise_terabytes(tmp_path):
    header = np.lib.format.magic(1, 0) + (118).to_bytes(2, "little")
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    with zipfile.ZipFile(tmp_path / "vast.fpinn", "w") as archive:
        archive.writestr("meta.npy", header + text.ljust(117) + b"\n" + bytes(8))
    with pytest.raises(fp.StorageError, match="the header of 'meta' does not fit its 8 bytes"):
        fp.load(tmp_path / "vast.fpinn")


def test_a_file_is_written_as_a_whole_or_not_at_all(stored, tmp_path, monkeypatch):
    target = tmp_path / "s.fpinn"
    target.write_bytes(b"before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(fp.StorageError, match=r"can't write '.*s\.fpinn': No space left on device\."):
        fp.load(stored).save(target, overwrite=True)
    assert target.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["s.fpinn"]


def test_the_same_solution_gives_the_same_bytes(stored, tmp_path):
    for name in ("a", "b"):
        fp.load(stored).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (5, "a file is given by its path, such as 'solution.fpinn'; got 5"),
        (None, "a file is given by its path"),
        ("", "a file is given by its path"),
        ("a\0b", "a file is given by its path"),
        ("nowhere/s.fpinn", "can't write 'nowhere/s.fpinn': there is no folder 'nowhere'"),
        (".", "can't write '.': it is a folder; add the name of a file"),
    ],
)
def test_targets_that_are_no_files(stored, file, text):
    with pytest.raises(fp.StorageError, match=text):
        fp.load(stored).save(file)
