"""Functions that a model calls as in training, or that draw random numbers: what no module's flag shows.

What belongs here: which functions those are, and noticing their calls. To notice one more, add its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

_TRAINING_ARGUMENT = {
    # Name -> position of ``training``, where it is not given by name; and what it is when not given at all.
    "dropout": (2, True),
    "dropout1d": (2, True),
    "dropout2d": (2, True),
    "dropout3d": (2, True),
    "alpha_dropout": (2, False),
    "feature_alpha_dropout": (2, False),
    "batch_norm": (5, False),
    "rrelu": (3, False),
}
_DRAWING = frozenset(
    {
        *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal"),
        *("bernoulli", "multinomial", "poisson", "gumbel_softmax", "bernoulli_", "normal_", "uniform_"),
        *("random_", "exponential_", "geometric_", "cauchy_", "log_normal_"),
    }
)


class Note(Protocol):
    """Takes what was noticed."""

    def __call__(self, function: str, *, trains: bool) -> None:
        """Note one call; ``trains`` says whether it was called as in training."""


@contextmanager
def watch_functions(note: Note) -> Iterator[None]:
    """Notice the calls of torch functions inside the block.

    Functions that are called by compiled or scripted code are not seen.
    """
    from torch.overrides import TorchFunctionMode

    class Watch(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        def __torch_function__(
            self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            given = kwargs or {}
            name = getattr(function, "__name__", "")
            if name in _TRAINING_ARGUMENT:
                if _trains(name, args, given):
                    note(name, trains=True)
            elif name in _DRAWING:
                note(name, trains=False)
            return function(*args, **given)

    with Watch():
        yield


def _trains(name: str, args: tuple[Any, ...], given: Mapping[str, Any]) -> bool:
    position, default = _TRAINING_ARGUMENT[name]
    value = given.get("training", args[position] if len(args) > position else default)
    return value is True
