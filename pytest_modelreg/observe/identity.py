"""The identity of the model that a case runs, under which what is made of it is kept.

What belongs here: everything that a model is made of. Whatever is forgotten here would let a case
run an artefact of another model.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pytest_modelreg.domain.case import CaseSpec


def identify_model(spec: CaseSpec, *, weights_digest: str | None, n_edits: int) -> str:
    """Return a digest over what the model of a case is made of, 64 hex digits.

    Parameters
    ----------
    weights_digest : str or None
        Of the weights before the transform. None for a plain callable, of which nothing else is known:
        then the case itself is part of its identity.
    n_edits : int
        How often the suite's sources were edited in this session; see
        :meth:`~.shared_work.SharedWork.note_sources`.
    """
    facts: list[Any] = [
        spec.python_path,
        spec.model,
        spec.model_args,
        spec.forward,
        weights_digest if weights_digest is not None else spec.id,
        spec.runtime.transform,
        spec.device,
        spec.dtype,
        spec.memory_format,
        spec.autocast,
        n_edits,
    ]
    text = json.dumps(facts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
