"""Output paths that are patterns: which declared entry is an output's."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe import flatten_outputs
from pytest_modelreg.observe.outputs import choose_bare_name


def test_patterns_say_what_several_outputs_are():
    """The path itself wins over a pattern, the narrower pattern over the wider."""
    returned = {"heads": {"a": np.ones((2, 3)), "b": 1.0}, "cache": {"k": object()}}
    specs = {
        "heads.*": OutputSpec(per="batch", per_is_declared=True),
        "heads.a": OutputSpec(),
        "cache.**": OutputSpec(per="ignore"),
    }
    leaves = flatten_outputs(returned, batch_size=2, specs=specs, bare_name="output")
    assert {path: leaf.per for path, leaf in leaves.items()} == {"heads.a": "sample", "heads.b": "batch"}


def test_pattern_that_fits_nothing_is_declared_but_not_returned():
    """Planted fault: a renamed branch would otherwise lose its limits silently."""
    with pytest.raises(OutputError, match=r"output 'heads\.\*': declared but not returned"):
        flatten_outputs({"x": np.ones(2)}, batch_size=2, specs={"heads.*": OutputSpec()}, bare_name="output")


def test_pattern_that_fits_an_ignored_branch_is_returned():
    """Just inside: what is left out was there."""
    specs = {"c*": OutputSpec(per="ignore")}
    returned = {"cache": object(), "x": np.ones(2)}
    assert list(flatten_outputs(returned, batch_size=2, specs=specs, bare_name="output")) == ["x"]


def test_pattern_names_no_bare_tensor():
    """A bare result has no key that a pattern could give it."""
    assert choose_bare_name({"heads.*": OutputSpec()}) == "output"
    specs = {"*": OutputSpec(per="batch", per_is_declared=True)}
    leaves = flatten_outputs(np.ones(3), batch_size=2, specs=specs, bare_name=choose_bare_name(specs))
    assert leaves["output"].per == "batch"
