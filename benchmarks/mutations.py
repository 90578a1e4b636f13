"""The small faults that `mutants.py` puts into a source file, one at a time.

Docstrings, annotations, decorators, error messages and other texts are left alone: no figure
depends on them. Swaps that can only raise a TypeError (`|` of two dicts) are left out too, since
killing those is no merit.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {
    "min": "max",
    "minimum": "maximum",
    "any": "all",
    "argmin": "argmax",
    "best": "worst",
    "isfinite": "isnan",
}
_NAMES |= {new: old for old, new in _NAMES.items()}

_CONDITION = (ast.Compare, ast.BoolOp)


@dataclass(frozen=True)
class Mutation:
    """One changed place.

    Attributes:
        line: Line of the place.
        was: Source before.
        now: Source after.
        function: First and last line of the function around it; None at the level of the module.
        cached: Whether that function keeps its results from call to call.
    """

    line: int
    was: str
    now: str
    function: tuple[int, int] | None
    cached: bool
    _owner: ast.AST
    _field: str
    _place: int | None
    _new: ast.AST

    def apply(self) -> None:
        """Change the tree that the mutation was found in; for good."""
        new = ast.fix_missing_locations(self._new)
        if self._place is None:
            setattr(self._owner, self._field, new)
        else:
            getattr(self._owner, self._field)[self._place] = new


def mutations(tree: ast.Module) -> list[Mutation]:
    """All single faults of a module, in the order of the source."""
    return list(_Walk().children(tree))


class _Walk:
    """Goes through a tree and remembers which function it is in."""

    def __init__(self) -> None:
        self.function: ast.FunctionDef | ast.AsyncFunctionDef | None = None

    def children(self, owner: ast.AST) -> Iterator[Mutation]:
        outer = self.function
        if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef) and outer is None:
            self.function = owner
        for field, value in ast.iter_fields(owner):
            if field in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    yield from self._at(owner, field, place, node)
        self.function = outer

    def _at(
        self, owner: ast.AST, field: str, place: int | None, node: ast.AST
    ) -> Iterator[Mutation]:
        if isinstance(node, ast.Raise | ast.JoinedStr) or _is_text(node):
            return
        for new in (*_faults(node), *_negated(owner, field, node)):
            yield self._mutation(owner, field, place, node, ast.copy_location(new, node))
        yield from self.children(node)

    def _mutation(
        self, owner: ast.AST, field: str, place: int | None, node: ast.AST, new: ast.AST
    ) -> Mutation:
        f = self.function
        span, cached = None, False
        if f is not None:
            span = min([f.lineno, *(d.lineno for d in f.decorator_list)]), f.end_lineno or f.lineno
            cached = any("lru_cache" in ast.unparse(d) for d in f.decorator_list)
        line = getattr(node, "lineno", 0)
        return Mutation(line, _source(node), _source(new), span, cached, owner, field, place, new)


def _source(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _faults(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in a node's place."""
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                for other in _COMPARE[type(op)]:
                    yield ast.Compare(left, [*ops[:i], other(), *ops[i + 1 :]], comparators)
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC and not _joins(left, right):
            yield ast.BinOp(left, _ARITHMETIC[type(op)](), right)
        case ast.AugAssign(target, op, value):
            yield ast.Pass()
            if type(op) in _ARITHMETIC and not isinstance(value, ast.List | ast.Call):
                yield ast.AugAssign(target, _ARITHMETIC[type(op)](), value)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Return(ast.expr() as value) if not _nothing(value):
            truth = isinstance(value, _CONDITION) or _is_not(value)
            yield ast.Return(ast.UnaryOp(ast.Not(), value) if truth else ast.Constant(None))
        case ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Call(ast.Name(name), args, keywords) if name in _NAMES:
            yield ast.Call(ast.Name(_NAMES[name], ast.Load()), args, keywords)
        case ast.Call(ast.Attribute(value, name), args, keywords) if name in _NAMES:
            yield ast.Call(ast.Attribute(value, _NAMES[name], ast.Load()), args, keywords)


def _negated(owner: ast.AST, field: str, node: ast.AST) -> Iterator[ast.AST]:
    """A plain condition turned round; comparisons and `not` have faults of their own."""
    asked = field == "test" or (isinstance(owner, ast.comprehension) and field == "ifs")
    own = isinstance(node, _CONDITION) or _is_not(node)
    if asked and isinstance(node, ast.expr) and not own:
        yield ast.UnaryOp(ast.Not(), node)


def _is_not(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _joins(*operands: ast.expr) -> bool:
    """Whether a sum is one of texts."""
    return any(
        isinstance(o, ast.JoinedStr) or (isinstance(o, ast.Constant) and isinstance(o.value, str))
        for o in operands
    )
