"""Names, arguments, fields and members of the public core, as its source declares them, for the reference page."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import awareness_core
from tests.architecture.source_tree import parsed

_WIDTH = 96


def declarations(names: tuple[str, ...]) -> str:
    """Return a code block with the declarations of these public names of the core."""
    return "\n```py\n" + "\n\n".join(_declaration(name) for name in names) + "\n```\n\n"


def _declaration(name: str) -> str:
    node = _node(name)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _function(node)
        case ast.ClassDef():
            return "\n".join([_class_line(node), *(f"    {line}" for line in _members(node))])
        case _:
            return ast.unparse(node)


def _node(name: str) -> ast.stmt:
    """Return where a public name is declared, found by who imports it in `awareness_core/__init__.py`."""
    (module,) = (
        statement.module
        for statement in parsed(Path(str(awareness_core.__file__))).body
        if isinstance(statement, ast.ImportFrom) and name in {alias.name for alias in statement.names}
    )
    for node in parsed(Path(str(sys.modules[str(module)].__file__))).body:
        match node:
            case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) | ast.ClassDef(name=found):
                pass
            case ast.Assign(targets=[ast.Name(id=found)]) | ast.AnnAssign(target=ast.Name(id=found)):
                pass
            case _:
                continue
        if found == name:
            return node
    raise LookupError(name)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    prefix = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    arguments = _arguments(node.args)
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    line = f"{prefix} {node.name}({', '.join(arguments)}){returns}"
    if len(line) <= _WIDTH:
        return line
    listed = "".join(f"    {argument},\n" for argument in arguments)
    return f"{prefix} {node.name}(\n{listed}){returns}"


def _arguments(arguments: ast.arguments) -> list[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    first_default = len(plain) - len(arguments.defaults)
    spelt = [
        _argument(
            argument, arguments.defaults[position - first_default] if position >= first_default else None
        )
        for position, argument in enumerate(plain)
    ]
    if arguments.kwonlyargs:
        spelt.append("*")
    spelt += [
        _argument(argument, default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return spelt


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    annotation = "" if argument.annotation is None else f": {ast.unparse(argument.annotation)}"
    return f"{argument.arg}{annotation}" + ("" if default is None else f" = {ast.unparse(default)}")


def _class_line(node: ast.ClassDef) -> str:
    return f"class {node.name}" + (f"({', '.join(map(ast.unparse, node.bases))}):" if node.bases else ":")


def _members(node: ast.ClassDef) -> list[str]:
    lines: list[str] = []
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                default = _default(statement.value)
                lines.append(f"{name}: {ast.unparse(statement.annotation)}" + (default and f" = {default}"))
            case ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith("_"):
                lines.append(ast.unparse(statement))
            case ast.FunctionDef(name="__init__"):
                lines.append(f"def __init__({', '.join(_arguments(statement.args))})")
            case ast.FunctionDef(name=name) if not name.startswith("_"):
                lines += _method(statement)
            case _:
                continue
    return lines or ["..."]


def _method(node: ast.FunctionDef) -> list[str]:
    if any(ast.unparse(decorator) == "property" for decorator in node.decorator_list):
        return ["@property", _function(node)]
    return [_function(node)]


def _default(value: ast.expr | None) -> str:
    """Return the default of a field, which `attrs.field` may wrap."""
    match value:
        case None:
            return ""
        case ast.Call(func=ast.Attribute(value=ast.Name(id="attrs"), attr="field")):
            wrapped = {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords}
            return wrapped.get("default", "")
        case _:
            return ast.unparse(value)
