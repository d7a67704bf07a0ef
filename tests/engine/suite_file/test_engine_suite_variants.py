"""Variants and the matrix of a suite file: which cases they are, and what is said of faulty ones."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.case import RuntimeSpec


def ids(suite):
    """Return the names of a suite's cases."""
    return [case.variant for case in suite.cases]


def test_variants_follow_the_reference_in_the_order_of_the_file(suites):
    """The reference comes first: in a regenerating run the others meet its new golden."""
    suite = suites.extend("variants:\n  z: {batch_size: 1}\n  a: {threads: 2}\n")
    assert ids(suite) == ["reference", "z", "a"]
    assert suite.cases[1].id == "toy[z]"


def test_variant_replaces_only_what_it_names(suites):
    """Everything else is the reference's."""
    suite = suites.extend(
        "  preprocess: data:slow\n  batch_size: 4\n"
        "variants: {onnx: {runtime: {kind: onnx, optimization: all, transform: 'deploy:fuse'}}}\n"
    )
    reference, onnx = (case.template for case in suite.cases)
    assert onnx.runtime == RuntimeSpec(kind="onnx", options={"optimization": "all"}, transform="deploy:fuse")
    assert (onnx.preprocess, onnx.batch_size, onnx.model) == ("data:slow", 4, reference.model)
    assert onnx.axes == {"runtime": {"kind": "onnx", "optimization": "all", "transform": "deploy:fuse"}}
    assert reference.axes == {}


def test_off_goes_without_what_the_reference_has(suites):
    """A file that ships with its preprocessing inside gets the samples as they are."""
    suite = suites.extend("  preprocess: data:slow\nvariants: {raw: {preprocess: off}}\n")
    assert suite.cases[1].template.preprocess is None


def test_variant_may_bring_the_factory_that_its_checkpoint_needs(suites):
    """Another size of a network is another checkpoint and other arguments."""
    suite = suites.extend(
        "variants: {large: {checkpoint: weights/v1.safetensors, model_args: {size: 2}, golden: own}}\n"
    )
    large = suite.cases[1]
    assert large.template.model_args == {"size": 2}
    assert large.keeps_golden
    assert large.golden_variant == "large"


def test_variant_is_judged_against_the_golden_of_the_reference(suites):
    """Unless it says that it has its own."""
    suite = suites.extend("variants: {b: {batch_size: 1}}\n")
    assert suite.cases[1].golden_variant == "reference"
    assert not suite.cases[1].keeps_golden


def test_checkpoint_pattern_is_one_variant_a_file_in_natural_order(suites):
    """epoch-9 was trained before epoch-10."""
    for epoch in (10, 9, 100):
        (suites.path / f"weights/epoch-{epoch}.pt").touch()
    suite = suites.extend("variants: {run: {checkpoint: weights/epoch-*.pt}}\n")
    assert ids(suite)[1:] == ["run-epoch-9", "run-epoch-10", "run-epoch-100"]
    assert suite.cases[1].axes == {"checkpoint": "weights/epoch-9.pt"}
    assert suite.cases[1].template.checkpoint.path.endswith("weights/epoch-9.pt")


def test_files_of_one_name_are_told_apart_by_their_folders(suites):
    """runs/a/best.pt and runs/b/best.pt are two variants."""
    for run in ("a", "b"):
        (suites.path / run).mkdir()
        (suites.path / run / "best.pt").touch()
    suite = suites.extend("variants: {v: {checkpoint: '?/best.pt'}}\n")
    assert ids(suite)[1:] == ["v-a-best", "v-b-best"]


@pytest.mark.parametrize(
    ("files", "pattern", "name"),
    [
        (("w/v1.pt", "w/v1.safetensors"), "w/*", "'v-w-v1'"),
        (("w/V1.pt", "w/v1.safetensors"), "w/*", "'v-w-V1' and 'v-w-v1'"),
        (("a/x/best.pt", "b/x/best.pt"), "*/x/best.pt", "'v-x-best'"),
        (("w/ep 1.pt", "w/ep-1.pt"), "w/*", "'v-w-ep-1'"),
        (("w/caf\u00e9.pt", "w/cafe\u0301.safetensors"), "w/*", "'v-w-caf\u00e9'"),
    ],
    ids=["suffix", "case", "folder", "mark", "accent"],
)
def test_files_of_a_pattern_that_would_share_an_id_are_named(suites, files, pattern, name):
    """One record of two cases would say match for both, and one golden would hold the other's arrays."""
    for file in files:
        (suites.path / file).parent.mkdir(parents=True, exist_ok=True)
        (suites.path / file).touch()
    (fault,) = suites.faults_of_extension(f"variants: {{v: {{checkpoint: '{pattern}'}}}}\n")
    assert f"variants.v: expected names of their own, got {name} for " in fault
    assert all(file in fault for file in files)
    assert "narrow it, or rename a file" in fault


def test_every_file_that_shares_an_id_is_named_once(suites):
    """Three files are one message, and other names are none."""
    for name in ("a.pt", "a.pth", "a.safetensors", "b.pt"):
        (suites.path / name).touch()
    (fault,) = suites.faults_of_extension("variants: {v: {checkpoint: '[ab].*'}}\n")
    assert "a.pt and a.pth and a.safetensors;" in fault
    assert "b.pt" not in fault


def test_a_file_cannot_take_the_name_of_the_reference(suites):
    """Its golden would be the reference's, and its record too."""
    (suites.path / "Reference.pt").touch()
    (fault,) = suites.faults_of_extension("matrix: {checkpoint: ['Ref*.pt']}\n")
    assert "expected another name, got 'Reference', made of {checkpoint: Reference.pt}" in fault


def test_files_that_differ_in_more_than_their_suffix_are_variants(suites):
    """Just inside: two formats side by side, of other names."""
    for name in ("v1.pt", "v2.safetensors"):
        (suites.path / name).touch()
    suite = suites.extend("variants: {v: {checkpoint: 'v?.*'}}\n")
    assert ids(suite)[1:] == ["v-v1", "v-v2"]


def test_matrix_is_the_cross_product_in_the_order_of_the_file(suites):
    """The names of the values, joined, are the id."""
    suite = suites.extend(
        "matrix:\n  preprocess: {fast: 'data:f', slow: 'data:s'}\n  runtime: [eager, onnx]\n"
    )
    assert ids(suite)[1:] == ["fast-eager", "fast-onnx", "slow-eager", "slow-onnx"]
    assert suite.cases[2].axes == {"preprocess": "data:f", "runtime": "onnx"}
    assert suite.cases[2].template.preprocess == "data:f"
    assert suite.cases[2].template.runtime.kind == "onnx"


def test_values_of_a_list_are_named_after_themselves(suites):
    """A function by its name, a number by its digits, a file by its stem."""
    suite = suites.extend(
        "matrix:\n  checkpoint: [weights/v1.safetensors]\n  preprocess: ['data:fast']\n"
        "  batch_size: [1, 32]\n"
    )
    assert ids(suite)[1:] == ["v1-fast-1", "v1-fast-32"]


def test_excluded_combinations_are_left_out(suites):
    """A part of a combination excludes all that have it."""
    suite = suites.extend(
        "matrix:\n  batch_size: [1, 2]\n  threads: [1, 2]\n"
        "  exclude: [{batch_size: 1, threads: 2}, {batch_size: 2}]\n"
    )
    assert ids(suite)[1:] == ["1-1"]


def test_matrix_may_keep_goldens_and_limits_of_its_own(suites):
    """What holds for a variant holds for all combinations."""
    suite = suites.extend("matrix: {batch_size: [1, 2], golden: own, checks: {rel_l2: 1e-3}}\n")
    assert all(case.keeps_golden for case in suite.cases)
    (limit,) = suite.cases[1].checks.default.limits
    assert (limit.value, limit.source) == (1e-3, "matrix.checks.rel_l2")


def test_narrowest_limit_wins(suites):
    """Suite, output, variant, output of the variant: in this order."""
    suite = suites.extend(
        "outputs: {a: {checks: {rel_l2: 2}}, b: {}, c: {checks: {rel_l2: 3}}}\n"
        "checks: {rel_l2: 1, max_abs: 9}\n"
        "variants:\n"
        "  plain: {batch_size: 1}\n"
        "  loose: {batch_size: 2, checks: {rel_l2: 4}, outputs: {c: {checks: {rel_l2: 5}}}}\n"
    )
    values = [
        {path: case.checks.of(path).limits[0].value for path in ("a", "b", "c", "other")}
        for case in suite.cases
    ]
    assert values[0] == values[1] == {"a": 2, "b": 1, "c": 3, "other": 1}
    assert values[2] == {"a": 4, "b": 4, "c": 5, "other": 4}
    assert suite.cases[2].checks.of("c").limits[0].source == "variants.loose.outputs.c.checks.rel_l2"
    assert suite.cases[2].checks.of("c").limits[1].value == 9


def test_variant_may_switch_a_check_off(suites):
    """Another checkpoint gives other numbers: only its decisions are held."""
    suite = suites.extend(
        "outputs: {logits: {kind: classification}}\n"
        "variants: {v2: {checkpoint: weights/v1.safetensors, "
        "checks: {rel_l2: off, top1_agreement: {min: 0.98, tags: {critical: 1.0}}}}}\n"
    )
    checks = suite.cases[1].checks.of("logits")
    assert "rel_l2" in checks.off
    assert checks.limits[0].tags == {"critical": 1.0}


def test_limits_for_a_tag_leave_that_for_all_samples(suites):
    """A stricter limit for a few must not free all the others."""
    suite = suites.extend(
        "checks: {rel_l2: {max: 1, tags: {a: 2}}}\n"
        "variants: {v: {batch_size: 1, checks: {rel_l2: {tags: {b: 3}}}}}\n"
    )
    (limit,) = suite.cases[1].checks.default.limits
    assert (limit.value, limit.tags) == (1, {"a": 2, "b": 3})


def test_limits_by_pattern_reach_outputs_that_the_suite_names(suites):
    """A variant's pattern narrows the limits of every declared output that it stands for."""
    suite = suites.extend(
        "outputs: {heads.0: {}, heads.1: {checks: {rel_l2: 1}}}\n"
        "variants: {v: {batch_size: 1, outputs: {'heads.*': {checks: {rel_l2: 7}}}}}\n"
    )
    checks = suite.cases[1].checks
    assert [checks.of(path).limits[0].value for path in ("heads.0", "heads.1", "heads.2")] == [7, 7, 7]


def test_declared_dtypes_allow_outputs_of_another_one(suites):
    """So does a transform: a quantised model answers in what it computes in."""
    suite = suites.extend(
        "variants:\n  half: {dtype: float16}\n  mixed: {autocast: bfloat16}\n"
        "  int8: {runtime: {kind: eager, transform: 'd:q'}}\n  one: {batch_size: 1}\n"
    )
    assert [case.allows_other_dtype for case in suite.cases] == [False, True, True, True, False]
    assert [case.compute_dtypes for case in suite.cases] == [(), ("float16",), ("bfloat16",), (), ()]


def test_model_is_not_asked_for_where_the_runtime_brings_it(suites):
    """An artefact that ships is a reference of its own."""
    (suites.path / "model.onnx").touch()
    suite = suites.load(
        "modelreg: 1\nsuite: toy\nsamples: {folder: samples, loader: json}\n"
        "reference: {runtime: {kind: onnx-file, path: model.onnx}}\n"
    )
    assert suite.cases[0].template.model is None
    assert suite.model == "onnx-file"


FAULTS = [
    ("matrix: {threads: [1], exclude: [{threads: 1}]}", "matrix.exclude: expected at least one combination"),
    ("variants: {v: {}}", "variants.v: expected at least one axis that differs from the reference"),
    (
        "variants: {v: {golden: own}}",
        "variants.v: expected at least one axis that differs from the reference",
    ),
    ("variants: {v: ~}", "variants.v: expected a mapping, got nothing"),
    ("variants: {'a=b': {threads: 1}}", "variants.a=b: expected a name of letters, digits"),
    ("variants: {reference: {threads: 1}}", "variants.reference: expected another name, got 'reference'"),
    ("variants: {v: {batchsize: 1}}", "did you mean batch_size?"),
    ("variants: {v: {batch_size: 0}}", "variants.v.batch_size: expected at least 1, got 0"),
    ("variants: {v: {dtype: half}}", "variants.v.dtype: expected one of float64, float32, float16, bfloat16"),
    ("variants: {v: {memory_format: nhwc}}", "variants.v.memory_format: expected one of contiguous,"),
    ("variants: {v: {device: gpu}}", "variants.v.device: expected cpu, cuda or cuda:N, got 'gpu'"),
    ("variants: {v: {golden: mine, threads: 1}}", "variants.v.golden: expected own, got 'mine'"),
    ("variants: {v: {checkpoint: 'weights/x*.pt'}}", "variants.v.checkpoint: expected at least one file of"),
    ("variants: {v: {environment: {}}}", "variants.v.environment: expected at least one of python, requirem"),
    ("variants: {v: {environment: {preprocess: here}}}", "variants.v.environment: expected at least one of"),
    ("variants: {v: {environment: {pyton: x}}}", "did you mean python?"),
    ("variants: {v: {environment: {revision: 1234567}}}", 'expected a revision in quotes, such as "1234567"'),
    ("variants: {v: {environment: {variables: {A: true}}}}", 'write "true" in quotes'),
    ("variants: {v: {environment: {variables: {'A=B': 1}}}}", "expected the name of an environment variable"),
    (
        "variants: {v: {environment: {python: x, preprocess: hier}}}",
        "expected one of there, here, got 'hier'",
    ),
    ("variants: {v: {environment: {python: x, time_limit_s: 0}}}", "environment.time_limit_s: expected more"),
    ("variants: {v: {environment: {revision: x, python: }}}", "environment.python: expected a value, got"),
    ("matrix: {environment: [{python: x}]}", "write them as {NAME: VALUE}"),
    ("variants: {v: {threads: 1, checks: {rel_l2: off}}}", "variants.v.checks: expected at least one check"),
    ("variants: {v: {threads: 1, checks: {top1_agreement: 1}}}", "expected an output of kind classification"),
    (
        "outputs: {a: {}}\nvariants: {v: {threads: 1, outputs: {aa: {checks: {rel_l2: 1}}}}}",
        "variants.v.outputs.aa: expected an output that the suite declares, got 'aa' (did you mean a?)",
    ),
    (
        "variants: {A: {threads: 1}, a: {threads: 2}}",
        "variants.a: expected names of their own, got 'a' also from",
    ),
    ("matrix: {}", "matrix: expected at least one axis"),
    (
        "matrix: {threads: 1}",
        "matrix.threads: expected a list of values, or a mapping of name to value, got 1",
    ),
    ("matrix: {threads: []}", "matrix.threads: expected at least one value, got an empty list"),
    ("matrix: {threads: [1, 1]}", "matrix.threads: expected values with names of their own, got '1' twice"),
    ("matrix: {threads: [1, x]}", "matrix.threads[1]: expected a whole number, got 'x'"),
    ("matrix: {runtime: [eager, onxn]}", "matrix.runtime[1]: expected one of"),
    (
        "matrix: {threads: [1, 2], exclude: [{thread: 1}]}",
        "matrix.exclude[0]: expected an axis of the matrix",
    ),
    (
        "matrix: {threads: [1, 2], exclude: [{threads: 3}]}",
        "matrix.exclude[0]: threads: expected one of 1, 2",
    ),
    ("matrix: {threads: {a: 1, b: 2}, exclude: [{}]}", "matrix.exclude[0]: expected axes and the names"),
    (
        "variants: {v: {threads: 1, marks: slow}}",
        "variants.v.marks: expected a list, got 'slow' (did you mean [slow]?)",
    ),
    (
        "variants: {v: {environment: {requirements: torch}}}",
        "variants.v.environment.requirements: expected a list, got 'torch' (did you mean [torch]?)",
    ),
    (
        "matrix: {preprocess: {a: 'd:f', a-b: 'd:g'}, runtime: {b-c: eager, c: onnx}}",
        "got 'a-b-c' for {preprocess: d:f, runtime: eager} and {preprocess: d:g, runtime: onnx}",
    ),
    (
        "matrix: {batch_size: {a: 1}}\nvariants: {a: {threads: 1}}",
        "matrix: expected names of their own, got 'a'",
    ),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faulty_variants_are_named_with_their_place(suites, text, message):
    """Each planted fault is one line: where it is, what was expected, what was got."""
    faults = suites.faults_of_extension(text + "\n")
    assert len(faults) == 1, faults
    assert message in faults[0]


def test_too_large_a_matrix_is_refused(suites):
    """Nobody means a thousand cases; a pattern that matches more than was thought is told early."""
    numbers = ", ".join(map(str, range(1, 31)))
    (fault,) = suites.faults_of_extension(f"matrix: {{batch_size: [{numbers}], threads: [{numbers}]}}\n")
    assert "expected at most 500 combinations, got 900" in fault


def test_an_environment_becomes_plain_values(suites):
    """Paths are the suite file's, a bare name is PATH's; numbers are text, null unsets."""
    suite = suites.load(
        suites.suite
        + "variants:\n"
        + "  path: {environment: {python: envs/other/bin/python, preprocess: here, time_limit_s: 60}}\n"
        + "  name: {environment: {python: python3.11, requirements: [torch==2.13.0, numpy]}}\n"
        + "  vars: {environment: {variables: {A: 1, B: x, C: null}, revision: origin/main}}\n"
    )
    path, name, variables = (case.template.environment for case in suite.cases[1:])
    assert path is not None
    assert name is not None
    assert variables is not None
    assert path.python == str(suite.root / "envs/other/bin/python")
    assert (path.preprocess, path.time_limit_s) == ("here", 60.0)
    assert (name.python, name.requirements) == ("python3.11", ("torch==2.13.0", "numpy"))
    assert variables.variables == {"A": "1", "B": "x", "C": None}
    assert variables.revision == "origin/main"
    assert suite.cases[0].template.environment is None


def test_environments_of_a_matrix_have_names(suites):
    """Each value under its own."""
    suite = suites.load(
        suites.suite
        + "matrix:\n  environment: {old: {requirements: [torch==2.13.0]}, here: {variables: {A: 1}}}\n"
    )
    assert [case.variant for case in suite.cases] == ["reference", "old", "here"]
