"""What every hasher of chosen passwords does."""

from __future__ import annotations

import asyncio
import threading

import pytest

from awareness_core.chosen_passwords import MAX_LENGTH, normal_password
from awareness_core.early_guesses import is_guessed_early
from awareness_core.errors import HasherBusy
from awareness_core.portal_ports import PasswordHasher
from awareness_core.ports import inside_transaction
from awareness_memory import FewPasswords, ScryptHasher
from awareness_passwords import Argon2Hasher, ListedPasswords

pytestmark = pytest.mark.anyio

PASSWORDS = [
    "sept chevaux sous la pluie",
    "漢字とかな交じり文なのだ",
    "x" * MAX_LENGTH,
    " blanks count  ",
    "\x7f",
]


@pytest.fixture(params=["argon2", "scrypt"])
def hasher(request: pytest.FixtureRequest) -> PasswordHasher:
    return Argon2Hasher(memory_kib=8) if request.param == "argon2" else ScryptHasher(cost=2)


@pytest.mark.parametrize("password", PASSWORDS, ids=ascii)
async def test_a_hash_knows_its_password_and_no_other(hasher: PasswordHasher, password: str) -> None:
    kept = await hasher.hash(password)
    others = [password + " ", password[1:], password.swapcase() + "X", "", *PASSWORDS]

    assert await hasher.verify(password, kept)
    assert [] == [other for other in others if other != password and await hasher.verify(other, kept)]
    assert password not in kept


async def test_no_two_hashes_are_alike(hasher: PasswordHasher) -> None:
    assert 3 == len({await hasher.hash("the same") for _ in range(3)})


@pytest.mark.parametrize("password", ["", "nobody's password", *PASSWORDS], ids=ascii)
async def test_nobody_has_no_password(hasher: PasswordHasher, password: str) -> None:
    assert not await hasher.verify(password, None)


async def test_a_hash_of_other_parameters_is_outdated_and_still_known() -> None:
    for old, new in (
        (Argon2Hasher(memory_kib=8), Argon2Hasher(memory_kib=16)),
        (Argon2Hasher(memory_kib=8), Argon2Hasher(memory_kib=8, passes=2)),
        (ScryptHasher(cost=2), ScryptHasher(cost=4)),
    ):
        hasher: PasswordHasher = new
        kept = await old.hash("secret")

        assert [False, True] == [old.is_outdated(kept), hasher.is_outdated(kept)]
        assert await hasher.verify("secret", kept)


async def test_no_hash_is_made_while_a_transaction_is_open(hasher: PasswordHasher) -> None:
    with inside_transaction():
        for work in (hasher.hash("x"), hasher.verify("x", None)):
            with pytest.raises(RuntimeError, match="while a store transaction was open"):
                await work


async def test_hashing_leaves_the_event_loop_alone(
    hasher: PasswordHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[threading.Thread] = set()

    def note(*_: object, **__: object) -> bytes:
        threads.add(threading.current_thread())
        return bytes(32)

    for place in ("hashlib.scrypt", "awareness_passwords.hashing.Argon2Hasher._verify"):
        monkeypatch.setattr(place, note)
    await hasher.verify("x", None)

    assert 1 == len(threads)
    assert threading.main_thread() not in threads


async def test_more_people_at_once_than_there_is_room_for_are_told_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hasher = Argon2Hasher(memory_kib=8, at_once=1, waiting=2)
    gate = threading.Event()
    monkeypatch.setattr(Argon2Hasher, "_verify", lambda *_: gate.wait())

    async def one_too_many() -> None:
        with pytest.raises(HasherBusy, match="Try again"):
            await hasher.verify("x", None)
        gate.set()

    # They begin in this order, and the first three are at work or waiting when the last one comes.
    await asyncio.gather(*(hasher.verify("x", None) for _ in range(3)), one_too_many())

    assert await hasher.verify("x", None)


async def test_the_hash_is_argon2id_with_what_owasp_recommends() -> None:
    assert (await Argon2Hasher().hash("x")).startswith("$argon2id$v=19$m=47104,t=1,p=1$")


async def test_a_damaged_hash_opens_nothing() -> None:
    hasher = Argon2Hasher(memory_kib=8)

    assert [False] * 3 == [
        await hasher.verify("x", kept) for kept in ("", "rubbish", "$argon2id$v=19$m=8,t=1,p=1$x$y")
    ]


@pytest.mark.parametrize(
    "typed",
    [
        "Sécurité2026!",
        "Décembre2026!",
        "Étoile1234567",
        "P@ssw0rd!P@ssw0rd",
        "mot de passe…",
        "mot de passe 2026",
        "password password",
        "bonjour bonjour",
        "qwerty-azerty",
        "admin1234admin",
        "Paris2024!!!!",
        "Fevrier2026!!",
        "Motdepasse123!",
        "securite2026!",
    ],
)
def test_what_people_make_of_the_lists_is_guessed_early(typed: str) -> None:
    assert is_guessed_early(normal_password(typed), ListedPasswords().holds)


@pytest.mark.parametrize(
    "typed",
    [
        "cheval agrafe pile correcte",
        "correct horse battery staple",
        "sept chevaux sous la pluie",
        "dragon-monkey-sunshine-tiger",
        "le chat de la voisine dort",
        "Paris en avril sous la pluie",
        "tracteur.violet.en.decembre",
        "x9$Kq-z7!wVb2",
    ],
)
def test_a_phrase_of_several_words_is_not(typed: str) -> None:
    assert not is_guessed_early(normal_password(typed), ListedPasswords().holds)


def test_the_lists_hold_what_is_chosen_most_in_both_languages() -> None:
    listed, few = ListedPasswords(), FewPasswords()
    often = ("password", "qwerty", "azerty", "motdepasse", "letmein")

    assert [True] * 5 == [listed.holds(text) and few.holds(text) for text in often]
    assert [True] * 4 == [listed.holds(text) for text in ("123456789", "iloveyou", "doudou", "azertyuiopqs")]
    assert [False] * 3 == [listed.holds(text) for text in ("", "sept chevaux sous la pluie", "Password")]
