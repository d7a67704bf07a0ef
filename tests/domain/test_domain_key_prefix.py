"""Keys of a checkpoint that differ from a model's by one prefix."""

from __future__ import annotations

from pytest_modelreg.domain.key_prefix import describe_prefix

NAMES = ("stem.weight", "stem.bias", "head.weight")


def test_a_prefix_of_all_keys_is_named():
    """Without it they are the model's."""
    told = describe_prefix([f"net.{name}" for name in NAMES], NAMES)
    assert told == "all of the checkpoint's keys begin with 'net.', which the model's do not"


def test_a_prefix_of_several_parts_is_named_whole():
    """A training framework puts a module around a module."""
    assert "'module.net.'" in describe_prefix([f"module.net.{name}" for name in NAMES], NAMES)


def test_a_prefix_that_the_model_has_is_named():
    """The checkpoint was saved from a part of it."""
    told = describe_prefix(NAMES, [f"backbone.{name}" for name in NAMES])
    assert told == "the model's keys begin with 'backbone.', which the checkpoint's do not"


def test_keys_of_another_model_have_no_prefix():
    """Just inside: they begin alike, and fit nothing without it."""
    assert describe_prefix(["enc.a", "enc.b", "enc.c"], NAMES) == ""
    assert describe_prefix(["net.stem.weight", "head.weight"], NAMES) == ""
    assert describe_prefix([], NAMES) == ""
