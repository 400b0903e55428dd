"""The words that HR systems write in their exports, in French and English, and the field that each one means.

The only module beside the HTTP wire that holds French field names: like the wire, it is where other people's words
become ours. Words compare folded, so that case, accents, blanks and punctuation never matter.
"""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType


class RosterField(enum.Enum):
    """What a column can mean. The values are the names that `--map COLUMN=field` takes."""

    EMAIL = "email"
    LAST_NAME = "last_name"
    FIRST_NAME = "first_name"
    EXTERNAL_ID = "external_id"
    JOB_TITLE = "job_title"
    PHONE = "phone"
    ADDRESS = "address"
    SECTOR = "sector"
    SECTOR_ID = "sector_id"
    ACTIVE = "active"


REQUIRED = (RosterField.EMAIL, RosterField.LAST_NAME, RosterField.FIRST_NAME)

HEADERS: Mapping[RosterField, tuple[str, ...]] = MappingProxyType(
    {
        RosterField.EMAIL: (
            *("E-mail", "Mail", "Courriel", "Adresse e-mail", "Adresse mail", "Adresse électronique"),
            *("E-mail professionnel", "Mail professionnel", "Courriel professionnel", "Mél", "Mail pro"),
            *("Email address", "Work email", "Business email", "Company email", "Primary email"),
        ),
        RosterField.LAST_NAME: (
            *("Nom", "Nom de famille", "Nom usuel", "Nom d'usage"),
            *("Last name", "Surname", "Family name"),
        ),
        RosterField.FIRST_NAME: ("Prénom", "Prénom usuel", "First name", "Given name", "Forename"),
        RosterField.EXTERNAL_ID: (
            *("Matricule", "N° matricule", "Numéro matricule", "Matricule salarié", "Matricule RH"),
            *("Identifiant", "Identifiant RH", "Identifiant salarié", "Numéro de salarié", "N° salarié"),
            *("Numéro d'employé", "N° employé", "ID employé", "ID salarié", "Identifiant externe"),
            *("External ID", "Employee ID", "Employee number", "Employee no", "Emp ID"),
            *("Personnel number", "Personnel ID", "Staff ID", "Staff number", "Worker ID", "Person number"),
        ),
        RosterField.JOB_TITLE: (
            *("Fonction", "Poste", "Intitulé de poste", "Intitulé du poste", "Libellé emploi", "Emploi"),
            *("Job title", "Position", "Job", "Role"),
        ),
        RosterField.PHONE: (
            *("Téléphone", "Tél", "Téléphone professionnel", "Téléphone fixe", "N° de téléphone"),
            *("Numéro de téléphone", "Phone", "Phone number", "Work phone", "Business phone", "Telephone"),
        ),
        RosterField.ADDRESS: ("Adresse", "Adresse postale", "Address", "Postal address", "Office address"),
        RosterField.SECTOR: (
            *("Secteur", "Service", "Département", "Direction", "Pôle", "Unité", "Équipe"),
            *("Sector", "Department", "Dept", "Division", "Business unit", "Org unit", "Team"),
        ),
        RosterField.SECTOR_ID: ("Secteur ID", "Sector ID"),
        RosterField.ACTIVE: ("Actif", "Active", "Est actif", "Is active", "Enabled", "Présent"),
    }
)
"""What could mean something else in the next export is left out, to be mapped: "Title" (of the job, or Mrs), "Status"
(of the contract, or of the person), "ID", and all that is private, such as a birth name.
"""

LEAVING_DATES = (
    "Date de sortie",
    "Date de départ",
    "Date de fin de contrat",
    "Sortie",
    "Termination date",
    "End date",
    "Leaving date",
)
"""Known and not read. Choice (decisions/018): such a date may lie ahead, may end a trial period only, and is written in
six ways; who has left is said by `Actif`, or by not being listed.
"""

ACTIVITY_WORDS = ("actif", "active", "inactif", "inactive")
PRESENT_WORDS = ("oui", "o", "vrai", "actif", "active", "yes", "y", "true", "1")
GONE_WORDS = ("non", "n", "faux", "inactif", "inactive", "no", "false", "0")


def fold(text: str) -> str:
    """What two spellings of one word share: its letters and digits, without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in decomposed if character.isalnum())


def field_of(header: str) -> RosterField | None:
    """The field that a column of this name means, or None. The names of `RosterField` are recognised too."""
    return _FIELD_OF.get(fold(header))


def is_leaving_date(header: str) -> bool:
    """Whether the column tells when people leave."""
    return fold(header) in _FOLDED_LEAVING_DATES


def is_activity_word(word: str) -> bool:
    """Whether the word can only speak of somebody being there or not, as "oui" cannot."""
    return fold(word) in ACTIVITY_WORDS


def presence_said(word: str) -> bool | None:
    """Whether a word says that somebody is there; None when it says neither."""
    return _PRESENCE_OF.get(fold(word))


_FIELD_OF = {fold(header): field for field, headers in HEADERS.items() for header in (field.value, *headers)}
_FOLDED_LEAVING_DATES = frozenset(fold(header) for header in LEAVING_DATES)
_PRESENCE_OF = {fold(word): True for word in PRESENT_WORDS} | {fold(word): False for word in GONE_WORDS}
