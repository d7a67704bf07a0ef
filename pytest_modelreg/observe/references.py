"""``module:attr`` references: from text in a suite file to the user's objects.

What belongs here: which references a case has, resolving them, and saying why one cannot be
resolved. All references of a case are resolved at once, so that the user mends them at once.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.errors import ImportReferenceError, SampleLoadError
from pytest_modelreg.domain.nearest import find_nearest, phrase_suggestion, suggest
from pytest_modelreg.domain.sample import ROW_LOADER
from pytest_modelreg.observe.imports import list_module_names
from pytest_modelreg.observe.loaders import LOADERS
from pytest_modelreg.observe.user_code import describe_error


def list_references(spec: CaseSpec, *, needs_model: bool, prepares_inputs: bool = True) -> dict[str, str]:
    """Return a case's references by role.

    Parameters
    ----------
    needs_model : bool
        False for a runtime that brings its own model: the suite's is not even imported.
    prepares_inputs : bool
        False where inputs were prepared in another process: what does that may be missing here.

    Raises
    ------
    SampleLoadError
        The loader is neither one of ours nor a reference.
    """
    references = {
        "model": spec.model if needs_model else None,
        "transform": spec.runtime.transform,
        "preprocess": spec.preprocess,
        "collate": spec.collate,
        "forward": spec.forward,
        "loader": None if spec.loader in (ROW_LOADER, *LOADERS) else spec.loader,
    }
    if references["loader"] is not None and ":" not in spec.loader:
        raise SampleLoadError(
            f"{spec.id}: loader: expected {', '.join(LOADERS)} or module:fn, "
            f"got {spec.loader!r}{suggest(spec.loader, LOADERS)}"
        )
    left_out = () if prepares_inputs else ("preprocess", "loader")
    return {
        role: reference
        for role, reference in references.items()
        if reference is not None and role not in left_out
    }


def resolve_references(references: Mapping[str, str], *, case: str, folders: Sequence[str]) -> dict[str, Any]:
    """Import every reference of a case.

    Parameters
    ----------
    references : mapping of str to str
        Role (``model``, ``preprocess``, ...) -> ``module:attr``; ``attr`` may be dotted.
    case : str
        The case id, for messages.
    folders : sequence of str
        The folders that were put in front of ``sys.path``, for messages.

    Returns
    -------
    dict of str to Any
        Role -> object. ``preprocess`` may be a list or tuple of callables, anything
        else is callable.

    Raises
    ------
    ImportReferenceError
        One message for all references that have no such module or attribute, whose
        import raised, or that are not callable.
    """
    found: dict[str, Any] = {}
    faults: list[str] = []
    for role, reference in references.items():
        try:
            found[role] = resolve_reference(reference, folders)
            _require_callable(role, found[role])
        except ImportReferenceError as error:
            faults.append(f"{case}: {role}: {reference!r}: {error}")
    if faults:
        raise ImportReferenceError("\n".join(faults))
    return found


def resolve_reference(reference: str, folders: Sequence[str]) -> Any:
    """Import one reference; errors do not say whose it is.

    Raises
    ------
    ImportReferenceError
        There is no such module or attribute, or importing it raised.
    """
    module_name, colon, attribute = reference.partition(":")
    if not colon or not module_name or not attribute:
        raise ImportReferenceError("expected module:attr, as in shop.models:build")
    try:
        found: Any = importlib.import_module(module_name)
    except ImportReferenceError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise ImportReferenceError(_describe_missing_module(error.name, folders)) from error
        raise ImportReferenceError(f"importing {module_name} raised {describe_error(error)}") from error
    except (Exception, SystemExit) as error:  # user code
        raise ImportReferenceError(f"importing {module_name} raised {describe_error(error)}") from error
    place = module_name
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            hint = suggest(part, (name for name in dir(found) if not name.startswith("__")))
            raise ImportReferenceError(
                f"{place} has no attribute {part!r}{hint}{_describe_file(module_name)}"
            ) from error
        place = f"{place}.{part}"
    return found


def _require_callable(role: str, found: Any) -> None:
    if role == "preprocess" and isinstance(found, (list, tuple)):
        faulty = [f"stage {number} is {type(stage).__name__}" for number, stage in enumerate(found, start=1)]
        faulty = [text for text, stage in zip(faulty, found, strict=True) if not callable(stage)]
        if not found or faulty:
            raise ImportReferenceError(
                f"expected a list of callables, got {', '.join(faulty) or 'an empty one'}"
            )
    elif not callable(found):
        raise ImportReferenceError(f"expected something callable, got {type(found).__name__} {found!r:.80}")


def _describe_missing_module(name: str, folders: Sequence[str]) -> str:
    parent, _, last = name.rpartition(".")
    if not parent:
        known = {module for folder in folders for module in list_module_names(folder)}
        return f"no module {name!r}{suggest(name, known)}; searched {', '.join(folders)}, then sys.path"
    search = getattr(sys.modules.get(parent), "__path__", None)
    if search is None:
        return f"no module {name!r}: {parent!r} is a module, not a package{_describe_file(parent)}"
    near = find_nearest(last, (module.name for module in pkgutil.iter_modules(search)))
    # The whole name, as it is to be written.
    hint = phrase_suggestion(near and f"{parent}.{near}")
    return f"no module {name!r}{hint}; searched {', '.join(map(str, search))}"


def _describe_file(module_name: str) -> str:
    file = getattr(sys.modules.get(module_name), "__file__", None)
    return f"; imported from {file}" if file else ""
