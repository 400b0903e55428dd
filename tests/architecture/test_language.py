"""The code speaks English; the reference's French field names stand in one file, the wire.

A French field name elsewhere would mean that a second place translates, and two translations drift apart.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT, parsed, relative, source_files

WIRE = "src/adapters/awareness_http/wire.py"

FRENCH = re.compile(
    r"""
    nom | prenom | fonction | telephone | adresse | secteurs? | secteur_id
    | statut | statut_envoi | entreprise | entreprise_id | acces
    | destinataires? | evenements? | inscriptions? | formation_id | formation_external_id
    | difficulte | facile | moyenne | difficile
    | date_debut | date_fin | (?:derniere|premiere)_\w+ | interactions_machine
    | taux_\w+ | intervalle(?:_\w+)? | envoyes? | erreurs? | ouverts? | cliques? | soumis | signales?
    | envoye_at | ouvert_at | clique_at | soumis_at | signale_at | survenu_at | calcule_at | delai_\w+ | temps_passe_s
    | brouillon | planifiee | en_cours | en_pause | terminee | annulee | actif | archive_le | en_attente | connecte
    | nouveaux | nouvelles | deja_connus | mises_a_jour | inchangees | effaces
    """,
    re.VERBOSE,
)

ALLOWED = {
    WIRE: "the wire is where the French names are translated",
    "src/adapters/awareness_http/wire": "the same, as a package",
    "src/entrypoints/awareness_server/event_headers.py": "the columns that tools write above their events",
    "src/entrypoints/awareness_server/roster_headers.py": "the columns that French HR systems write in their exports",
}
"""Files that may name French fields, each with the reason."""


@pytest.mark.parametrize("path", source_files(), ids=relative)
def test_french_field_names_stand_in_the_wire_only(path: Path) -> None:
    if _is_allowed(relative(path)):
        found = []
    else:
        found = [f"{relative(path)}:{line} {word}" for line, word in _words(path) if FRENCH.fullmatch(word)]

    assert [] == found


def test_an_exception_that_is_not_needed_any_more_is_taken_back() -> None:
    wire_forms = {WIRE, WIRE.removesuffix(".py")}
    gone = [name for name in ALLOWED if name not in wire_forms and not (ROOT / name).exists()]

    assert [] == gone


def test_the_scan_sees_identifiers_attributes_arguments_and_strings(tmp_path: Path) -> None:
    file = tmp_path / "sample.py"
    file.write_text('def f(nom):\n    x.prenom = {"statut": "taux_clic"}\n    return g(secteur=1)\n')

    assert ["nom", "prenom", "secteur", "statut", "taux_clic"] == sorted(
        word for _, word in _words(file) if FRENCH.fullmatch(word)
    )


def _is_allowed(name: str) -> bool:
    return any(name == allowed or name.startswith(f"{allowed}/") for allowed in ALLOWED)


def _words(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each identifier and each whole string with its line. Docstrings are prose and do not count."""
    for node in ast.walk(parsed(path)):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word) | ast.alias(name=word):
                yield line, word
            case ast.keyword(arg=str(word)) | ast.Constant(value=str(word)):
                yield line, word
            case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word) | ast.ClassDef(name=word):
                yield line, word
            case _:
                pass
