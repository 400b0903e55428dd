"""From the bytes of a roster to text: which encoding it is in, and what is no text at all.

Encodings are decided by a fixed order rather than guessed from letter statistics, because a list of names is too short
and too odd a text for those. A byte order mark decides; else what is valid UTF-8 is UTF-8, as texts of another encoding
almost never are; else it is Windows-1252, which Excel and French HR systems write. Choice: decisions/018.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import attrs

from awareness_server.roster_table import RosterUnusable

MAX_BYTES = 512 * 1024 * 1024

# UTF-32's little-endian mark begins with UTF-16's, so it is asked first.
_MARKS: tuple[tuple[bytes, str, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)

_AS_CSV = "open it and save it as CSV UTF-8"
_FOREIGN: Mapping[bytes, str] = MappingProxyType(
    {
        b"PK\x03\x04": f"an Excel or OpenDocument workbook, or another zip archive; {_AS_CSV}",
        b"\xd0\xcf\x11\xe0": f"an old Excel workbook or another Office document; {_AS_CSV}",
        b"\x1f\x8b": "compressed with gzip; unpack it first",
        b"%PDF": "a PDF document; ask for the export as CSV",
        b"SQLite format 3\0": "a SQLite database; export the table as CSV",
        b"PAR1": "a Parquet file; export it as CSV",
    }
)

# In DOS code pages and Mac Roman, accented letters have the codes that Windows-1252 gives to these signs and capitals,
# none of which stands between two letters of a name, or after a small one. Dashes and apostrophes do, so they prove
# nothing. The last case is UTF-8 with a damaged place elsewhere.
_MISREAD_LETTER = re.compile(
    r"""[^\W\d_] [‚„…†‡ˆ‰‹›“”•˜™] [^\W\d_] | [a-zß-öø-ÿ] [ŠŽŸ] | Ã [^\w\s.,:;/|"'’-]""", re.VERBOSE
)
_END_OF_WORD = re.compile(r"[^\w‚„…†‡ˆ‰‹›“”•˜™©¨§´ª«»®¯±¼½¾¿]+")


@attrs.frozen(kw_only=True)
class RosterText:
    """The text of a file, and the name of the encoding it was read in."""

    text: str
    encoding: str


def read_roster_file(path: Path) -> bytes:
    """The bytes of the file. Raises `RosterUnusable` when there is no such file, or none that can be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise RosterUnusable("there is no such file") from error
    except IsADirectoryError as error:
        raise RosterUnusable("it is a folder; name the file in it") from error
    except OSError as error:
        raise RosterUnusable(f"it cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise RosterUnusable(f"it is larger than {MAX_BYTES // 1024**2} MiB; import it in parts")
    return data


def decode_roster(data: bytes, *, encoding: str | None = None) -> RosterText:
    """The text that `data` holds, in the named encoding or the one that is found.

    Raises `RosterUnusable` for an empty file, a file of another kind, an encoding that does not fit.
    """
    for magic, kind in _FOREIGN.items():
        if data.startswith(magic):
            raise RosterUnusable(f"it is no text but {kind}")
    read = _decode_as(data, encoding) if encoding is not None else _detect(data)
    if not read.text.strip():
        raise RosterUnusable("it is empty")
    if "\0" in read.text:
        line = read.text.count("\n", 0, read.text.index("\0")) + 1
        raise RosterUnusable(
            f"it holds a NUL character in line {line}, so it is no text, or damaged; "
            "if it is UTF-16 without a mark, name it: --encoding utf-16-le"
        )
    return read


def _decode_as(data: bytes, encoding: str) -> RosterText:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError) as error:
        raise RosterUnusable(
            f"the encoding '{encoding}' is not known; examples: utf-8, cp1252, utf-16, cp850, mac-roman"
        ) from error
    # A mark is no part of the text, whoever named the encoding.
    name = "utf-8-sig" if codec.name == "utf-8" else codec.name
    try:
        return RosterText(text=data.decode(name).removeprefix("\ufeff"), encoding=encoding)
    except UnicodeDecodeError as error:
        raise RosterUnusable(f"it is not in {encoding}: {_where(data, error)}") from error
    except LookupError as error:
        raise RosterUnusable(f"'{encoding}' is no encoding of text") from error


def _detect(data: bytes) -> RosterText:
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            try:
                return RosterText(text=data.decode(codec), encoding=name)
            except UnicodeDecodeError as error:
                raise RosterUnusable(
                    f"its first bytes say {name}, but it is not: {_where(data, error)}"
                ) from error
    try:
        return RosterText(text=data.decode("utf-8"), encoding="UTF-8")
    except UnicodeDecodeError as not_utf8:
        return _detect_windows_1252(data, not_utf8)


def _detect_windows_1252(data: bytes, not_utf8: UnicodeDecodeError) -> RosterText:
    advice = "name its encoding, for example --encoding cp850 (DOS) or --encoding mac-roman"
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise RosterUnusable(
            f"it is neither UTF-8 ({_where(data, not_utf8)}) nor Windows-1252 ({_where(data, error)}); {advice}"
        ) from error
    misread = _MISREAD_LETTER.search(text)
    if misread is not None and "\0" not in text:
        nearby = _END_OF_WORD.split(text[max(0, misread.start() - 20) : misread.end() + 20])
        sample = next((word for word in nearby if _MISREAD_LETTER.search(word)), misread.group())
        raise RosterUnusable(
            f"it is not UTF-8 ({_where(data, not_utf8)}), and as Windows-1252 it reads '{sample}', which no name does; "
            f"{advice}, or --encoding cp1252 if that is meant"
        )
    return RosterText(text=text, encoding="Windows-1252")


def _where(data: bytes, error: UnicodeDecodeError) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    return f"byte 0x{data[error.start]:02X} in line {line}"
