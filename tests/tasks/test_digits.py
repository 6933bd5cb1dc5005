"""Handwritten digits: idx files, whole and damaged; the packaged set; pairs of digits."""

import contextlib
import gzip
import hashlib
import os
import struct

import numpy as np
import pytest

from lazyrich import tasks
from lazyrich.core import ArgumentError, DataError


def idx(array, magic=None):
    """The bytes of an idx file, written from its definition."""
    array = np.asarray(array, np.uint8)
    magic = 0x800 + array.ndim if magic is None else magic
    return struct.pack(f">I{array.ndim}I", magic, *array.shape) + array.tobytes()


IMAGES = np.random.default_rng(0).integers(0, 256, (12, 3, 4), np.uint8)
LABELS = np.array([3, 5, 3, 5, 0, 1, 3, 9, 5, 5, 3, 0], np.uint8)


@pytest.fixture
def folder(tmp_path):
    """A folder with a training set under the standard names."""
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(IMAGES))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(LABELS))
    return tmp_path


# one file


@pytest.mark.parametrize("array", [IMAGES, LABELS], ids=["images", "labels"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("name", ["file", "file.gz"], ids=["plain name", "name of a gzip file"])
def test_reads_what_was_written(tmp_path, array, pack, name):
    (tmp_path / name).write_bytes(pack(idx(array)))
    for path in (tmp_path / name, str(tmp_path / name)):
        read = tasks.load_idx(path)
        assert read.dtype == np.uint8
        np.testing.assert_array_equal(read, array)
    with pytest.raises(ValueError, match="read-only"):
        read[0] = 1


WHOLE = idx(IMAGES)
PACKED = gzip.compress(WHOLE)
DAMAGE = {
    "empty": (b"", "the bytes of an empty file"),
    "short magic": (WHOLE[:3], "must start with the number 2049"),
    "text": (b"<html>404 Not Found</html>", "must start with the number 2049.*got the bytes 3c 68"),
    "floats": (idx(IMAGES, magic=0xD03), "must start with the number 2049"),
    "two dimensions": (idx(IMAGES[0]), "must start with the number 2049"),
    "little-endian": (struct.pack("<4I", 0x803, 12, 3, 4) + IMAGES.tobytes(), "must start with"),
    "short header": (WHOLE[:13], "must give 3 sizes in its header, got 9 bytes"),
    "no image": (idx(IMAGES[:0]), r"must hold between 1 byte and 2 GiB, got the sizes \(0, 3, 4\)"),
    "huge": (struct.pack(">4I", 0x803, 2**31, 2**31, 28), "must hold between 1 byte and 2 GiB"),
    "large": (struct.pack(">4I", 0x803, 2**20, 28, 28), "must hold 822083584 bytes.*got 0"),
    "truncated": (WHOLE[:-1], "must hold 144 bytes of images, as its header says, got 143"),
    "too long": (WHOLE + b"\0", "must hold 144 bytes of images, as its header says, got more"),
    "truncated gzip": (PACKED[:-9], "must be a whole gzip file"),
    "gzip without its end": (PACKED[:-4], "must be a whole gzip file"),
    "gzip with a wrong checksum": (PACKED[:-8] + b"\0" * 8, "must be a whole gzip file"),
    "garbage in gzip": (PACKED[:90] + b"garbage!" + PACKED[98:], "must be a whole gzip file"),
    "garbage after gzip": (PACKED + b"garbage!", "must be a whole gzip file"),
    "gzip header alone": (b"\x1f\x8b", "must be a whole gzip file"),
    "gzip of too much": (gzip.compress(WHOLE + bytes(10**6)), "must hold 144 bytes.*got more"),
    "gzip of text": (gzip.compress(b"hello"), "must start with the number 2049"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named(tmp_path, case):
    content, message = DAMAGE[case]
    file = tmp_path / "some-file"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message) as raised:
        tasks.load_idx(file)
    assert str(file) in str(raised.value)
    assert str(raised.value).endswith("Download the file again.")


def test_every_flipped_bit_of_a_gzip_file_is_noticed_or_harmless(tmp_path):
    file = tmp_path / "file.gz"
    for position in range(len(PACKED)):
        content = bytearray(PACKED)
        content[position] ^= 0x10
        file.write_bytes(content)
        with contextlib.suppress(DataError):  # harmless: the time in the header, for instance
            np.testing.assert_array_equal(tasks.load_idx(file), IMAGES)


def test_what_is_no_file(tmp_path):
    with pytest.raises(DataError, match=r"nothing` must exist, got no such file\. Download"):
        tasks.load_idx(tmp_path / "nothing")
    with pytest.raises(DataError, match="must be a file that can be read"):
        tasks.load_idx(tmp_path)
    with pytest.raises(DataError, match="must be a file that can be read"):
        tasks.load_idx("a\0b")
    with pytest.raises(ArgumentError, match="`path` must be the path of a file, got None"):
        tasks.load_idx(None)


# a folder


@pytest.mark.parametrize("subfolder", ["", "mnist"])
@pytest.mark.parametrize("ending", ["-ubyte", "-ubyte.gz", ".ubyte", ".ubyte.gz"])
def test_standard_names(tmp_path, subfolder, ending):
    home = tmp_path / subfolder
    home.mkdir(exist_ok=True)
    pack = gzip.compress if ending.endswith("gz") else bytes
    for prefix, part in (("train", slice(None)), ("t10k", slice(5))):
        (home / f"{prefix}-images-idx3{ending}").write_bytes(pack(idx(IMAGES[part])))
        (home / f"{prefix}-labels-idx1{ending}").write_bytes(pack(idx(LABELS[part])))
    train, test = (tasks.digit_images(tmp_path, part) for part in ("train", "test"))
    np.testing.assert_array_equal(train.images, IMAGES)
    np.testing.assert_array_equal(test.labels, LABELS[:5])
    assert train.name == test.name == "idx"  # not MNIST, whatever the file names say
    assert train.white == 255


def test_the_fingerprint_is_of_the_data(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(IMAGES)))
    (other / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(LABELS)))
    same = tasks.digit_images(other).fingerprint
    assert tasks.digit_images(folder).fingerprint == same
    (other / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(LABELS[::-1])))
    assert tasks.digit_images(other).fingerprint != same


def test_read_once_and_again_when_a_file_changes(folder):
    first = tasks.digit_images(folder)
    assert tasks.digit_images(str(folder)) is first
    file = folder / "train-labels-idx1-ubyte"
    file.write_bytes(idx(LABELS[::-1]))
    os.utime(file, ns=(1, 1))
    np.testing.assert_array_equal(tasks.digit_images(folder).labels, LABELS[::-1])


def test_where_it_looks(folder, monkeypatch):
    assert tasks.digit_images().name == "uci-digits"
    monkeypatch.setenv("LAZYRICH_DATA", str(folder))
    assert tasks.digit_images().name == "idx"
    assert tasks.digit_images("packaged").name == "uci-digits"
    assert tasks.DigitPair(3, 5) == tasks.DigitPair(3, 5, source=folder)
    assert tasks.DigitPair(3, 5) != tasks.DigitPair(3, 5, source="packaged")
    monkeypatch.chdir(folder.parent)
    assert tasks.DigitPair(3, 5, source=folder.name).source == str(folder)


def test_a_folder_without_the_files_is_not_replaced_in_silence(tmp_path, monkeypatch):
    message = (
        r"must hold train-images-idx3-ubyte\.gz.*got no such file\. Put the four files of MNIST"
    )
    for place in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(DataError, match=message) as raised:
            tasks.digit_images(place)
        assert str(place) in str(raised.value)
    monkeypatch.setenv("LAZYRICH_DATA", str(tmp_path))
    with pytest.raises(DataError, match=message):
        tasks.DigitPair(0, 1)


def test_files_that_do_not_fit_each_other(folder):
    labels = folder / "train-labels-idx1-ubyte"
    labels.write_bytes(idx(LABELS[:-1]))
    with pytest.raises(DataError, match="must hold a label for each of 12 images, got 11"):
        tasks.digit_images(folder)
    labels.write_bytes(idx(IMAGES))
    with pytest.raises(DataError, match="must hold labels, got images"):
        tasks.digit_images(folder)
    labels.write_bytes(idx(LABELS + 7))
    with pytest.raises(DataError, match="must hold digits 0 to 9, got 16"):
        tasks.digit_images(folder)
    (folder / "train-images-idx3-ubyte").write_bytes(idx(LABELS))
    with pytest.raises(DataError, match="must hold images, got labels"):
        tasks.digit_images(folder)


@pytest.mark.parametrize("part", ["", "valid", None, 1])
def test_bad_split(part):
    with pytest.raises(ArgumentError, match="`part` must be one of train, test, got"):
        tasks.digit_images("packaged", part)


@pytest.mark.parametrize("source", [1, 0.5, [], object()])
def test_bad_source(source):
    with pytest.raises(ArgumentError, match="`source` must be a folder, 'packaged' or None, got"):
        tasks.digit_images(source)


# the packaged set


def test_the_packaged_set_is_the_known_one():
    """Its shape, range and counts as its authors describe them; its digest so that it stays."""
    parts = [tasks.digit_images("packaged", part) for part in ("train", "test")]
    images, labels = (np.concatenate([getattr(p, n) for p in parts]) for n in ("images", "labels"))
    assert images.shape == (1797, 8, 8)
    assert (images.min(), images.max()) == (0, 16)
    # counts from the data set's own description of its test part
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert [p.white for p in parts] == [16, 16]
    digest = hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()
    assert digest == "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"
    with pytest.raises(ValueError, match="read-only"):
        parts[0].images[0] = 0


# pairs


@pytest.mark.parametrize("part", ["train", "test"])
def test_pair_of_the_packaged_set(part):
    task = tasks.DigitPair(8, 2, source="packaged", part=part)
    all_digits = tasks.digit_images("packaged", part)
    data = task.dataset()
    assert data.inputs.shape == (task.num_samples, task.input_dimension) == (len(data.targets), 64)
    assert data.weights.sum() == pytest.approx(1)
    rows = iter(range(task.num_samples))
    for image, label in zip(all_digits.images, all_digits.labels, strict=True):
        if label in (8, 2):
            row = next(rows)
            np.testing.assert_array_equal(data.inputs[row], image.ravel() / 16)
            assert data.targets[row].tolist() == [label == 8, label == 2]
    assert next(rows, None) is None


def test_moments_are_those_of_the_samples(folder):
    task = tasks.DigitPair(3, 5, source=folder)
    x, y, weights = task.dataset()
    correlation = sum(w * np.outer(b, a) for a, b, w in zip(x, y, weights, strict=True))
    covariance = sum(w * np.outer(a, a) for a, w in zip(x, weights, strict=True))
    np.testing.assert_allclose(task.correlation, correlation, rtol=1e-14)
    np.testing.assert_allclose(task.covariance, covariance, rtol=1e-14)
    assert task.output_power == 1
    with pytest.raises(ValueError, match="read-only"):
        task.covariance[0, 0] = 1


def test_moments_are_exact():
    """Fractions of whole numbers, the same in any order of summation."""
    task = tasks.DigitPair(0, 1, source="packaged")
    images, labels = task.digits.images, task.digits.labels
    pixels = images[np.isin(labels, (0, 1))].reshape(-1, 64).astype(int)
    np.testing.assert_array_equal(task.covariance, (pixels.T @ pixels) / (len(pixels) * 256))
    swapped = tasks.DigitPair(1, 0, source="packaged")
    np.testing.assert_array_equal(swapped.correlation, task.correlation[::-1])
    np.testing.assert_array_equal(swapped.covariance, task.covariance)


def test_equal_pairs_are_one():
    a, b = (tasks.DigitPair(0, 8, source="packaged") for _ in range(2))
    assert a == b
    assert hash(a) == hash(b)
    assert a.covariance is b.covariance
    assert a != tasks.DigitPair(8, 0, source="packaged")


@pytest.mark.parametrize("wrong", [-1, 10, 2.5, np.nan, "1", None, True, [1], 1e300])
@pytest.mark.parametrize("name", ["first", "second"])
def test_bad_digit(name, wrong):
    with pytest.raises(ArgumentError, match=f"`{name}` must be"):
        tasks.DigitPair(**{"first": 3, "second": 5, "source": "packaged", name: wrong})


def test_the_same_digit_twice():
    with pytest.raises(ArgumentError, match=r"`second` must differ from `first`, got 4\. Pass two"):
        tasks.DigitPair(4, 4)


def test_a_digit_that_is_not_there(folder):
    with pytest.raises(ArgumentError, match=r"`second` must be a digit that .* shows, got 7"):
        tasks.DigitPair(3, 7, source=folder)
