"""The state guard: one case can neither see nor leave global state.

What belongs here: seeding, threads and flags around a case, and putting everything
back. Which settings are put back is the table in ``settings``.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

from pytest_modelreg.observe.seeding import seed_generators
from pytest_modelreg.observe.settings import (
    changed_settings,
    read_settings,
    restore_settings,
    write_settings,
)

_THREADS = "torch.num_threads"


class StateGuard:
    """Global state as it was, whatever user code does inside the ``with`` block.

    Covers Python's, numpy's and torch's generators, the settings of ``settings``, the
    environment variables and the working folder.

    Parameters
    ----------
    threads : int or None
        Intra-op threads of torch inside the block, whatever user code sets.
    default_threads : int or None
        Intra-op threads where ``threads`` is None and user code sets none either; None
        leaves torch's own number.
    deterministic : bool
        Whether torch is asked for deterministic algorithms.
    """

    def __init__(
        self,
        *,
        threads: int | None = None,
        default_threads: int | None = None,
        deterministic: bool = False,
    ) -> None:
        self._threads = threads
        self._default_threads = default_threads if threads is None else None
        self._deterministic = deterministic
        self._watch = _TorchWatch(self._meet_torch)
        self._before: dict[str, Any] = {}
        self._python: Any = None
        self._numpy: Any = None
        self._torch: Any = None
        self._cuda: Any = None

    def __enter__(self) -> StateGuard:
        self._before = read_settings()
        self._python = random.getstate()
        self._numpy = np.random.get_state()
        torch = sys.modules.get("torch")
        if torch is None:
            sys.meta_path.insert(0, self._watch)
        else:
            self._torch = torch.get_rng_state()
            if torch.cuda.is_initialized():
                self._cuda = torch.cuda.get_rng_state_all()
            self._set_default_threads(torch)
        seed_generators()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watch in sys.meta_path:
            sys.meta_path.remove(self._watch)
        random.setstate(self._python)
        np.random.set_state(self._numpy)
        torch = sys.modules.get("torch")
        if torch is not None and self._torch is not None:
            torch.set_rng_state(self._torch)
            if self._cuda is not None:
                torch.cuda.set_rng_state_all(self._cuda)
        # Going back over torch's TF32 switches warns about using the old ones.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            restore_settings(self._before)

    def imported_settings(self) -> dict[str, Any]:
        """Return what changed since the block was entered: asked when only imports have run."""
        entered = dict(self._before)
        if self._default_threads is not None:
            entered[_THREADS] = self._default_threads
        return changed_settings(entered, read_settings())

    def prepare(self, imported: Mapping[str, Any] | None = None) -> None:
        """Set seeds, threads and flags, before the model is built and again before the passes.

        The second call is not a repetition: a factory may draw random numbers, change
        flags, or be the first to import torch.

        Parameters
        ----------
        imported : mapping, optional
            What an earlier import of the suite's modules changed: a module that sets
            the default dtype when imported does so once, and every case needs it.
        """
        write_settings(imported or {})
        seed_generators()
        if self._deterministic:
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch = sys.modules.get("torch")
        if torch is None:
            return
        if self._threads is not None and torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        if self._deterministic and not torch.are_deterministic_algorithms_enabled():
            torch.use_deterministic_algorithms(True)

    def _set_default_threads(self, torch: ModuleType) -> None:
        # Before any user code runs: a number that it sets, at import or later, must hold
        # whatever this process's share is, or results would depend on how many workers run.
        if self._default_threads is not None and torch.get_num_threads() != self._default_threads:
            torch.set_num_threads(self._default_threads)

    def _meet_torch(self) -> None:
        """Note torch's own defaults the moment user code imports it, then seed it."""
        self._before = {**read_settings(), **self._before}
        torch = sys.modules["torch"]
        self._torch = torch.get_rng_state()
        self._set_default_threads(torch)
        seed_generators()


class _TorchWatch:
    """A finder that finds nothing but tells when torch has been imported.

    torch starts with a random seed. A factory that imports torch inside itself would
    otherwise build other weights in every run.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._is_searching = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch" or self._is_searching:
            return None
        self._is_searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_searching = False
        loader: Any = None if spec is None else spec.loader
        if loader is None:
            return None
        execute = loader.exec_module

        def execute_and_tell(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            self._tell()

        loader.exec_module = execute_and_tell
        return spec
