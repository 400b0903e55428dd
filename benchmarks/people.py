"""A directory as an HR system sends it: as many people as asked for, about 260 bytes of JSON each, always the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypedDict

import msgspec

_FIRST = ("Camille", "Éloïse", "Jean-Baptiste", "Inès", "Théo", "Zoé", "Mohamed", "Anne", "Luc", "Chloé")
_LAST = ("Durand", "Lefèvre", "Martin", "N'Guyen", "Bernard", "Müller", "García", "Petit", "Moreau", "Roux")
_TITLES = ("Comptable", "Ingénieure d'études", "Technicien", "Responsable des achats", "Assistante")
_STREETS = ("rue de la Paix", "avenue Jean Jaurès", "boulevard Voltaire", "place du Marché")
_SECTORS = tuple(f"Direction régionale {number}" for number in range(1, 41))


class Person(TypedDict):
    """One record, under the names that the API reads."""

    external_id: str
    email: str
    nom: str
    prenom: str
    fonction: str
    telephone: str
    adresse: str
    secteur: str
    active: bool


def directory(count: int, *, domain: str = "example.com") -> list[Person]:
    """So many people, in the order of their numbers; addresses are in no order, as names are not."""
    return list(_people(count, domain))


def with_changes(people: Sequence[Person], *, one_in: int) -> list[Person]:
    """The same people, of whom one in so many has moved to another job."""
    return [
        person if position % one_in else {**person, "fonction": "Directrice adjointe"}
        for position, person in enumerate(people)
    ]


def as_json(people: Sequence[Person]) -> bytes:
    """The body of a sync as JSON."""
    return msgspec.json.encode({"employees": people})


def as_lines(people: Sequence[Person]) -> Iterator[bytes]:
    """The body of a sync as lines, the closing one included."""
    encode = msgspec.json.Encoder().encode
    for person in people:
        yield encode(person) + b"\n"
    yield encode({"end": {"count": len(people)}}) + b"\n"


def _people(count: int, domain: str) -> Iterator[Person]:
    chance = Random(260)
    for number in range(count):
        first, last = chance.choice(_FIRST), chance.choice(_LAST)
        yield {
            "external_id": f"RH-{number:07}",
            "email": f"{_plain(first)}.{_plain(last)}.{number}@{domain}",
            "nom": last,
            "prenom": first,
            "fonction": chance.choice(_TITLES),
            "telephone": f"+33 1 {chance.randrange(10**8):08}",
            "adresse": f"{chance.randrange(1, 300)} {chance.choice(_STREETS)}, 750{chance.randrange(1, 21):02} Paris",
            "secteur": chance.choice(_SECTORS),
            "active": True,
        }


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFD", name.lower())
    return "".join(letter for letter in letters if "a" <= letter <= "z" or letter == "-")
