"""What a test hands to ``modelreg.check``: faults are named, and nothing is ignored."""

from __future__ import annotations

import json

import pytest

SETTING = """
import dataclasses

try:
    import torch
except ImportError:
    torch = None

ring = [embed()]
ring.append(ring)


@dataclasses.dataclass
class Answer:
    logits: object = dataclasses.field(init=False)


def test_bad(modelreg):
    modelreg.check({call})
"""

FAULTS = {
    "embed(), name=5": "name: expected text, got int 5",
    "embed(), name=''": "name: expected text, got str ''",
    "embed(), sample_ids='abcd'": "sample_ids: expected a sequence of ids, one a sample, got str 'abcd'",
    "embed(), sample_ids=4": "sample_ids: expected a sequence of ids, one a sample, got int",
    "embed(), sample_ids=[0, 1, None, 3]": "sample_ids[2]: expected text or a number, got NoneType",
    "embed(), sample_ids=np.eye(4)": "sample_ids: expected one axis, got shape [4, 4]",
    "embed(), outputs=['output']": "outputs: expected a mapping of output path to what it means, got list",
    "embed(), outputs={'output': 5}": "outputs.output: expected",
    "embed(), checks=[]": "checks: expected a mapping of check to limit, got list",
    "embed(), kind='classification', labels=[1, 2, 3]": "outputs.output.labels: expected",
    "embed(), labels=['a', 'b', 'c']": "expected it on an output of kind classification, detection, "
    "multilabel, segmentation or tokens only",
    "embed(), top_k=2": "expected it on an output of kind classification or embedding only",
    "embed(), kind='tensor', top_k=2": "expected it on an output of kind classification or embedding only",
    "embed(), kind='classification', labels=list('abc'), top_k=4": "expected at most the 3 classes of labels",
    "embed(), checks={'rel_l2': 'small'}": "checks.rel_l2: expected a number",
    "ring": "output '1': expected a structure that ends",
    "{'a': ring}": "output 'a.1': expected a structure that ends",
    "{'a': Answer()}": "output 'a': expected every field of Answer to be set, got none for logits",
    "{'a': [2**60 + 1, 0.5]}": "output 'a': expected integers of at most 2**53",
    "{'a': embed(4), 'b': embed(2), 'c': embed(4)}": "lengths a: 4, b: 2, c: 4; name",
    "{'a': torch.empty(4, device='meta')}": "output 'a': a meta tensor has no values",
    "{'a': torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])}": "output 'a': a nested tensor",
}


def test_faults_are_named_in_one_line(module):
    """No fault of a test is called one of ours, shown as a traceback, or recorded all the same."""
    pytest.importorskip("torch")
    for index, call in enumerate(FAULTS):
        module.write(SETTING.replace("{call}", call), f"test_{index:02d}.py")
    target = module.path / "report.json"
    result = module.run("--modelreg-regen=missing", f"--modelreg-json={target}", "-W", "ignore")
    result.assert_outcomes(failed=len(FAULTS))
    cases = json.loads(target.read_text(encoding="utf-8"))["cases"]
    for (call, words), case in zip(FAULTS.items(), cases, strict=True):
        assert words in case["message"], call
        assert case["verdict"] == "error"
    result.stdout.no_fnmatch_line("*fault of pytest-modelreg*")
    result.stdout.no_fnmatch_line("*Traceback*")
    assert not (module.path / "golden").exists()


ACCEPTED = {
    "embed(), sample_ids=np.array([3, 1, 2, 0])": ["3", "1", "2", "0"],
    "embed(), sample_ids=torch.arange(4)": ["0", "1", "2", "3"],
    "embed(), sample_ids=[torch.tensor(1), 2, 'x', np.int64(7)]": ["1", "2", "x", "7"],
    "embed(), checks={'rel_l2': np.float32(1e-5)}": ["0", "1", "2", "3"],
    "embed(), kind='classification', top_k=np.int64(2), labels=np.array(['a', 'b', 'c'])": [
        "0",
        "1",
        "2",
        "3",
    ],
    "embed(12)": [str(index) for index in range(12)],
    "{'a': embed(4), 'b': embed(2)}, outputs={'b': {'per': 'batch'}}": ["0", "1", "2", "3"],
    "{'a': embed(4), 'b': embed(2)}, outputs={'**': {'per': 'batch'}}": ["0"],
}


def test_what_means_something_is_taken(module):
    """numpy's and torch's scalars and arrays are what they hold; ids are not padded."""
    pytest.importorskip("torch")
    for index, call in enumerate(ACCEPTED):
        module.write(SETTING.replace("{call}", call), f"test_{index:02d}.py")
    module.record()
    for index, (call, ids) in enumerate(ACCEPTED.items()):
        path = module.path / f"golden/py/test_{index:02d}/test_bad/output/golden.json"
        golden = json.loads(path.read_text(encoding="utf-8"))
        assert [sample["id"] for sample in golden["samples"]] == ids, call


def limits(module, call, later):
    """Record one value, judge another; return the limits of the report with their sources."""
    module.write(f"def test_it(modelreg):\n    modelreg.check({call})\n")
    module.record()
    module.write(f"def test_it(modelreg):\n    modelreg.check({later})\n")
    target = module.path / "report.json"
    module.run(f"--modelreg-json={target}")
    (case,) = json.loads(target.read_text(encoding="utf-8"))["cases"]
    checks = [(check["output"], check["limit"], check["source"]) for check in case["checks"]]
    return case["verdict"], checks


@pytest.mark.parametrize(
    ("call", "later", "verdict", "limit", "source"),
    [
        ("0.5", "0.5 * (1 + 9e-6)", "match", 1e-5, "python number default"),
        ("0.5", "0.5 * (1 + 2e-5)", "drift", 1e-5, "python number default"),
        ("[0.1, 0.5]", "[0.1, 0.5000001]", "match", 1e-5, "python number default"),
        ("np.float64(0.5)", "np.float64(0.5000001)", "drift", 1e-10, "dtype default (float64)"),
        (
            "0.5, checks={'rel_l2': 1e-9}",
            "0.5000001, checks={'rel_l2': 1e-9}",
            "drift",
            1e-9,
            "checks.rel_l2",
        ),
    ],
)
def test_bare_floats_of_python_have_the_limit_of_float32(module, call, later, verdict, limit, source):
    """loss.item() is a float64 that was a float32; an array's dtype is what it was computed in."""
    found, checks = limits(module, call, later)
    assert found == verdict
    assert checks == [("output", limit, source)]


SEVERAL = "{'loss': 0.5, 'logits': embed(), 'hidden': (embed(), embed())}"


def test_meaning_of_a_single_output_is_refused_for_several(module):
    """A model output has a loss and hidden states beside its logits."""
    module.write(
        f"def test_it(modelreg):\n    modelreg.check({SEVERAL}, kind='classification', labels=list('abc'))\n"
    )
    module.run().stdout.fnmatch_lines(
        [
            "error: *kind, labels and top_k describe a single output, got loss, logits, hidden.0, hidden.1: "
            'give them in outputs={"loss": {...}}'
        ]
    )


def test_meaning_of_the_one_output_that_there_is(module):
    """Just inside: one output has that meaning whatever its key."""
    module.write(
        "def test_it(modelreg):\n"
        "    modelreg.check({'logits': embed()}, kind='classification', labels=list('abc'))\n"
    )
    module.record()
    summary = module.path / "golden/py/test_m/test_it/output/summary.csv"
    assert summary.read_text(encoding="utf-8").splitlines()[1].startswith("0,c")


def test_name_without_its_keyword_is_told(module):
    """Whoever writes it first gets the line to write."""
    module.write("def test_it(modelreg):\n    modelreg.check(embed(), 'embed')\n")
    module.run().stdout.fnmatch_lines(['*TypeError: *write modelreg.check(values, name="...")'])


def test_fixture_explains_itself(pytester):
    """pytest --fixtures is where people look."""
    result = pytester.runpytest_inprocess("--fixtures")
    result.stdout.fnmatch_lines(
        ["modelreg *", "*modelreg.check(values, [*], name=*", "*modelreg.check(embed(texts), name=*"]
    )
