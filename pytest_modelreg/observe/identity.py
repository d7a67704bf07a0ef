"""The identity of the model that a case runs, under which what is made of it is kept.

What belongs here: everything that a model is made of. Whatever is forgotten here would let a case
run an artefact of another model.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pytest_modelreg.domain.case import CaseSpec


def identify_model(spec: CaseSpec, *, weights_digest: str | None, is_digest_whole: bool, n_edits: int) -> str:
    """Return a digest over what the model of a case is made of, 64 hex digits.

    Parameters
    ----------
    weights_digest : str or None
        Of the weights before the transform; None for a plain callable, of which nothing else is known.
    is_digest_whole : bool
        Whether the digest covers everything that the weights hold. Where it does not, the case itself
        is part of the identity: nothing is shared.
    n_edits : int
        How often the suite's sources were edited in this session; see
        :meth:`~.shared_work.SharedWork.note_sources`.
    """
    facts: list[Any] = [
        spec.python_path,
        spec.model,
        # A YAML mapping may have keys of several types, which JSON cannot sort.
        repr(spec.model_args),
        # Not only through the digest: a factory's hooks may load what no state dict shows.
        None if spec.checkpoint is None else [spec.checkpoint.path, spec.checkpoint.key],
        spec.forward,
        weights_digest,
        None if is_digest_whole else spec.id,
        spec.runtime.transform,
        spec.device,
        spec.dtype,
        spec.memory_format,
        spec.autocast,
        n_edits,
    ]
    text = json.dumps(facts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
