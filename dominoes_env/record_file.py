"""Files of records: any record of a JSON-lines file by its number, however large the file; one door for both forms."""

from __future__ import annotations

import operator
import os
import stat
import threading
import warnings
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, overload

import numpy as np

from dominoes_env.archive import (
    decoded,
    is_text_record,
    parse_record,
    read_records,
    record_from_json,
    recover_record,
)
from dominoes_env.records import Record

__all__ = ["RecordFile", "open_records"]

#: Bytes that are looked through at once for where lines begin.
_BLOCK = 1 << 20
#: A line that is not blank is longer; records have hundreds of bytes.
_SHORT = 80

Report = Callable[[str], object]


class RecordFile(Sequence[Record]):
    """The records of a JSON-lines file as a sequence: ``records[7]``, ``records[-1]``, ``records[10:20]``, ``len``.

    The file is read only as far as is asked for, and 8 bytes are kept for each record passed by: where it begins.
    ``len`` and negative numbers look through the whole file once. A record is read, and replayed, each time that it
    is asked for. Slices read as lazily. It can be pickled, and read by several threads.

    Args:
        path: the file.
        recover: leave out lines that are no sound record, which counts only the sound ones and reads every record on
            the way to the one that is asked for.
        report: with ``recover``, called with the file, the line and the reason for each line that is left out.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is no file on a disk (a pipe can be read once only); with the file, the line and the reason,
            for a line that is no sound record, when it is asked for; if the file has changed since it was opened.
    """

    def __init__(self, path: str | os.PathLike[str], *, recover: bool = False, report: Report = warnings.warn) -> None:
        self.path = os.fspath(path)
        self.recover = recover
        self.report = report
        with open(self.path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{self.path} is not allowed, it is a pipe or a device; allowed: a file on a disk")
            self._stamp = _stamp(file)
        self._told: set[str] = set()  # reports, each of which is made once
        self._starts = array("q")
        self._num_bytes = 0  # looked through so far, up to the start of a line
        self._num_lines = 0  # that begin in them
        self._lock = threading.Lock()

    def __len__(self) -> int:
        self._look_through(None)
        return len(self._starts)

    def __bool__(self) -> bool:
        self._look_through(1)
        return bool(self._starts)

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...

    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return _Part(self, range(len(self))[index])
        place = operator.index(index)
        if place < 0:
            place += len(self)
        self._look_through(place + 1)
        if not 0 <= place < len(self._starts):
            raise IndexError(f"{self.path}: record {index} is not there; it has {len(self._starts):,}")
        start = self._starts[place]
        with self._opened() as file:
            file.seek(start)
            line = file.readline()
        try:
            return record_from_json(decoded(line, is_first=start == 0))
        except ValueError as error:
            raise ValueError(f"{self.path}, line {self._line_number(start)}: {error}") from None

    def __iter__(self) -> Iterator[Record]:
        self._opened().close()
        return read_records(self.path, recover=self.recover, report=self._tell)

    def __repr__(self) -> str:
        return f"RecordFile({self.path!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def _opened(self) -> BinaryIO:
        file = open(self.path, "rb")  # noqa: SIM115 (for the caller; a handle of one's own is safe in any process)
        if _stamp(file) != self._stamp:
            file.close()
            raise ValueError(f"{self.path} has changed since it was opened; open it again")
        return file

    def _look_through(self, num_records: int | None) -> None:
        """Know where so many records begin, or all of them (None); fewer if the file has fewer."""
        size = self._stamp[0]
        if self._num_bytes >= size or (num_records is not None and len(self._starts) >= num_records):
            return
        with self._lock, self._opened() as file:
            file.seek(self._num_bytes)
            rest = b""
            while self._num_bytes < size and (num_records is None or len(self._starts) < num_records):
                block = file.read(_BLOCK)
                lines = rest + block
                whole = len(lines) if not block else lines.rfind(b"\n") + 1
                self._take_in(lines[:whole])
                rest = lines[whole:]

    def _take_in(self, lines: bytes) -> None:
        """Note where the records among some whole lines begin, which are the next of the file."""
        ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n")) + 1
        if lines and (not len(ends) or ends[-1] < len(lines)):
            ends = np.append(ends, len(lines))
        begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        is_record = np.ones(len(ends), np.bool_)
        for place in range(len(ends)) if self.recover else np.flatnonzero(ends - begins < _SHORT):
            line = lines[begins[place] : ends[place]]
            is_record[place] = bool(line.strip()) and (not self.recover or self._is_sound(line, int(place)))
        self._starts.extend((begins[is_record] + self._num_bytes).tolist())
        self._num_bytes += len(lines)
        self._num_lines += len(ends)

    def _is_sound(self, line: bytes, place: int) -> bool:
        number = self._num_lines + place + 1
        try:
            record_from_json(decoded(line, is_first=number == 1))
        except ValueError as error:
            self._tell(f"{self.path}, line {number}: {error}; this line is left out")
            return False
        return True

    def _tell(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            self.report(message)

    def _line_number(self, start: int) -> int:
        number = 1
        with self._opened() as file:
            while start > 0:
                block = file.read(min(start, _BLOCK))
                number += block.count(b"\n")
                start -= len(block)
        return number


class _Part(Sequence[Record]):
    """Some of the records of a file, read as they are asked for."""

    def __init__(self, records: RecordFile, places: range) -> None:
        self._records = records
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...

    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        if isinstance(index, slice):
            return _Part(self._records, self._places[index])
        return self._records[self._places[index]]

    def __repr__(self) -> str:
        return f"<{len(self)} records of {self._records.path}>"


def _stamp(file: BinaryIO) -> tuple[int, int, int]:
    """Size, time of the last change, and which file it is."""
    about = os.fstat(file.fileno())
    return about.st_size, about.st_mtime_ns, about.st_ino


def open_records(
    path: str | os.PathLike[str], *, recover: bool = False, report: Report = warnings.warn
) -> Sequence[Record]:
    """The records of a file, whichever form it has: one as text, or JSON lines.

    Args:
        path: the file.
        recover: of a damaged text the longest sound beginning, see :func:`dominoes_env.archive.recover_record`; of
            damaged JSON lines the sound ones, see :class:`RecordFile`.
        report: with ``recover``, called with what is lost.

    Raises:
        OSError: if it cannot be read.
        ValueError: with the file, the line and the reason, if there is no record in it, or at once for a text and
            when it is asked for for a line that is no sound record.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        head = file.read(_SHORT)
        text = head + file.read() if is_text_record(head) else b""
    if not text:
        records = RecordFile(path, recover=recover, report=report)
        if not head.strip() and not records:
            raise ValueError(f"{name}, line 1: no record; there is nothing in the file")
        return records
    try:
        record, lost = _read_text(text, recover)
    except ValueError as error:
        raise ValueError(f"{name}, {error}") from None
    if lost:
        report(f"{name}, {lost}")
    return (record,)


def _read_text(data: bytes, recover: bool) -> tuple[Record, str]:
    """The record in a text and, if it is damaged and to be recovered, what is lost."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not recover:
            number = data.count(b"\n", 0, error.start) + 1
            raise ValueError(f"line {number}: allowed: UTF-8 text, not other encodings ({error})") from None
        text = data.decode("utf-8", "surrogateescape")  # such signs are refused where they stand
    return recover_record(text) if recover else (parse_record(text), "")
