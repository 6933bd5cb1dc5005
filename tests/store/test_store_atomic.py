"""Writing whole files, and what is left when it fails."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import textwrap
import time

import pytest

from lazyrich.core import ArgumentError, StoreError
from lazyrich.store import _temporary, remove_leftovers, write_atomically
from lazyrich.store._temporary import temporary_file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def raising(error):
    def fail(*arguments, **keywords):
        raise error

    return fail


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "new" / "folder" / "file"
    for data in (b"first", b"", bytes(range(256)) * 1000):
        write_atomically(path, data)
        assert path.read_bytes() == data
        assert names(path.parent) == ["file"]


def test_accepts_text_as_path(tmp_path):
    write_atomically(str(tmp_path / "file"), b"data")
    assert (tmp_path / "file").read_bytes() == b"data"


def test_new_files_have_the_usual_permissions(tmp_path):
    write_atomically(tmp_path / "ours", b"")
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_writes_on_after_partial_writes(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    write_atomically(tmp_path / "file", bytes(range(100)))
    assert (tmp_path / "file").read_bytes() == bytes(range(100))


def test_forces_file_then_folder_to_disk(tmp_path, monkeypatch):
    calls, fsync, replace = [], os.fsync, os.replace

    def spy_fsync(descriptor):
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def spy_replace(source, target):
        calls.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "replace", spy_replace)
    write_atomically(tmp_path / "file", b"data")
    assert calls == ["file", "rename", "folder"]


@pytest.mark.parametrize("path", [None, 3, b"bytes", "null\0character", ["list"]])
def test_refuses_what_is_not_a_path(path):
    with pytest.raises(ArgumentError, match="`path` must be a path"):
        write_atomically(path, b"")


def test_refuses_what_is_not_bytes(tmp_path):
    with pytest.raises(ArgumentError, match=r"`data` must be bytes, got 'text'. Encode text"):
        write_atomically(tmp_path / "file", "text")  # type: ignore[arg-type]


@pytest.mark.parametrize("function", ["open", "write", "fsync", "replace"])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, "no space left on device. Free some space"),
        (errno.EDQUOT, "[dq].*quota.* exceeded. Free some space"),
        (errno.EACCES, "permission denied. Choose a folder you may write to"),
        (errno.EROFS, "read-only file system. Choose a folder you may write to"),
        (errno.EIO, "input/output error. Check the disk"),
    ],
)
def test_errors_are_named_and_leave_nothing(tmp_path, monkeypatch, function, code, message):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, function, raising(OSError(code, os.strerror(code))))
        with pytest.raises(StoreError, match=f"{path} cannot be written: {message}"):
            write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("function", ["write", "fsync", "replace"])
def test_an_interrupt_stays_one_and_leaves_nothing(tmp_path, monkeypatch, function):
    monkeypatch.setattr(os, function, raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", b"data")
    assert names(tmp_path) == []


def test_a_file_in_place_of_a_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file" / "result", tmp_path / "file" / "folder" / "result"):
        with pytest.raises(StoreError, match="Part of this path is a file; choose another folder"):
            write_atomically(path, b"data")
    assert names(tmp_path) == ["file"]


def test_a_folder_in_place_of_a_file(tmp_path):
    (tmp_path / "result").mkdir()
    with pytest.raises(StoreError, match=r"is a directory. A folder has this name"):
        write_atomically(tmp_path / "result", b"data")
    assert names(tmp_path) == ["result"]


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(StoreError, match=r"name too long. Choose a shorter name"):
        write_atomically(tmp_path / ("x" * 300), b"data")
    assert names(tmp_path) == []


def run_script(script: str, *prefix: str) -> str:
    command = [*prefix, sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


ATTEMPT = """
    import os, sys
    from lazyrich.store import write_atomically
    try:
        write_atomically({path!r}, bytes(1 << 20))
    except Exception as error:
        print(type(error).__name__, error, os.listdir({folder!r}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on file sizes")
def test_a_limit_on_file_sizes(tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    script = limit + textwrap.dedent(ATTEMPT).format(path=f"{tmp_path}/file", folder=str(tmp_path))
    output = run_script(script)
    assert output.startswith(f"StoreError {tmp_path}/file cannot be written: file too large. Raise")
    assert output.endswith("[]\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [("size=128k", "no space left on device. Free some"), ("ro", "read-only file system. Choose")],
)
def test_a_disk_that_is_really_full_or_read_only(tmp_path, options, message):
    mount = f'mount -t tmpfs -o {options} none "{tmp_path}" && exec "$0" "$@"'
    isolated = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]
    if not shutil.which("unshare") or subprocess.run([*isolated, "true"]).returncode:
        pytest.skip("this system lets tests mount nothing")
    output = run_script(ATTEMPT.format(path=f"{tmp_path}/file", folder=str(tmp_path)), *isolated)
    assert output.startswith(f"StoreError {tmp_path}/file cannot be written: {message}")
    assert output.endswith("[]\n")


def test_temporary_names(tmp_path):
    with temporary_file(tmp_path) as (one, _), temporary_file(tmp_path) as (two, _):
        assert one != two
        assert one.parent == tmp_path
        assert one.name.startswith(".")
        assert one.name.endswith(".tmp")


def test_leftovers_go_but_living_and_foreign_files_stay(tmp_path):
    leftover = tmp_path / ".lazyrich-0123456789abcdef.tmp"
    foreign = [".lazyrich-mine.tmp", ".vim.tmp", "notes.tmp", "result.lazyrich"]
    for path in (leftover, *(tmp_path / name for name in foreign)):
        path.write_bytes(b"data")
    with temporary_file(tmp_path) as (living, _):
        assert remove_leftovers(tmp_path) == [leftover]
        assert names(tmp_path) == sorted([living.name, *foreign])
    assert names(tmp_path) == sorted(foreign)


def test_leftovers_that_are_links_or_folders_stay(tmp_path):
    (tmp_path / ".lazyrich-0123456789abcdef.tmp").mkdir()
    (tmp_path / "target").write_bytes(b"")
    (tmp_path / ".lazyrich-0123456789abcdee.tmp").symlink_to(tmp_path / "target")
    assert remove_leftovers(tmp_path) == []
    assert len(names(tmp_path)) == 3


def test_leftovers_of_no_folder(tmp_path):
    assert remove_leftovers(tmp_path / "absent") == []
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match=r"not a directory. Give the folder"):
        remove_leftovers(tmp_path / "file")
    with pytest.raises(ArgumentError, match="`folder` must be a path"):
        remove_leftovers(None)  # type: ignore[arg-type]


def without_module(monkeypatch):
    monkeypatch.setattr(_temporary, "fcntl", None)


def without_support(monkeypatch):
    unsupported = raising(OSError(errno.ENOLCK, "No locks available"))
    monkeypatch.setattr(_temporary.fcntl, "flock", unsupported)


@pytest.mark.parametrize("remove_locks", [without_module, without_support])
def test_without_locks_age_decides(tmp_path, monkeypatch, remove_locks):
    remove_locks(monkeypatch)
    old, new = (tmp_path / f".lazyrich-{digit * 16}.tmp" for digit in "01")
    for path in (old, new):
        path.write_bytes(b"")
    os.utime(old, (time.time() - 3700, time.time() - 3700))
    write_atomically(tmp_path / "file", b"data")
    assert remove_leftovers(tmp_path) == [old]
    assert names(tmp_path) == [new.name, "file"]


def test_a_file_swept_before_it_is_locked_is_replaced(tmp_path, monkeypatch):
    lock, swept = _temporary._lock, []

    def slow_lock(descriptor):
        if len(swept) < 3:
            swept.extend(remove_leftovers(tmp_path))
        lock(descriptor)

    monkeypatch.setattr(_temporary, "_lock", slow_lock)
    write_atomically(tmp_path / "file", b"data")
    assert len(swept) == 3
    assert names(tmp_path) == ["file"]
