"""Bytes to policies: parse, don't validate. Past this file nothing checks a document again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from policies.blueprint import Blueprint
from policies.coherence import check_conditions, check_known, check_words
from policies.document import MOST_REGIONS, STRATEGY, DocumentClause, Policy, PolicyClause, PolicyDocument
from policies.errors import ParseError, PluginError, Problem
from policies.frozen import Json
from policies.grammar import nearest
from policies.identity import Owner
from policies.kind import KindModel
from policies.legality import check_complete, check_placeholders, check_properties, check_section, compile_lenient
from policies.naming import check_names
from policies.paths import json_path
from policies.problems import MOST_TOLD, Loc, problems_of
from policies.raw import expand, is_told, value_at, without
from policies.strategy import Strategy
from policies.template import Template
from policies.text import TextError, read_json
from policies.vocabulary import POWERFUL, Vocabulary
from policies.world import Scope

MOST_POLICIES = 2_000
"""Policies of one document: more are several documents, and one broken one must not take the time of all."""


def parse_document(name: str, body: bytes, generation: str, vocabulary: Vocabulary) -> PolicyDocument:
    """The document, frozen and typed; raises ParseError with every mistake in it, each at its JSON path."""
    problems: list[Problem] = []
    policies: list[Policy] = []
    document, clauses = _read(name, body, problems)
    if len(clauses) > MOST_POLICIES:
        message = f"found {len(clauses)} policies; at most {MOST_POLICIES} are allowed: split the document"
        raise ParseError(name, [*problems, Problem("$.policies", message)])
    for place, raw in enumerate(clauses):
        if len(problems) > MOST_TOLD:
            problems.append(Problem(json_path(("policies", place)), "not looked at; mend the others first"))
            break
        reader = _Reader(name, ("policies", place), raw, vocabulary)
        policies += reader.policies()
        problems += reader.problems
    problems += _repeated_names(clauses)
    if problems or document is None:
        raise ParseError(name, sorted(dict.fromkeys(problems)))
    return PolicyDocument(name, generation, document.orphans, tuple(policies))


def _read(name: str, body: bytes, problems: list[Problem]) -> tuple[DocumentClause | None, Sequence[Json]]:
    """The document without its policies, if it is legal, and its policies as they stand, legal or not."""
    if not re.fullmatch(r"[a-z0-9-]{1,64}", name):
        problems.append(Problem("$", f"the document's name is {name!r}; allowed: a-z, 0-9 and -, at most 64"))
    raw: Json = None
    try:
        raw = read_json(body)
        if isinstance(raw, Mapping) and str(raw.get("kind")).startswith("Setpoint"):
            message = f"this is a {raw['kind']}, which a command wrote, and no policy document; keep it elsewhere"
            problems.append(Problem("$", message))
            return None, ()
        document = DocumentClause.model_validate(raw)
    except TextError as error:
        problems += [Problem(path, message) for path, message in error.problems]
    except ValidationError as error:
        problems += problems_of(error, DocumentClause)
    else:
        return document, document.policies
    policies = value_at(raw, "policies")
    return None, policies if isinstance(policies, list) else ()


def _repeated_names(policies: Sequence[Any]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for place, raw in enumerate(policies):
        name = raw.get("name") if isinstance(raw, Mapping) else None
        if isinstance(name, str) and first.setdefault(name, place) != place:
            message = f"policy {name!r} is already {json_path(('policies', first[name]))}; names are unique"
            yield Problem(json_path(("policies", place, "name")), message)


class _Reader:
    """Reads one policy in every region that it names; collects its mistakes instead of stopping at the first."""

    def __init__(self, document: str, loc: Loc, raw: Json, vocabulary: Vocabulary) -> None:
        self._document, self._loc, self._raw, self._vocabulary = document, loc, raw, vocabulary
        self._context = {"strategies": vocabulary.strategies}
        self.problems: list[Problem] = []

    def policies(self) -> Iterator[Policy]:
        """The policy, once for each of its regions; none where anything in it is wrong."""
        for region in self._regions():
            try:
                yield from self._in(region)
            except (KeyError, AttributeError, TypeError, IndexError, ArithmeticError, AssertionError) as fault:
                # What a plug-in does while it is read must not take the other documents with it.
                message = (
                    f"reading this policy failed: {type(fault).__name__}: {fault}; its strategy or kind has a fault"
                )
                self.problems.append(Problem(json_path(self._loc), message))

    def _in(self, region: str) -> Iterator[Policy]:
        found = len(self.problems)
        raw = expand(self._raw, self._globals(region))
        clause, kind = self._clause(raw), self._kind(raw)
        blueprint = self._blueprint(raw, kind, clause) if kind else None
        if clause and kind:
            told = {problem.path for problem in self.problems[found:]}
            self.problems += (one for one in self._check_clause(clause, kind) if not is_told(one.path, told))
        if clause and blueprint and len(self.problems) == found:
            self.problems += check_known(clause, blueprint, self._loc)
        if clause and blueprint and len(self.problems) == found:
            yield self._policy(clause, blueprint, region)

    def _regions(self) -> Sequence[str]:
        regions = self._raw.get("regions") if isinstance(self._raw, Mapping) else None
        legal = isinstance(regions, list | tuple) and regions and all(isinstance(region, str) for region in regions)
        return list(dict.fromkeys(regions))[:MOST_REGIONS] if legal and regions else [self._vocabulary.region]

    def _globals(self, region: str) -> Mapping[str, str]:
        raw = self._raw if isinstance(self._raw, Mapping) else {}
        return {"account": self._account(raw.get("roleArn")), "region": region, "policy": str(raw.get("name"))}

    def _account(self, role: object) -> str:
        parts = role.split(":") if isinstance(role, str) else []
        return parts[4] if len(parts) > 5 and parts[4].isdigit() else self._vocabulary.account

    def _clause(self, raw: Json) -> PolicyClause | None:
        try:
            return PolicyClause.model_validate(raw, context=self._context)
        except ValidationError as error:
            self.problems += problems_of(error, PolicyClause, self._loc, raw, self._context)
            return self._rest(raw, error)

    def _rest(self, raw: Json, error: ValidationError) -> PolicyClause | None:
        """The policy without what is wrong in it, if that is one, so that its other mistakes are told as well."""
        wrong = error.errors(include_url=False)
        if not isinstance(raw, Mapping) or len(wrong) > MOST_TOLD:
            return None
        rest: Json = raw
        for line in wrong:
            rest = without(rest, tuple(line["loc"]))
        try:
            return PolicyClause.model_validate({"name": "unnamed", **rest}, context=self._context)
        except ValidationError:
            return None

    def _kind(self, raw: Json) -> KindModel | None:
        word, kinds = value_at(raw, "resource", "type"), self._vocabulary.kinds
        if not isinstance(word, str):
            return None  # told by the grammar
        if word.startswith(POWERFUL) and word not in self._vocabulary.allowed_types:
            message = f"{word} grants power and is refused unless the deployment allows it by name (AllowedTypes)"
            message += "" if word in kinds else "; and no kind that is installed offers it"
        elif word not in kinds:
            known = ", ".join(sorted(kinds))
            message = f"{word!r} is no resource type that Setpoint knows{nearest(word, sorted(kinds))} (known: {known})"
        else:
            try:
                return kinds[word]
            except PluginError as error:
                message = str(error)
        self.problems.append(Problem(json_path((*self._loc, "resource", "type")), message))
        return None

    def _blueprint(self, raw: Json, kind: KindModel, clause: PolicyClause | None) -> Blueprint | None:
        """The compiled resource section, judged as far as the rest of the policy could be read."""
        strategy = clause.strategy if clause else self._strategy(raw)
        found = len(self.problems)
        properties = self._section(raw, "properties", kind, strategy)
        initial = self._section(raw, "initial", kind, strategy)
        if strategy is not None:
            for where, section in strategy.sections():
                self.problems += check_section(section, kind, strategy, (*self._loc, "strategy", *where))
        if strategy is not None and not strategy.matches and value_at(raw, "resource", "match") is None:
            loc = (*self._loc, "resource", "properties")
            told = frozenset(problem.path for problem in self.problems[found:])
            self.problems += check_names(properties, kind, strategy, loc, told)
            self.problems += check_complete(properties, initial, kind, loc)
        return Blueprint(kind, properties, initial)

    def _section(self, raw: Json, word: str, kind: KindModel, strategy: Strategy | None) -> Template:
        section, loc = value_at(raw, "resource", word), (*self._loc, "resource", word)
        section = section if isinstance(section, Mapping) else {}
        self.problems += check_placeholders(section, strategy, kind, loc)
        compiled = compile_lenient(section)
        self.problems += check_properties(compiled, kind, strategy, loc)
        return compiled

    def _strategy(self, raw: Json) -> Strategy | None:
        """The strategy of a policy whose other parts are wrong; None where it is wrong itself."""
        value = value_at(raw, "strategy")
        try:
            return STRATEGY.model(value, self._context).model_validate(value, context=self._context)  # type: ignore[return-value]
        except ValueError:
            return None

    def _check_clause(self, clause: PolicyClause, kind: KindModel) -> Iterator[Problem]:
        role, allowed = clause.role_arn, self._vocabulary.allowed_roles
        if role is not None and role not in allowed:
            shown = ", ".join(sorted(allowed)) or "none"
            message = f"{role} is not in this deployment's list of allowed roles (AllowedRoleArns: {shown})"
            yield Problem(json_path((*self._loc, "roleArn")), message)
        yield from check_words(clause, kind, self._loc)
        yield from check_conditions(clause, kind, self._loc, self._vocabulary.kinds)

    def _policy(self, clause: PolicyClause, blueprint: Blueprint, region: str) -> Policy:
        return Policy(
            document=self._document,
            path=json_path(self._loc),
            owner=Owner(self._vocabulary.controller, clause.name),
            scope=Scope(self._account(clause.role_arn), region, clause.role_arn),
            clause=clause,
            blueprint=blueprint,
            formerly=tuple(self._old_owner(old) for old in clause.formerly),
        )

    def _old_owner(self, name: str) -> Owner:
        controller, _, policy = name.rpartition("/")
        return Owner(controller or self._vocabulary.controller, policy)
