"""What a roster file says: encodings, delimiters, headers, broken lines. The reader alone, without a store."""

from __future__ import annotations

import codecs
import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.absent import ABSENT
from awareness_core.employees import EmployeeRecord, Presence
from awareness_core.records import InvalidRecord
from awareness_core.sectors import SectorReference
from awareness_server.roster import Roster, RosterFormat, read_roster
from awareness_server.roster_columns import NOTHING_SAID, ColumnMap, parse_column_map
from awareness_server.roster_csv import parse_delimiter
from awareness_server.roster_headers import HEADERS, RosterField, field_of, presence_said
from awareness_server.roster_table import RosterUnusable

HEADER = ("Nom", "Prénom", "E-mail")
PERSON = ("Lefèvre", "Zoé", "zoe.lefevre@example.com")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "roster"


def read(
    path: Path,
    content: str | bytes,
    *,
    said: ColumnMap = NOTHING_SAID,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Roster:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_roster(path, said=said, encoding=encoding, delimiter=delimiter)


def refusal(path: Path, content: str | bytes, **options: str) -> str:
    with pytest.raises(RosterUnusable) as refused:
        read(path, content, **options)  # type: ignore[arg-type] # only texts are given
    return "\n".join((refused.value.message, *refused.value.hints))


def people(roster: Roster) -> list[tuple[str, str, str]]:
    return [
        (entry.record.last_name, entry.record.first_name, entry.record.email.text)
        for entry in roster.entries
        if isinstance(entry.record, EmployeeRecord)
    ]


def faults(roster: Roster) -> list[tuple[int, str, str]]:
    return [
        (entry.line, fault.field, fault.code)
        for entry in roster.entries
        if isinstance(entry.record, InvalidRecord)
        for fault in entry.record.faults
    ]


def table(*rows: tuple[str, ...], delimiter: str = ";", end: str = "\r\n") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    return out.getvalue()


# Encodings


@pytest.mark.parametrize(
    ("mark", "codec", "name"),
    [
        (b"", "utf-8", "UTF-8"),
        (codecs.BOM_UTF8, "utf-8", "UTF-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
        (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
        (b"", "cp1252", "Windows-1252"),
    ],
)
def test_encoding_is_found_out(path: Path, mark: bytes, codec: str, name: str) -> None:
    roster = read(path, mark + table(HEADER, PERSON).encode(codec))

    assert name == roster.encoding
    assert [PERSON] == people(roster)


@pytest.mark.parametrize("codec", ["cp850", "mac-roman"])
def test_text_that_would_be_misread_is_refused_until_its_encoding_is_named(path: Path, codec: str) -> None:
    content = table(HEADER, ("Lefebvre", "Hélène", "h.lefebvre@example.com")).encode(codec)

    assert f"--encoding {codec}" in refusal(path, content)
    assert [("Lefebvre", "Hélène", "h.lefebvre@example.com")] == people(read(path, content, encoding=codec))


def test_damaged_utf8_is_not_taken_for_windows_1252(path: Path) -> None:
    content = table(HEADER, PERSON).encode() + b"\xe9t\xe9;x;y@example.com\r\n"

    assert "byte 0xE9 in line 3" in refusal(path, content)


def test_encoding_that_does_not_fit_says_where(path: Path) -> None:
    content = table(HEADER, PERSON).encode("cp1252")

    assert "it is not in utf-8: byte 0xE9 in line 1" in refusal(path, content, encoding="utf-8")
    assert "'klingon' is not known" in refusal(path, content, encoding="klingon")
    assert "'base64' is no encoding of text" in refusal(path, content, encoding="base64")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b" \r\n\r\n", "it is empty"),
        (b"\xef\xbb\xbf", "it is empty"),
        (b"PK\x03\x04rest", "save it as CSV"),
        (b"\xd0\xcf\x11\xe0rest", "save it as CSV"),
        (b"\x1f\x8brest", "unpack it first"),
        (b"%PDF-1.7", "a PDF document"),
        (b"Nom;Pr\0nom", "NUL character in line 1"),
        ("Nom;Prénom;E-mail".encode("utf-16-le"), "--encoding utf-16-le"),
        (b"Nom;Pr\xc3\xa9nom;E-mail\r\n", "a header and nobody in it"),
        (b"[]", "nobody is in it"),
        (b'{"people": 1,\n"x": []}', "no array of people"),
        (b"[" * 100_000, "nested too deep"),
        (b'[{"nom": "A",}]', "not valid JSON"),
        (b'Nom;Pr\xc3\xa9nom;E-mail\n"A;B;a@example.com\nC;D;c@example.com\n', "line 2 is never closed"),
        (b'"Nom;Pr\xc3\xa9nom;E-mail\nA;B;C\n', "line 1 is never closed"),
    ],
)
def test_what_is_no_roster_is_refused_with_what_would_help(path: Path, content: bytes, said: str) -> None:
    assert said in refusal(path, content)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    for place, said in ((tmp_path / "none.csv", "there is no such file"), (tmp_path, "it is a folder")):
        with pytest.raises(RosterUnusable, match=said):
            read_roster(place)


# Delimiters and records


@given(
    cells=st.lists(
        st.tuples(*[st.text(alphabet=st.sampled_from("aé;,|\"' .@"), max_size=12)] * 2),
        min_size=1,
        max_size=5,
    ),
    delimiter=st.sampled_from(";,\t|"),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@example(cells=[('a;b;c;d,e,f,g|h|i"', "x")], delimiter=",", codec="utf-8")
def test_cells_are_read_as_any_writer_quotes_them(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]], delimiter: str, codec: str
) -> None:
    rows = [(f"N{last}", f"P{first}", "a@example.com") for last, first in cells]
    path = tmp_path_factory.mktemp("roster") / "roster"

    roster = read(path, table(HEADER, *rows, delimiter=delimiter).encode(codec))

    assert [tuple(cell.strip() for cell in row) for row in rows] == people(roster)


def test_the_header_decides_the_delimiter_not_the_commas_in_addresses(path: Path) -> None:
    content = "Nom;Prénom;E-mail;Adresse\nA;B;a@example.com;1, rue X, 75001, Paris, France\n"

    assert [("A", "B", "a@example.com")] == people(read(path, content))


def test_the_header_decides_by_names_that_mean_something_not_by_their_number(path: Path) -> None:
    content = "Nom;Prénom;E-mail;Badge (bleu, vert, rouge, jaune, noir)\nA;B;a@example.com;vert\n"

    assert [("A", "B", "a@example.com")] == people(read(path, content))


def test_sep_line_of_excel_names_the_delimiter(path: Path) -> None:
    roster = read(path, "sep=^\r\nNom^Prénom^E-mail\r\nA^B^a@example.com\r\n")

    assert [3] == [entry.line for entry in roster.entries]


def test_delimiter_can_be_said(path: Path) -> None:
    roster = read(path, "Nom/Prénom/E-mail\nA/B/a@example.com\n", delimiter=parse_delimiter("/"))

    assert [("A", "B", "a@example.com")] == people(roster)
    assert "\t" == parse_delimiter("tab")
    with pytest.raises(RosterUnusable, match="not one character"):
        parse_delimiter("::")


def test_one_broken_line_never_spoils_the_others(path: Path) -> None:
    roster = read(
        path,
        "Nom;Prénom;E-mail;Actif\n"  # 1
        "A;A;a@example.com;oui\n"  # 2
        "B;B\n"
        'C;"C"C;c@example.com;oui\n'
        "\n"
        ";;;\n"
        'D;D;d@example.com;"oui"\n'  # 7
        "E;E;e@example.com;oui;and more\n"
        "F;F;f@example.com;oui;\n"  # 9, a blank cell more than the others have
        f"{'G' * 200_000};G;g@example.com;oui\n"
        "H;;h example.com;perhaps\n"
        "I;I;i@example.com;non\n",
    )

    assert ["a", "d", "i"] == [email[0] for _, _, email in people(roster)]
    assert [
        (3, "", "unreadable"),
        (4, "", "unreadable"),
        (8, "", "unreadable"),
        (9, "", "unreadable"),
        (10, "", "unreadable"),
        (11, "Actif", "invalid_boolean"),
        (11, "E-mail", "invalid_email"),
        (11, "Prénom", "too_short"),
    ] == faults(roster)


@pytest.mark.parametrize("header_end", ["", ";"])
def test_separator_at_the_end_of_every_line_is_no_cell(path: Path, header_end: str) -> None:
    roster = read(path, f"Nom;Prénom;E-mail{header_end}\nA;A;a@example.com;\nB;B;b@example.com;\n")

    assert 2 == len(people(roster))


def test_record_of_several_lines_is_known_by_its_first(path: Path) -> None:
    roster = read(path, 'Nom,Prénom,E-mail,Adresse\nA,B,a@example.com,"1 rue X\n75001 Paris"\nC,D,bad,\n')

    assert [(4, "E-mail", "invalid_email")] == faults(roster)
    assert "1 rue X 75001 Paris" == _only_record(roster).address


def test_excel_text_formula_keeps_its_leading_zeros(path: Path) -> None:
    roster = read(path, 'Nom;Prénom;E-mail;Matricule\nA;B;a@example.com;="00042"\n')

    assert "00042" == _only_record(roster).external_id


# Headers


@pytest.mark.parametrize("spell", [str, str.upper, str.casefold, lambda text: f" {text.replace(' ', '_')}:"])
def test_known_headers_are_recognised_in_any_spelling(spell: type[str]) -> None:
    expected = {header: field for field, headers in HEADERS.items() for header in headers}

    assert expected == {header: field_of(spell(header)) for header in expected}


def test_no_header_word_means_two_fields() -> None:
    count = sum(len({header.casefold() for header in headers}) for headers in HEADERS.values())

    assert count == len({header.casefold() for headers in HEADERS.values() for header in headers})


def test_headers_without_accents_or_decomposed_are_recognised() -> None:
    assert [RosterField.FIRST_NAME] * 4 == [
        field_of(text) for text in ("Prenom", "Pre\u0301nom", "PRÉNOM", "first_name")
    ]


def test_missing_columns_are_all_told_with_the_names_that_are_recognised(path: Path) -> None:
    said = refusal(path, "Name;Given name;Office\nA;B;C\n")

    assert "no column is the e-mail; no column is the last name" in said
    assert "--map" in said
    assert "'Name', 'Given name', 'Office'" in said
    assert "'E-mail'" in said
    assert "'Nom de famille'" in said


def test_two_columns_for_one_field_are_settled_by_the_caller(path: Path) -> None:
    content = "Nom;Prénom;E-mail;Service;Département\nA;B;a@example.com;S;D\n"

    assert "'Service' and 'Département' could each be the sector" in refusal(path, content)
    roster = read(path, content, said=parse_column_map(["Département=sector"]))
    assert SectorReference(name="D") == _only_record(roster).sector
    assert ("Service",) == roster.unread


def test_map_takes_fields_by_any_name_and_leaves_columns_out(path: Path) -> None:
    said = parse_column_map(["Etat civil=nom", "prenom = First name", "a=b=Courriel", "Téléphone=ignore"])
    roster = read(path, "Etat civil;Prénom;a=b;Téléphone\nA;B;a@example.com;01\n", said=said)

    assert [("A", "B", "a@example.com")] == people(roster)
    assert ABSENT is _only_record(roster).phone
    assert ("Téléphone",) == roster.unread


@pytest.mark.parametrize("mapping", ["Bureau", "Bureau=", "=sector", "Bureau=colour"])
def test_map_that_says_nothing_is_refused_with_the_fields_there_are(mapping: str) -> None:
    with pytest.raises(RosterUnusable, match="email, last_name, first_name"):
        parse_column_map([mapping])


def test_map_of_a_column_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(RosterUnusable, match="'Bureau' that is not there"):
        read(path, table(HEADER, PERSON), said=parse_column_map(["Bureau=sector"]))


def test_title_above_the_header_is_pointed_out(path: Path) -> None:
    said = refusal(path, "Effectif au 01/03/2026\n\n" + table(HEADER, PERSON))

    assert "line 3 looks like its header" in said


def test_columns_that_are_not_read_are_named(path: Path) -> None:
    header = (*HEADER, "Né(e) le", "", "Date de sortie", "Statut")
    roster = read(path, table(header, (*PERSON, "01/01/1990", "", "31/03/2026", "Actif")))

    assert ("Né(e) le", "Date de sortie", "Statut") == roster.unread
    assert ["'Date de sortie' is not read", "'Statut' looks like who is active"] == [
        remark.partition(":")[0].partition("; to")[0] for remark in roster.remarks
    ]


# Values


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *((word, True) for word in ("oui", "OUI", "O", "vrai", "Actif", "active", "yes", "Y", "true", "1")),
        *((word, False) for word in ("non", "N", "faux", "INACTIF", "inactive", "no", "false", "0")),
        *((word, None) for word in ("peut-être", "2", "", "ouinon", "-")),
    ],
)
def test_truth_is_read_in_french_and_english(word: str, *, expected: bool | None) -> None:
    assert expected is presence_said(word)


def test_blank_cell_clears_and_missing_column_leaves_alone(path: Path) -> None:
    record = _only_record(read(path, "Nom;Prénom;E-mail;Fonction;Actif;Matricule\nA;B;a@example.com;;;\n"))

    assert (None, ABSENT, ABSENT) == (record.job_title, record.phone, record.sector)
    assert (None, Presence.UNSTATED) == (record.external_id, record.presence)


# JSON


@pytest.mark.parametrize(
    "content",
    [
        '[{"nom": "A", "prenom": "B", "email": "a@example.com"}]',
        '{"employees": [{"lastName": "A", "firstName": "B", "work_email": "a@example.com"}]}',
        '{\n  "generated": 1,\n  "employees": [{"nom": "A", "prenom": "B", "email": "a@example.com"}]\n}',
        '{"nom": "A", "prenom": "B", "email": "a@example.com"}',
        '{"nom": "A", "prenom": "B", "email": "a@example.com"}\r\n\r\n',
    ],
)
def test_json_is_read_in_each_of_its_shapes(path: Path, content: str) -> None:
    assert [("A", "B", "a@example.com")] == people(read(path, content))


def test_only_json_knows_indices(path: Path) -> None:
    person = {"nom": "A", "prenom": "B", "email": "a@example.com"}

    array = read(path, json.dumps([person, person]))
    lines = read(path, "\n".join([json.dumps(person), "", json.dumps(person)]))

    assert (RosterFormat.JSON, [0, 1]) == (array.format, [entry.line for entry in array.entries])
    assert (RosterFormat.NDJSON, [1, 3]) == (lines.format, [entry.line for entry in lines.entries])


@pytest.mark.parametrize(
    ("member", "field", "code"),
    [
        ('"active": "false"', "active", "invalid_boolean"),
        ('"active": 0', "active", "invalid_boolean"),
        ('"nom": "again"', "", "unreadable"),
        ('"matricule": NaN', "", "unreadable"),
        ('"matricule": -Infinity', "", "unreadable"),
        (f'"matricule": {"9" * 5000}', "", "unreadable"),
        ('"matricule": 1.5', "matricule", "wrong_type"),
        ('"matricule": true', "matricule", "wrong_type"),
        ('"telephone": 33612345678', "telephone", "wrong_type"),
        ('"service": {"id": 3}', "service", "wrong_type"),
        ('"service": ["a"]', "service", "wrong_type"),
        ('"fonction": "a\\u0000b"', "fonction", "control_character"),
        ('"fonction": "\\ud800"', "fonction", "control_character"),
    ],
)
@pytest.mark.parametrize("form", ["[{0},\n{1}]", "{0}\n{1}"])
def test_json_is_read_strictly_and_one_bad_person_does_not_spoil_the_next(
    path: Path, form: str, member: str, field: str, code: str
) -> None:
    bad = '{"nom": "A", "prenom": "B", "email": "a@example.com", ' + member + "}"
    good = '{"nom": "C", "prenom": "D", "email": "c@example.com", "active": false, "matricule": 7}'

    roster = read(path, form.format(bad, good))

    assert [(field, code)] == [found[1:] for found in faults(roster)]
    assert [("C", "D", "c@example.com")] == people(roster)


def test_ndjson_line_that_is_no_json_fails_alone(path: Path) -> None:
    good = '{"nom": "C", "prenom": "D", "email": "c@example.com"}'

    roster = read(path, f'{good}\n{{"nom": }}\n[1]\n{good[:-1]}\n')

    assert [(2, "", "unreadable"), (3, "", "unreadable"), (4, "", "unreadable")] == faults(roster)
    assert 1 == len(people(roster))


def test_lines_that_name_nobody_are_known(path: Path) -> None:
    roster = read(
        path,
        "Nom;Prénom;E-mail;Matricule\n"
        ";x;a@example.com;\n"  # an address
        "x;x;nonsense;7\n"  # an identifier
        "x;x;nonsense;\n"  # neither
        "x;x;b@example.com\n",  # broken: what looks like an address may be another's
    )

    assert [False, False, True, True] == [entry.names_nobody for entry in roster.entries]


def _only_record(roster: Roster) -> EmployeeRecord:
    (record,) = [entry.record for entry in roster.entries if isinstance(entry.record, EmployeeRecord)]
    return record
