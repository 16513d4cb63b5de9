"""What must be true of a resource at the moment of writing, judged by what was read of it just now.

Every check raises: ConflictError where the resource is somebody else's, WaitError where it is only not the time.
"""

from __future__ import annotations

from collections.abc import Mapping

from policies.action import Action, Terms, Verb
from policies.conditions import all_hold
from policies.errors import ConflictError, WaitError
from policies.identity import ADOPTED, HOLD_UNTIL, MARKED, PURPOSES, Owner, claimed_by, marked_at, proves
from policies.match import selects
from policies.world import Resource


def check_ours(action: Action, found: Resource) -> None:
    """The resource is this policy's to touch, and nobody has just asked to hold."""
    terms, name = action.terms, found.name or found.id
    if found.tags is None:
        raise WaitError(f"{name} is {found.state.value}, and its tags cannot be read")
    if terms.owner is None:
        if not selects(terms.match, terms.exceptions, found) and not _takes_its_mark_off(action, found):
            raise WaitError(f"{name} does not match, now that it was read")
    elif not _is_ours(action, found, terms.owner) and not _may_adopt(action, found):
        raise ConflictError(f"{action.type} {name} exists and is not ours ({_whose(terms, found)}); it was not touched")
    hold = found.tags.get(HOLD_UNTIL)
    if hold is not None and hold != ((action.seen and action.seen.tags) or {}).get(HOLD_UNTIL):
        raise WaitError(f"{name} was just tagged {HOLD_UNTIL}={hold}")


def check_deletable(action: Action, found: Resource) -> None:
    """Nothing about the resource speaks against its end."""
    terms, name = action.terms, found.name or found.id
    if ADOPTED in (found.tags or {}):
        raise ConflictError(f"{name} was adopted, and what was adopted is released and not deleted")
    if terms.protect and all_hold(terms.protect, found) is not False:
        raise WaitError(f"{name} is protected by guardrails.protect")
    if terms.delete_if and not all_hold(terms.delete_if, found):
        raise WaitError(f"guardrails.deleteIf does not hold for {name} at this moment")


def check_expired(action: Action, found: Resource) -> None:
    """Somebody else's goes only as it was seen: with our mark, the same tags as then, and nobody's owner tag.

    The index lags: a date in a tag that was put off a minute ago may not show there yet.
    """
    if action.terms.owner is None:
        seen, now = (_others(tags or {}) for tags in (action.seen and action.seen.tags, found.tags))
        if MARKED not in now or now != seen or claimed_by(found.tags) is not None:
            raise WaitError(f"the tags of {found.name or found.id} have changed; the next run looks again")


def is_marked(action: Action, found: Resource) -> bool:
    """Whether it carries this very policy's mark for this purpose; one that was copied is worth nothing."""
    owner, wanted = action.terms.owner or action.terms.marker, action.change.tags
    purposes = (purpose for purpose in PURPOSES if owner and marked_at(wanted, owner, found.id, purpose))
    return any(owner and marked_at(found.tags, owner, found.id, purpose) for purpose in purposes)


def _is_ours(action: Action, found: Resource, owner: Owner) -> bool:
    """By its tags and their proof; where the tags were taken away, by a client token that only our create used."""
    by_token = claimed_by(found.tags) is None and found.token is not None and found.token in action.tokens
    return by_token or any(proves(found, one) for one in (owner, *action.terms.formerly))


def _may_adopt(action: Action, found: Resource) -> bool:
    """Only what makes it ours: nothing ends, or is marked to end, that does not carry our tag already."""
    takes = action.verb in (Verb.CREATE, Verb.UPDATE, Verb.ADOPT)
    return takes and action.terms.adopt and claimed_by(found.tags) is None


def _whose(terms: Terms, found: Resource) -> str:
    owner = claimed_by(found.tags)
    return f"its tags name {owner}, without proof" if owner == str(terms.owner) else f"it is {owner or 'nobody'}'s"


def _takes_its_mark_off(action: Action, found: Resource) -> bool:
    """A mark of this policy may always be taken off again, also from what it does not match any more."""
    marker = action.terms.marker
    return action.verb is Verb.RELEASE and marker is not None and bool(marked_at(found.tags, marker, found.id))


def _others(tags: Mapping[str, str]) -> Mapping[str, str]:
    """Without the tags that only AWS sets, which not every answer shows."""
    return {key: value for key, value in tags.items() if not key.startswith("aws:")}
