"""Small mistakes in the code of a module, one at a time, put into the functions that are already loaded."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One mistake: where, what stood there, and what stands there now."""

    line: int
    before: str
    after: str
    tree: ast.Module

    def __str__(self) -> str:
        return f"{self.line}: `{self.before}` → `{self.after}`"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    tree = ast.parse(path.read_text())
    for place, node in enumerate(ast.walk(tree)):
        for change in range(_changes(node)):
            mutated = copy.deepcopy(tree)
            target = next(one for at, one in enumerate(ast.walk(mutated)) if at == place)
            before = ast.unparse(target)
            _change(target, change)
            after = ast.unparse(target)
            if before != after:
                yield Mutant(target.lineno, _short(before), _short(after), ast.fix_missing_locations(mutated))


def _short(text: str) -> str:
    return " ".join(text.split())[:90]


def _changes(node: ast.AST) -> int:
    match node:
        case ast.Compare():
            return len(node.ops)
        case ast.BoolOp() | ast.IfExp() | ast.If():
            return 1
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return 1
        case ast.BinOp():
            return type(node.op) in CALCULATED
        case ast.Constant(value=bool() | int()):
            return 1
        case ast.Call(func=ast.Name(id=name)):
            return name in OPPOSITES
        case ast.Yield() | ast.YieldFrom() | ast.Continue():
            return not isinstance(node, ast.Continue)
    return 0


def _change(node: Any, change: int) -> None:
    match node:
        case ast.Compare():
            node.ops[change] = COMPARED[type(node.ops[change])]()
        case ast.BoolOp():
            node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        case ast.IfExp() | ast.If():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.UnaryOp():
            node.op = ast.UAdd() if isinstance(node.op, ast.USub) else node.op
            node.operand = ast.UnaryOp(ast.Not(), node.operand) if isinstance(node.op, ast.Not) else node.operand
        case ast.BinOp():
            node.op = CALCULATED[type(node.op)]()
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value += 1
        case ast.Call():
            node.func.id = OPPOSITES[node.func.id]
        case ast.Yield():
            node.value = ast.Constant(None)
        case ast.YieldFrom():
            node.value = ast.Tuple([], ast.Load())


def install(module: ModuleType, mutant: Mutant) -> bool:
    """Give the loaded functions of the module the mutant's code; False where it is in no function's code."""
    codes = dict(_codes(compile(mutant.tree, module.__file__ or "", "exec"), ""))
    changed = False
    for name, function in _functions(module):
        code = codes.get(name)
        if code is not None and code != function.__code__ and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code
            changed = True
    return changed


def _codes(code: CodeType, prefix: str) -> Iterator[tuple[str, CodeType]]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            name = f"{prefix}{one.co_name}"
            yield name, one
            yield from _codes(one, f"{name}.")


def _functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield name, value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for word, member in vars(value).items():
                inner = getattr(member, "fget", None) or getattr(member, "func", None) or member
                if isinstance(inner, FunctionType):
                    yield f"{name}.{word}", inner
