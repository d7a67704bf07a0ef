"""Cases observed in another process: the same facts, and every way in which a process can fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import types
from dataclasses import replace

import numpy as np
import pytest

from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.errors import (
    CaseSkipped,
    EnvironmentUnavailable,
    ImportReferenceError,
    ModelError,
    PreprocessError,
)
from pytest_modelreg.domain.trace import TraceRequest
from pytest_modelreg.observe import (
    Elsewhere,
    observe_elsewhere,
    observe_trace,
    prepare_inputs,
    trace_elsewhere,
    worker_process,
)
from pytest_modelreg.observe.worker import list_modules_of
from pytest_modelreg.store import open_output
from pytest_modelreg.store.trace_codec import trace_fields

MODEL = """
    import os
    import numpy as np

    def build(scale=2.0):
        return lambda x: np.asarray(x) * scale * float(os.environ.get("SCALE", 1))
"""

PREPARE = """
    def prepare(array):
        return array + 1
"""


def elsewhere(**changes) -> Elsewhere:
    """Return this interpreter, in another process."""
    return Elsewhere(**{"description": "another process", "time_limit_s": 120.0, **changes})


@pytest.fixture
def toy(case_folder):
    """Three arrays, a preprocess and a callable without torch."""
    case_folder.write("model.py", MODEL)
    case_folder.write("data.py", PREPARE)
    case_folder.add_arrays([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
    return case_folder


def rows_of(folder, observation):
    """Return the rows of the only output."""
    stored = open_output(folder, next(iter(observation.outputs.values())))
    return [np.array(stored.row(index)) for index in range(stored.n_rows)]


def test_another_process_observes_the_same(toy, tmp_path):
    """Samples, outputs and input digests are those of this process; nothing but arrays is left."""
    here = toy.observe(preprocess="data:prepare")
    spec = toy.spec(preprocess="data:prepare")
    seen = []
    there = observe_elsewhere(
        spec, tmp_path / "there", elsewhere(), progress=lambda done, total: seen.append((done, total))
    )
    assert there.samples == here.samples
    assert there.outputs == here.outputs
    assert [row.tolist() for row in rows_of(tmp_path / "there", there)] == [[4, 6], [8, 10], [12, 14]]
    assert seen == [(2, 3), (3, 3)]
    names = [path.name for path in (tmp_path / "there").iterdir()]
    assert all(name.startswith("outputs.") for name in names)


def test_variables_are_set_and_unset_there_alone(toy, tmp_path, monkeypatch):
    """The planted variable moves the numbers there; here it is as it was."""
    monkeypatch.setenv("GONE", "1")
    spec = toy.spec(environment=EnvironmentSpec(variables={"SCALE": "10"}))
    there = observe_elsewhere(spec, tmp_path / "t", elsewhere(variables={"SCALE": "10", "GONE": None}))
    assert rows_of(tmp_path / "t", there)[0].tolist() == [20, 40]
    assert "SCALE" not in os.environ
    assert os.environ["GONE"] == "1"


def test_probes_are_made_when_they_are_asked_for(toy, tmp_path):
    """A golden can be recorded from there."""
    there = observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere(), probes=True)
    assert there.input_probes is not None
    assert observe_elsewhere(toy.spec(), tmp_path / "u", elsewhere()).input_probes is None


def test_handed_inputs_need_no_preprocess_there(toy, tmp_path):
    """What was prepared here is what the model gets there, and its facts are those of here."""
    toy.write(
        "data.py", PREPARE + "    print('prepared in', __import__('os').getpid())\n    stages = [prepare]\n"
    )
    spec = toy.spec(preprocess="data:stages")
    here = toy.observe(preprocess="data:stages")
    handed = prepare_inputs(spec, tmp_path / "kept", to_tensors=False)
    toy.write("data.py", "raise ImportError('not there')")
    there = observe_elsewhere(spec, tmp_path / "t", elsewhere(), handed=handed)
    assert there.samples == here.samples
    assert there.outputs == here.outputs
    assert there.stages == here.stages
    assert [stage.name for stage in there.stages] == ["prepare"]


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ("raise RuntimeError('boom')", ModelError, "boom"),
        ("import no_such_package", ModelError, "No module named 'no_such_package'"),
    ],
)
def test_errors_of_user_code_arrive_as_they_are(toy, tmp_path, model, error, message):
    """Class, message and the user's own frames."""
    toy.write("model.py", f"def build():\n    {model}\n")
    with pytest.raises(error, match=message) as caught:
        observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere())
    assert 'model.py", line 2' in str(caught.value)


def test_a_module_that_is_missing_there_is_named(toy, tmp_path):
    """As an import reference, with the suite's folder."""
    with pytest.raises(ImportReferenceError, match="no module 'nowhere'"):
        observe_elsewhere(toy.spec(model="nowhere:build"), tmp_path / "t", elsewhere())


def test_a_skipped_case_is_skipped_there_too(toy, tmp_path):
    """No such device is no error, wherever it is missing."""
    toy.write("model.py", "import torch\ndef build():\n    return torch.nn.Linear(2, 2).double()\n")
    with pytest.raises(CaseSkipped):
        observe_elsewhere(toy.spec(device="cuda:7"), tmp_path / "t", elsewhere())


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import os; os.abort()", "was killed by SIGABRT"),
        ("import ctypes; ctypes.string_at(0)", "was killed by SIGSEGV"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "memory runs out"),
        ("import os; os._exit(3)", "ended with exit code 3"),
    ],
)
def test_a_process_that_dies_is_told_with_its_last_words(toy, tmp_path, code, told):
    """How it ended, and what it printed, which is where the reason stands, and where it stood."""
    toy.write("model.py", f"def build():\n    print('last words', flush=True)\n    {code}\n")
    with pytest.raises(EnvironmentUnavailable, match=told) as caught:
        observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere())
    assert "last words" in str(caught.value)
    if "SIGABRT" in told:
        assert 'model.py", line 3 in build' in str(caught.value)
    assert not list((tmp_path / "t").iterdir())


def test_a_model_that_interrupts_is_no_request_to_end(toy, tmp_path):
    """What it raised is told with its place."""
    toy.write("model.py", "def build():\n    raise KeyboardInterrupt('of the model')\n")
    with pytest.raises(
        EnvironmentUnavailable, match=r'model.py", line 2(.|\n)*KeyboardInterrupt: of the model'
    ):
        observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere())


def test_an_answer_that_cannot_be_written_is_told_in_words(toy, tmp_path):
    """The disk is full there: what went wrong is said, and nothing of this package's own frames."""
    toy.write(
        "model.py",
        """
        from pytest_modelreg.store import job_file
        def refuse(path, data):
            raise OSError(28, "No space left on device")
        def build():
            job_file.replace_atomically = refuse
            raise RuntimeError("boom")
        """,
    )
    with pytest.raises(EnvironmentUnavailable, match="boom") as caught:
        observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere())
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("system", ["linux", "another one"])
def test_a_process_that_never_answers_is_ended(toy, tmp_path, monkeypatch, system):
    """With everything that it started, once its time is over; also where there is no warden."""
    bootstrap = worker_process.BOOTSTRAP.replace('"linux"', f'"{system}"')
    monkeypatch.setattr(worker_process, "BOOTSTRAP", bootstrap)
    toy.write(
        "model.py",
        """
        import pathlib, subprocess, sys, time
        def build():
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            pathlib.Path("PIDS").write_text(str(child.pid))
            print("hanging now", flush=True)
            time.sleep(600)
        """.replace("PIDS", str(tmp_path / "pids")),
    )
    started = time.monotonic()
    with pytest.raises(EnvironmentUnavailable, match=r"no answer within 8 s; it was ended(.|\n)*hanging now"):
        observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere(time_limit_s=8.0))
    assert time.monotonic() - started < 60
    assert not is_alive(int((tmp_path / "pids").read_text()))


def test_a_thread_that_never_ends_does_not_hide_the_answer(toy, tmp_path, monkeypatch):
    """The interpreter waits for it at its end, for ever; what was asked is answered by then."""
    monkeypatch.setattr(worker_process, "_LEAVING_S", 0.5)
    toy.write(
        "model.py",
        MODEL + "    import threading, time\n    threading.Thread(target=lambda: time.sleep(600)).start()\n",
    )
    there = observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere(time_limit_s=60.0))
    assert rows_of(tmp_path / "t", there)[0].tolist() == [2, 4]


def test_a_crash_after_the_answer_changes_nothing(toy, tmp_path):
    """Libraries crash when they are unloaded: what they computed was written before."""
    toy.write("model.py", MODEL + "    import atexit\n    atexit.register(os.abort)\n")
    there = observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere())
    assert rows_of(tmp_path / "t", there)[0].tolist() == [2, 4]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits for its parent's attention does not."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_ends_with_whoever_started_it(toy, tmp_path):
    """Killed outright, a parent can end nobody: the worker notices, and ends what it started too."""
    toy.write(
        "model.py",
        f"""
        import os, pathlib, subprocess, sys, time
        def build():
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            pathlib.Path({str(tmp_path / "pid")!r}).write_text(f"{{os.getpid()}} {{child.pid}}")
            time.sleep(600)
        """,
    )
    spec = toy.spec()
    code = f"""
import sys
from pathlib import Path
from pytest_modelreg.observe import Elsewhere, observe_elsewhere
from pytest_modelreg.store.job_file import read_job
job = read_job(Path({str(tmp_path / "spec.json")!r}))
observe_elsewhere(job.spec, Path({str(tmp_path / "t")!r}), Elsewhere(description="d", time_limit_s=600.0))
"""
    from pytest_modelreg.store.job_file import Job, write_job

    write_job(tmp_path / "spec.json", Job(spec=spec, folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline, "the worker never began"
        time.sleep(0.1)
    pids = [int(word) for word in (tmp_path / "pid").read_text().split()]
    parent.kill()
    parent.wait()
    while any(map(is_alive, pids)):
        assert time.monotonic() < deadline, "the worker outlived its parent"
        time.sleep(0.1)


def test_an_import_that_prints_disturbs_nothing(toy, tmp_path):
    """Standard output belongs to the progress; prints, also of C code, go elsewhere."""
    toy.write(
        "model.py",
        "import os\nprint('[9, 9]')\nos.write(1, b'raw\\n')\n"
        + "\n".join(MODEL.replace("    ", "", 1).split("\n    ")),
    )
    seen = []
    observe_elsewhere(
        toy.spec(), tmp_path / "t", elsewhere(), progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(2, 3), (3, 3)]


@pytest.mark.parametrize("python", ["/no/such/python", __file__])
def test_what_is_no_interpreter_is_named(toy, tmp_path, python):
    """With the reason of the system."""
    with pytest.raises(EnvironmentUnavailable, match=f"{python} cannot be started"):
        observe_elsewhere(toy.spec(), tmp_path / "t", elsewhere(python=python, is_this_interpreter=False))


def test_inputs_that_no_process_can_be_handed_are_refused(toy, tmp_path):
    """A named tuple of the suite's own is known to nobody else."""
    toy.write(
        "data.py",
        "import collections\nPair = collections.namedtuple('Pair', 'a b')\n"
        "def prepare(x):\n    return Pair(x, x)\n",
    )
    spec = toy.spec(preprocess="data:prepare")
    with pytest.raises(PreprocessError, match="got Pair"):
        observe_elsewhere(
            spec,
            tmp_path / "t",
            elsewhere(),
            handed=prepare_inputs(spec, tmp_path / "kept", to_tensors=False),
        )


def as_json(trace) -> str:
    """Return a trace as its record holds it, which knows no tuples."""
    return json.dumps(trace_fields(trace), sort_keys=True)


REQUEST = TraceRequest(chosen=("c", "a"), max_bytes=10_000)


@pytest.mark.parametrize("is_handed", [False, True])
def test_another_process_traces_the_same(torch_case, tmp_path, is_handed):
    """Inputs, weights, modules, activations and behaviour, under the same digests as here."""
    spec = torch_case.spec()
    here = observe_trace(spec, tmp_path / "here", REQUEST)
    handed = None
    if is_handed:
        samples = {sample.id: sample for sample in spec.samples.samples}
        chosen = replace(spec.samples, samples=tuple(samples[name] for name in REQUEST.chosen))
        handed = prepare_inputs(replace(spec, samples=chosen), tmp_path / "prepared", to_tensors=True)
    there = trace_elsewhere(spec, tmp_path / "there", elsewhere(), REQUEST, handed=handed)
    assert as_json(there) == as_json(here)
    names = [sorted(path.name for path in (tmp_path / side).iterdir()) for side in ("here", "there")]
    assert names[0] == names[1]


def test_another_process_traces_given_inputs(torch_case, tmp_path):
    """Those of a golden: their file stays where it is."""
    spec = torch_case.spec()
    first = observe_trace(spec, tmp_path / "golden", REQUEST)
    request = TraceRequest(exact=first.exact, exact_folder=str(tmp_path / "golden"))
    there = trace_elsewhere(spec, tmp_path / "there", elsewhere(), request)
    assert there.activations == first.activations
    assert first.exact is not None
    assert (tmp_path / "golden" / first.exact.file.file).exists()


def test_a_process_that_dies_while_tracing_leaves_no_file(torch_case, tmp_path):
    """What it had written by then is nothing that anybody names."""
    torch_case.write(
        "model.py",
        """
        import os, torch

        class Net(torch.nn.Linear):
            def forward(self, x):
                os.abort()

        def build():
            return Net(3, 4)
        """,
    )
    with pytest.raises(EnvironmentUnavailable, match="killed by SIGABRT"):
        trace_elsewhere(torch_case.spec(), tmp_path / "t", elsewhere(), REQUEST)
    assert list((tmp_path / "t").iterdir()) == []


def test_tracing_ends_with_its_time(toy, tmp_path):
    """What hangs is ended, and the sentence says what gives it longer."""
    toy.write("model.py", "import threading\n\ndef build():\n    threading.Event().wait()\n")
    place = elsewhere(time_limit_s=3.0, advice="ask again")
    with pytest.raises(EnvironmentUnavailable, match=r"no answer within 3 s; .* takes long, ask again"):
        trace_elsewhere(toy.spec(), tmp_path / "t", place, REQUEST)
    assert list((tmp_path / "t").iterdir()) == []


def test_a_name_that_is_no_file_is_no_code_of_the_checkout(tmp_path, monkeypatch):
    """torch.ops says that it is `_ops.py`, as if it lay in the folder that the process is in."""
    module = types.ModuleType("claims_to_be_here")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    module.__file__ = "_ops.py"
    assert list_modules_of(str(tmp_path)) == []
    (tmp_path / "_ops.py").touch()
    assert list_modules_of(str(tmp_path)) == []
    module.__file__ = str(tmp_path / "_ops.py")
    assert list_modules_of(str(tmp_path)) == [f"claims_to_be_here ({tmp_path / '_ops.py'})"]
