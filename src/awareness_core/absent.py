"""The difference between "leave it as it is" and "clear it".

A caller that does not send a field means the former, one that sends it empty the latter, and None is taken.
"""

from __future__ import annotations

import enum
from typing import Final, Literal, TypeAlias


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> Literal[False]:
        return False


Absent: TypeAlias = Literal[_Absent.ABSENT]
ABSENT: Final = _Absent.ABSENT
"""The field was not sent: what is stored stays."""
