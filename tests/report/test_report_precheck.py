"""A precheck in words: what differs first, bounded, and safe whatever names hold."""

from __future__ import annotations

import math

import pytest
from markdown_it import MarkdownIt

from pytest_modelreg.domain.precheck import InputDistance, InputResult, PrecheckResult
from pytest_modelreg.domain.result import CaseResult, SampleSetDifference
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report import render_precheck, render_precheck_markdown

HOSTILE = "a|b `c` ``` <script>x</script> @octocat #12 [l](http://x) \x1b[31m\u202e**b**\r\n# h"


def make_distances(*rel_l2, **fields):
    """Return distances of s0, s1, ..."""
    return tuple(
        InputDistance(sample=f"s{number}", rel_l2=value, **fields) for number, value in enumerate(rel_l2)
    )


def make_result(verdict=Verdict.DRIFT, distances=(), notes=(), **fields):
    """Return a precheck of the reference in which these inputs differ."""
    inputs = InputResult(
        difference=SampleSetDifference(),
        common=tuple(f"s{number}" for number in range(9)),
        distances=distances,
        limit=1e-5,
        notes=notes,
    )
    fields = {"suite": "toy", "variant": "reference", "message": "about it", **fields}
    return PrecheckResult(verdict=verdict, inputs=inputs, **fields)


def make_behaviour(verdict, **fields):
    """Return what the model answered."""
    fields = {"message": "logits drift", "n_samples": 2, **fields}
    return CaseResult(suite="toy", variant="reference", verdict=verdict, **fields)


def test_match_is_one_line():
    """Quiet where nothing differs, whatever command there would be."""
    text = render_precheck(make_result(Verdict.MATCH, sharing=("small", "onnx"), command="modelreg regen"))
    assert text == "toy[reference] (and what is fed the same: small, onnx): match: about it"


def test_farthest_are_named_and_the_rest_counted():
    """Five, or all on demand."""
    result = make_result(distances=make_distances(0.5, 0.1234, 0.1, 0.01, 1e-3, 1e-4, 1e-5))
    assert render_precheck(result).splitlines()[1] == (
        "  farthest first: s0 (rel_l2 about 0.5), s1 (rel_l2 about 0.12), s2 (rel_l2 about 0.1), "
        "s3 (rel_l2 about 0.01), s4 (rel_l2 about 0.001) and 2 more"
    )
    assert render_precheck(result, verbose=True).splitlines()[1].endswith("s6 (rel_l2 about 1e-05)")


@pytest.mark.parametrize(("count", "more"), [(5, False), (6, True)])
def test_rest_is_counted_only_where_there_is_one(count, more):
    """Just inside: five of five."""
    text = render_precheck(make_result(distances=make_distances(*[0.1] * count)))
    assert ("more" in text) is more


def test_one_sample_is_not_put_in_order():
    """No superlative of one."""
    assert "farthest" not in render_precheck(make_result(distances=make_distances(0.5)))


def test_other_form_is_shown_on_both_sides():
    """Expected first, no number."""
    distances = make_distances(None, expected_form="float32 3 x 4", actual_form="float32 4 x 3")
    assert "  s0 (expected float32 3 x 4, got float32 4 x 3)" in render_precheck(
        make_result(distances=distances)
    )


def test_unknown_distances_say_why():
    """All unknown: one line on it, names all the same; one known: none."""
    text = render_precheck(make_result(distances=make_distances(None, None)))
    assert text.splitlines()[1] == "  s0, s1"
    assert "not on record" in text
    assert "not on record" not in render_precheck(make_result(distances=make_distances(0.1, None)))


def test_infinite_distance_is_a_word():
    """No exception and no null."""
    assert "rel_l2 about inf" in render_precheck(make_result(distances=make_distances(math.inf)))


def test_explanations_of_what_does_not_matter_are_left_out():
    """On a match only on demand, on a drift always."""
    notes = ("first stage that differs: 2",)
    match = make_result(Verdict.MATCH, distances=make_distances(1e-7), notes=notes)
    assert notes[0] not in render_precheck(match)
    assert notes[0] in render_precheck(match, verbose=True)
    assert notes[0] in render_precheck(make_result(distances=make_distances(1e-7), notes=notes))


def test_what_would_accept_it_comes_last():
    """With what to do before, and other words where there is no golden yet."""
    drift = make_result(command="modelreg regen x", advice="give it limits")
    assert render_precheck(drift).splitlines()[-2:] == [
        "  if this change is intended: give it limits",
        "  then: modelreg regen x",
    ]
    missing = make_result(Verdict.MISSING, command="modelreg regen x")
    assert render_precheck(missing).splitlines()[-1] == "  record it: modelreg regen x"
    assert "if this change" not in render_precheck(make_result(Verdict.ERROR))


def test_behaviour_is_shown_where_it_drifts():
    """Not its first line, which the message has, nor its notes on inputs, nor a second command."""
    behaviour = make_behaviour(
        Verdict.DRIFT, notes=("inputs differ",), command="modelreg regen y", drifted_samples=("s0",)
    )
    text = render_precheck(make_result(behaviour=behaviour, command="modelreg regen x"))
    assert "inputs differ" not in text
    assert "regen y" not in text
    assert text.count("logits drift") == 0


def test_match_of_other_inputs_shows_what_differs_in_the_environment():
    """That is what explains inputs within the limit; other notes are noise."""
    behaviour = make_behaviour(
        Verdict.MATCH, notes=("environment differs: cpu.name: expected a, got b", "something else")
    )
    text = render_precheck(make_result(Verdict.MATCH, distances=make_distances(1e-7), behaviour=behaviour))
    assert "  environment differs: cpu.name: expected a, got b" in text
    assert "something else" not in text


def test_details_of_an_error_are_indented():
    """A traceback of several lines stays below its pipeline."""
    text = render_precheck(make_result(Verdict.ERROR, details="first\nsecond"))
    assert text.splitlines() == ["toy[reference]: error: about it", "  first", "  second"]


def test_terminal_obeys_no_name():
    """Control characters in ids, messages and notes are shown as escapes."""
    distances = (InputDistance(sample=HOSTILE, rel_l2=0.5),)
    text = render_precheck(
        make_result(
            distances=distances, notes=(HOSTILE,), message=HOSTILE, command=HOSTILE, sharing=(HOSTILE,)
        )
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\r" not in text


def test_markdown_heads_with_what_it_comes_to():
    """And shows the text of what differs only."""
    match = make_result(Verdict.MATCH, variant="own", message="bit-identical")
    text = render_precheck_markdown([match, make_result(distances=make_distances(0.5))])
    assert text.startswith("### modelreg precheck: 1 of 2 pipelines differ\n")
    assert text.count("bit-identical") == 1
    assert "s0 (rel_l2 about 0.5)" in text
    assert render_precheck_markdown([match]).startswith("### modelreg precheck: nothing differs\n")
    assert "```" not in render_precheck_markdown([match])


def test_markdown_of_nothing_says_so():
    """Suites that were left out are listed with the reason."""
    text = render_precheck_markdown([], ["toy: nothing of it changed since main"])
    assert text == "### modelreg precheck: nothing to look at\n\n- toy: nothing of it changed since main\n"


def test_markdown_is_safe_whatever_names_hold():
    """No HTML, no link, no mention, no heading and no broken table comes from a name."""
    result = make_result(
        suite=HOSTILE,
        variant=HOSTILE,
        message=HOSTILE,
        notes=(HOSTILE,),
        distances=(InputDistance(sample=HOSTILE, rel_l2=0.5),),
        command=HOSTILE,
    )
    text = render_precheck_markdown([result], [HOSTILE])
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)
    kinds = [token.type for token in tokens]
    inline = [child.type for token in tokens for child in token.children or ()]
    assert kinds.count("heading_open") == 1
    assert kinds.count("fence") == 1
    assert kinds.count("tr_open") == 2
    assert kinds.count("td_open") == 3
    assert not {"html_block", "html_inline", "link_open", "image"} & {*kinds, *inline}
    texts = "".join(
        child.content for token in tokens for child in token.children or () if child.type == "text"
    )
    assert "octocat" in texts
    assert "@octocat" not in texts
    assert "\x1b" not in text
