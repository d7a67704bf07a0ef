"""xdist: workers change order and time, nothing else; a run that lost something says so."""

from __future__ import annotations

import json
import os

import pytest

PYTHON_TESTS = """
import numpy as np
import pytest

VALUES = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_scaled(modelreg, scale):
    modelreg.check(VALUES * scale, name="small")
    modelreg.check(VALUES * scale * 100, name="large")


class TestGrouped:
    @pytest.mark.xdist_group("apart")
    def test_in_a_group(self, modelreg):
        modelreg.check(VALUES + 1)


def test_plain():
    pass
"""

TORCH_MODEL = """
import torch


def build(scale=1.0):
    torch.manual_seed(0)
    return torch.nn.Linear(3, 4)
"""

TORCH_DATA = """
import torch


def prepare(sample):
    return torch.tensor(sample, dtype=torch.float32)
"""

MORE_TESTS = """
import pytest


@pytest.mark.skip(reason="later")
def test_skipped(modelreg):
    pass


@pytest.mark.xfail(strict=True, raises=RuntimeError)
def test_xfail(modelreg):
    raise RuntimeError


def test_error(modelreg):
    raise RuntimeError("no such thing")
"""

SUITE_IDS = [f"{name}[reference]" for name in ("alpha", "beta", "toy")]


def add_suites(project) -> None:
    """Give the project three suites in all and a file of Python tests."""
    text = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    for name in ("alpha", "beta"):
        project.write(f"{name}.modelreg.yaml", text.replace("suite: toy", f"suite: {name}"))
    project.write("test_values.py", PYTHON_TESTS)


def run(project, *arguments: str, code: int | None = 0) -> tuple[dict, pytest.RunResult]:
    """Run in a process of its own; return the report and what was printed."""
    target = project.path / "report.json"
    target.unlink(missing_ok=True)
    result = project.pytester.runpytest_subprocess("--modelreg", f"--modelreg-json={target}", *arguments)
    if code is not None:
        assert result.ret == code, result.stdout.str()
    return json.loads(target.read_text(encoding="utf-8")), result


def without_time(report: dict) -> dict:
    """Return a report without what differs between any two runs."""
    run_facts = {key: report["run"][key] for key in ("git", "partial")}
    cases = [{**case, "duration_s": None} for case in report["cases"]]
    return {**report, "run": run_facts, "cases": cases}


def list_files(project) -> set[str]:
    """Return every file of the project but the run folder's and the caches that Python and pytest keep."""
    own = {".modelreg", "__pycache__", ".pytest_cache"}
    paths = (path.relative_to(project.path) for path in project.path.rglob("*"))
    return {
        path.as_posix()
        for path in paths
        if not own & set(path.parts) and not path.parts[0].startswith("runpytest-")  # pytester's own
    }


@pytest.fixture
def three_suites(project):
    """A recorded project of three suites and Python tests, one suite drifting."""
    add_suites(project)
    project.record()
    project.edit("beta.modelreg.yaml", "batch_size: 4", "batch_size: 4\n  model_args: {scale: 1.2}")
    return project


@pytest.mark.parametrize("workers", ["0", "1", "2"])
def test_reports_are_equal_however_many_workers(three_suites, workers, monkeypatch):
    """E4: the same records in the same order, and nothing left beside the run folder."""
    temporary = three_suites.path / "temporary"
    temporary.mkdir()
    alone, _ = run(three_suites, "-p", "no:xdist", code=1)
    before = list_files(three_suites)
    monkeypatch.setenv("TMPDIR", str(temporary))
    report, result = run(three_suites, "-n", workers, code=1)
    assert without_time(report) == without_time(alone)
    assert list_files(three_suites) == before
    assert not list(temporary.iterdir())
    assert result.stdout.str().count("1 drift") == 1
    assert len(report["cases"]) == 3 + 2 * 3 + 1


@pytest.mark.parametrize(
    "dist",
    [
        "loadgroup",
        *(pytest.param(name, marks=pytest.mark.full) for name in ("loadfile", "loadscope", "worksteal")),
    ],
)
def test_every_way_of_distributing_gives_the_same_records(three_suites, dist):
    """Case ids carry no @group, records stand in the order of collection."""
    alone, _ = run(three_suites, "-p", "no:xdist", code=1)
    report, _ = run(three_suites, "-n", "2", "--dist", dist, code=1)
    assert without_time(report)["cases"] == without_time(alone)["cases"]
    assert report["run"]["partial"] is False
    assert not any("@" in case["id"] for case in report["cases"])


def test_records_stand_in_the_order_of_collection(three_suites):
    """Suites by file name, then Python tests, checks in the order of the test."""
    report, _ = run(three_suites, "-n", "2", code=1)
    ids = [case["id"] for case in report["cases"]]
    assert ids[:3] == SUITE_IDS
    assert ids[3:5] == [
        "py[test_values.py::test_scaled[1]::small]",
        "py[test_values.py::test_scaled[1]::large]",
    ]
    assert ids[-1] == "py[test_values.py::TestGrouped::test_in_a_group::output]"


@pytest.mark.parametrize("workers", ["0", "1", "2"])
def test_goldens_recorded_by_workers_are_those_of_one_process(project, workers):
    """Recording in parallel writes every golden once and whole."""
    add_suites(project)
    project.pin()
    run(project, "-n", workers, "--dist", "loadgroup", "--modelreg-regen=missing")
    report, _ = run(project, "-p", "no:xdist")
    assert {case["verdict"] for case in report["cases"]} == {"match"}
    assert not [name for name in list_files(project) if name.endswith((".tmp", ".lock"))]


class TestRegeneratedReference:
    """A variant is held against the golden that its reference leaves, never against whichever is there."""

    @pytest.fixture
    def moved(self, project):
        """A suite with four variants of its reference, recorded, and then changed; a test beside it."""
        variants = ", ".join(f"b{size}: {{batch_size: {size}}}" for size in (1, 2, 3, 5))
        project.edit("modelreg.yaml", "outputs:", f"variants: {{{variants}}}\noutputs:")
        project.write("test_plain.py", "def test_plain():\n    pass\n")
        project.record()
        project.edit("modelreg.yaml", "batch_size: 4", "batch_size: 4\n  model_args: {scale: 1.2}")
        return project

    @pytest.mark.parametrize(
        "workers",
        [("-n", "1"), ("-n", "2"), ("-n", "2", "--dist", "loadgroup"), ("-n", "3", "--dist=loadfile")],
    )
    def test_variants_are_judged_after_it(self, moved, workers):
        """In one worker as in one process, also where xdist by itself would spread them."""
        flags = ("--modelreg-regen=changed", "--modelreg-reason=scaled")
        report, _ = run(moved, *flags, *workers)
        verdicts = {case["variant"]: case["verdict"] for case in report["cases"]}
        assert verdicts == {"reference": "recorded"} | dict.fromkeys(("b1", "b2", "b3", "b5"), "match")
        assert report["run"]["partial"] is False

    def test_variants_in_another_worker_are_skipped_with_the_reason(self, moved):
        """A scheduler of the project's own spreads the suite; no variant is judged against chance."""
        moved.write(
            "conftest.py",
            "from xdist.scheduler import LoadScheduling\n\n\nclass Own(LoadScheduling):\n    pass\n\n\n"
            "def pytest_xdist_make_scheduler(config, log):\n    return Own(config, log)\n",
        )
        report, _ = run(moved, "--modelreg-regen=changed", "--modelreg-reason=scaled", "-n", "2")
        skipped = [case for case in report["cases"] if case["verdict"] == "skipped"]
        assert skipped
        assert all("in the same worker" in case["message"] for case in skipped)
        assert {case["verdict"] for case in report["cases"]} <= {"recorded", "match", "skipped"}

    def test_variants_alone_are_judged_wherever_they_run(self, moved):
        """Without the reference in the run nobody replaces its golden."""
        report, _ = run(moved, "--modelreg-regen=missing", "-n", "2", "-k", "b1 or b2 or b3 or b5", code=1)
        assert {case["verdict"] for case in report["cases"]} == {"drift"}


def test_suite_is_a_group(three_suites):
    """What a suite's cases share is prepared in one worker: xdist's own groups need ids ending in @."""
    variants = "variants: {b1: {batch_size: 1}, b2: {batch_size: 2}, b3: {batch_size: 3}}"
    three_suites.edit("alpha.modelreg.yaml", "outputs:", f"{variants}\noutputs:")
    _, result = run(three_suites, "-n", "2", "--dist", "loadgroup", "-v", code=1)
    workers = {line.split("]")[0] for line in result.outlines if "] " in line and "PASSED alpha" in line}
    assert len(workers) == 1, result.stdout.str()


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(
    ("flags", "variable", "words"),
    [
        (("--modelreg-regen=changed",), "", "--modelreg-reason"),
        (("--modelreg-regen=missing",), "true", "CI=true"),
        (("--modelreg-json=golden/report.json",), "", "choose another path"),
        (("--modelreg-run-dir=samples",), "", "choose another path"),
    ],
)
def test_usage_errors_exit_with_4_before_a_worker_starts(
    recorded, monkeypatch, workers, flags, variable, words
):
    """The controller refuses, in words, and nothing is written."""
    if variable:
        monkeypatch.setenv("CI", variable)
    before = recorded.golden_bytes() | recorded.golden_bytes("samples")
    result = recorded.pytester.runpytest_subprocess("--modelreg", "-n", workers, *flags)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert words in result.stderr.str()
    assert "Traceback" not in result.stderr.str()
    assert recorded.golden_bytes() | recorded.golden_bytes("samples") == before


@pytest.mark.parametrize("workers", ["0", "1", "2"])
def test_faulty_suite_exits_with_4(recorded, workers):
    """A fault of one file stops all workers' work before it starts."""
    recorded.edit("modelreg.yaml", "batch_size: 4", "batch_sise: 4")
    result = recorded.pytester.runpytest_subprocess("--modelreg", "-n", workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*modelreg.yaml:8: *did you mean batch_size?*"])


class TestThreads:
    """Threads are divided between workers and on record."""

    @pytest.fixture
    def torch_project(self, project, monkeypatch):
        """A project whose suite runs torch, and a test that sees torch's threads afterwards."""
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
        project.write("toymodel.py", TORCH_MODEL)
        project.write("toydata.py", TORCH_DATA)
        project.write(
            "conftest.py",
            "import torch\n\nBEFORE = torch.get_num_threads()\n\n\n"
            "def pytest_sessionfinish(session):\n    assert torch.get_num_threads() == BEFORE\n",
        )
        project.pin()
        run(project, "-n", "0", "--modelreg-regen=missing")
        return project

    def test_share_of_a_worker_is_on_record(self, torch_project):
        """Two workers do not each start a thread a core; the number is in the report."""
        report, _ = run(torch_project, "-n", "2")
        n_cores = len(os.sched_getaffinity(0))
        assert report["environment"]["torch.num_threads"] == max(1, n_cores // 2)

    @pytest.mark.full
    def test_number_that_the_user_set_is_what_is_divided(self, torch_project, monkeypatch):
        """OMP_NUM_THREADS is torch's own default, so it is divided like it."""
        monkeypatch.setenv("OMP_NUM_THREADS", "6")
        report, _ = run(torch_project, "-n", "2")
        assert report["environment"]["torch.num_threads"] == 3

    @pytest.mark.full
    def test_single_worker_has_all_of_them(self, torch_project):
        """One worker runs as the process alone does: the same report."""
        alone, _ = run(torch_project, "-n", "0")
        report, _ = run(torch_project, "-n", "1")
        assert without_time(report) == without_time(alone)

    @pytest.mark.full
    def test_suite_that_sets_threads_gets_the_same_bits(self, torch_project):
        """A suite with a number of its own does not depend on how many workers run."""
        torch_project.edit("modelreg.yaml", "batch_size: 4", "batch_size: 4\n  threads: 1")
        run(torch_project, "-n", "0", "--modelreg-regen=all", "--modelreg-reason=threads")
        alone, _ = run(torch_project, "-n", "0")
        report, _ = run(torch_project, "-n", "2")
        assert without_time(report) == without_time(alone)


class TestLostWorker:
    """A worker that dies makes the run partial, never green and never a missing case."""

    def test_case_that_kills_its_worker_has_a_record(self, three_suites):
        """The case is an error with a reason; the others ran."""
        three_suites.write("killer.py", "import os\n\n\ndef build():\n    os._exit(3)\n")
        three_suites.edit("beta.modelreg.yaml", "toymodel:build", "killer:build")
        three_suites.edit("beta.modelreg.yaml", "\n  model_args: {scale: 1.2}", "")
        report, result = run(three_suites, "-n", "2", code=1)
        verdicts = {case["id"]: case["verdict"] for case in report["cases"]}
        assert report["run"]["partial"] is True
        assert verdicts["beta[reference]"] == "error"
        assert [verdicts[case] for case in ("alpha[reference]", "toy[reference]")] == ["match", "match"]
        lost = next(case for case in report["cases"] if case["id"] == "beta[reference]")
        assert "ended without an answer" in lost["message"]
        assert list(lost) == list(report["cases"][0])
        result.stdout.fnmatch_lines(["partial run: worker gw? crashed*"])

    def test_other_test_that_kills_its_worker_makes_the_run_partial(self, three_suites):
        """What a worker took with it is not known to be whole."""
        three_suites.edit("beta.modelreg.yaml", "\n  model_args: {scale: 1.2}", "")
        three_suites.write("test_z.py", "import os\n\n\ndef test_exit():\n    os._exit(0)\n")
        report, _ = run(three_suites, "-n", "2", code=1)
        assert report["run"]["partial"] is True
        assert {case["verdict"] for case in report["cases"]} == {"match"}

    @pytest.mark.parametrize(
        ("workers", "where"),
        [
            (("-n", "2", "--max-worker-restart=0"), "call"),
            (("-n", "1", "--max-worker-restart=0"), "call"),
            (("-n", "2"), "setup"),
            (("-n", "2", "--dist", "loadgroup"), "grouped"),
        ],
    )
    def test_python_test_that_kills_its_worker_has_a_record(self, project, workers, where):
        """Its checks cannot be known; the run fails and is partial, and the test is named."""
        (project.path / "modelreg.yaml").unlink()
        bodies = {
            "call": "def test_exit(modelreg):\n    os._exit(0)\n",
            "setup": "@pytest.fixture\ndef dead():\n    os._exit(0)\n\n\n"
            "def test_exit(dead, modelreg):\n    pass\n",
            "grouped": "@pytest.mark.xdist_group('g')\ndef test_exit(modelreg):\n    os._exit(0)\n",
        }
        project.write("test_z.py", f"import os\nimport pytest\n\n\n{bodies[where]}")
        report, result = run(project, *workers, code=None)
        assert result.ret != 0
        assert report["run"]["partial"] is True
        (case,) = report["cases"]
        assert (case["id"], case["verdict"]) == ("py[test_z.py::test_exit]", "error")
        assert "ended without an answer" in case["message"]


class TestPartial:
    """A report of some cases must not read as one of all."""

    @pytest.mark.parametrize("workers", [("-p", "no:xdist"), ("-n", "2")])
    def test_whole_run_is_not_partial(self, project, workers):
        """Python tests beside suites, skipped and expected to fail, are no reason to call a run partial."""
        add_suites(project)
        project.write(
            "test_more.py",
            MORE_TESTS,
        )
        project.pin()
        run(project, "-p", "no:xdist", "--modelreg-regen=missing", code=1)
        report, _ = run(project, *workers, code=1)
        assert report["run"]["partial"] is False
        found = {case["id"]: (case["verdict"], case["message"]) for case in report["cases"]}
        assert found["py[test_more.py::test_skipped]"] == ("skipped", "skipped: later")
        assert found["py[test_more.py::test_xfail]"][0] == "skipped"
        assert found["py[test_more.py::test_error]"] == (
            "error",
            "it ended before anything was observed: RuntimeError: no such thing",
        )

    @pytest.mark.parametrize(
        "workers", [("-p", "no:xdist"), pytest.param(("-n", "2"), marks=pytest.mark.full)]
    )
    @pytest.mark.parametrize(
        "selection",
        [
            ("-k", "alpha"),
            ("-m", "modelreg"),
            ("alpha.modelreg.yaml::alpha[reference]",),
            ("--lf",),
            ("--deselect", "test_values.py::test_plain"),
            ("-x",),
            ("--maxfail=1",),
        ],
        ids=lambda selection: selection[0],
    )
    def test_selection_makes_a_run_partial(self, three_suites, workers, selection):
        """D3: whatever keeps a case from running, in one process and with workers."""
        run(three_suites, "-p", "no:xdist", code=1)  # something for --lf
        report, _ = run(three_suites, *workers, *selection, code=None)
        assert report["run"]["partial"] is True

    @pytest.mark.parametrize("workers", [("-p", "no:xdist"), ("-n", "2")])
    @pytest.mark.parametrize("announced", [True, False])
    def test_plugin_that_takes_tests_out_makes_a_run_partial(self, three_suites, workers, announced):
        """A shard plugin shortens the list of tests, with or without saying so."""
        three_suites.write(
            "conftest.py",
            "def pytest_collection_modifyitems(config, items):\n    gone, items[:] = items[4:], items[:4]\n"
            + ("    config.hook.pytest_deselected(items=gone)\n" if announced else ""),
        )
        report, result = run(three_suites, *workers, code=1)
        assert report["run"]["partial"] is True
        result.stdout.fnmatch_lines(["partial run: 4 deselected"])

    @pytest.mark.parametrize("workers", [("-p", "no:xdist"), ("-n", "2")])
    def test_file_that_cannot_be_collected_makes_a_run_partial(self, three_suites, workers):
        """Its tests are unknown."""
        three_suites.write("test_broken.py", "raise RuntimeError\n")
        report, _ = run(three_suites, *workers, "--continue-on-collection-errors", code=1)
        assert report["run"]["partial"] is True

    @pytest.mark.parametrize("workers", [("-p", "no:xdist"), ("-n", "2")])
    def test_interrupted_run_is_partial(self, three_suites, workers):
        """Ctrl-C in a test ends the run; the report says that it is not whole."""
        three_suites.write("test_a.py", "def test_interrupt():\n    raise KeyboardInterrupt\n")
        report, _ = run(three_suites, *workers, code=2)
        assert report["run"]["partial"] is True

    def test_path_argument_is_a_run_of_its_own(self, three_suites):
        """A file or folder as an argument says what the whole is."""
        report, _ = run(three_suites, "alpha.modelreg.yaml")
        assert report["run"]["partial"] is False


def test_every_case_skipped_fails(project):
    """DESIGN 3: a run that compared nothing is not green, whoever skipped the cases."""
    project.record()
    project.write(
        "conftest.py",
        "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
        "        item.add_marker(pytest.mark.skip(reason='not here'))\n",
    )
    report, result = run(project, code=1)
    result.stdout.fnmatch_lines(["error: every case was skipped*"])
    assert [(case["verdict"], case["message"]) for case in report["cases"]] == [
        ("skipped", "skipped: not here")
    ]
