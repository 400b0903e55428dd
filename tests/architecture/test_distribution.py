"""What a program that installs the project gets: package names, data files, and a core that stands alone."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.architecture.source_tree import CORE, ROOT, package_folders

BASE_DEPENDENCIES = {"attr", "attrs", "dns", "email_validator", "idna"}
"""attrs and email-validator, and the two distributions that the latter needs, by import name."""

SERVER_DEPENDENCIES = {
    "aiosmtplib",
    "alembic",
    "cattrs",
    "granian",
    "limits",
    "litestar",
    "msgspec",
    "sqlalchemy",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel without a network from a copy, so that nothing an earlier build left behind gets in."""
    copy = tmp_path_factory.mktemp("wheel") / "checkout"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))

    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", copy],
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode == 0, built.stderr + built.stdout
    (path,) = (copy / "dist").glob("*.whl")
    return zipfile.ZipFile(path)


def test_wheel_holds_the_prefixed_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    top_level = {name.split("/")[0] for name in wheel.namelist()}
    packages = {name for name in top_level if not name.endswith(".dist-info")}

    assert {folder.name for folder in package_folders()} == packages
    assert all(name.startswith("awareness_") for name in packages)


def test_wheel_holds_every_file_of_every_package(wheel: zipfile.ZipFile) -> None:
    expected = {
        path.relative_to(folder.parent).as_posix()
        for folder in package_folders()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert expected == {name for name in wheel.namelist() if ".dist-info/" not in name}


def test_every_package_says_that_it_is_typed() -> None:
    assert [] == [folder.name for folder in package_folders() if not (folder / "py.typed").is_file()]


def test_core_runs_on_its_two_dependencies_alone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    site = tmp_path / "site"
    wheel.extractall(site)
    installed = Path(sysconfig.get_paths()["purelib"])
    for name in BASE_DEPENDENCIES:
        (site / name).symlink_to(installed / name)

    loaded = _loaded_by(_every_core_module(), "-S", "-I", "-c", f"import sys; sys.path.append({str(site)!r})")
    strangers = loaded - BASE_DEPENDENCIES - {"awareness_core"} - sys.stdlib_module_names

    assert set() == strangers


def test_importing_the_core_loads_nothing_of_the_server() -> None:
    loaded = _loaded_by(["awareness_core"], "-c", "")

    assert "awareness_core" in loaded
    assert set() == loaded & SERVER_DEPENDENCIES


def test_everything_that_the_core_offers_is_there_to_import() -> None:
    init = ast.parse((CORE / "__init__.py").read_text(encoding="utf-8"))
    offered = [
        ast.literal_eval(node.value)
        for node in init.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]

    assert 1 == len(offered), "awareness_core/__init__.py has one literal __all__"
    assert sorted(set(offered[0])) == sorted(offered[0])
    missing = _run(
        "-c", f"import awareness_core as c; print([n for n in {offered[0]!r} if not hasattr(c, n)])"
    )
    assert "[]" == missing.strip()


def _every_core_module() -> list[str]:
    files = (path.relative_to(CORE.parent).with_suffix("") for path in sorted(CORE.rglob("*.py")))
    return [".".join(file.parts).removesuffix(".__init__") for file in files]


def _loaded_by(modules: list[str], *interpreter: str) -> set[str]:
    """Return the top-level names that a fresh interpreter has loaded after importing these modules, and not before."""
    *options, code = interpreter
    script = (
        f"{code}\n"
        "import importlib, json, sys\n"
        "before = set(sys.modules)\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in set(sys.modules) - before})))\n"
    )
    return set(json.loads(_run(*options, script)))


def _run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
