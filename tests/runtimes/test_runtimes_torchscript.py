"""TorchScript: traced, scripted, or an archive that ships, each as the module that it was made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable
from pytest_modelreg.runtimes import RunRequest, find_runtime, list_builtin_faults
from pytest_modelreg.runtimes.conformance import RuntimeConformance
from pytest_modelreg.runtimes.graph.structure import list_places

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")


class TestTorchScript(RuntimeConformance):
    """Traced at the first call."""

    def make_runtime(self):
        """Built in."""
        return find_runtime("torchscript")


class TestTorchScriptArchive(RuntimeConformance):
    """An archive that is traced beforehand."""

    restores_structure = False

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make_runtime(self):
        """The one that brings its own model."""
        return find_runtime("torchscript", {"path": "model.pt"})

    def make_options(self, model: Any, batch: Any) -> Mapping[str, Any]:
        """Write the archive."""
        file = self.folder / "model.pt"
        if not file.exists():
            names = list(batch) if isinstance(batch, Mapping) else ["x"]
            args = list(batch.values()) if isinstance(batch, Mapping) else [batch]
            if isinstance(batch, tuple):
                names, args = [f"x{index}" for index in range(len(batch))], list(batch)
            traced = torch.jit.trace(make_flat(model, names, isinstance(batch, Mapping)), tuple(args))
            torch.jit.save(traced, str(file))
        return {"path": str(file)}


def make_flat(model: Any, names: list[str], is_named: bool) -> Any:
    """Return a module with these parameters that returns a tensor, or a tuple of them."""
    given = ", ".join(f"{name}={name}" if is_named else name for name in names)
    scope: dict[str, Any] = {"list_places": list_places}
    exec(
        f"def forward(self, {', '.join(names)}):\n"
        f"    leaves = tuple(place.value for place in list_places(self.model({given})))\n"
        f"    return leaves if len(leaves) > 1 else leaves[0]",
        scope,
    )
    kind = type("Flat", (torch.nn.Module,), {"forward": scope["forward"]})
    flat = kind().eval()
    flat.model = model
    return flat


class Branching(torch.nn.Module):
    """Answers by the sign of its input."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return axes (sample, feature)."""
        if bool(x.sum() > 0):
            return self.drop(x * self.scale)
        return x - 1


UP, DOWN = torch.ones(2, 3), -torch.ones(2, 3)


def save(module: Any, path: Path, **options: Any) -> Path:
    """Write an archive."""
    torch.jit.save(torch.jit.script(module), str(path), **options)
    return path


def test_scripting_keeps_what_tracing_freezes(open_runner):
    """Control flow that depends on values; both ways are what ships."""
    model = Branching().eval()
    scripted = open_runner("torchscript", model, options={"mode": "script"})
    traced = open_runner("torchscript", model)
    assert torch.equal(scripted(UP), UP * 2)
    assert torch.equal(scripted(DOWN), DOWN - 1)
    assert torch.equal(traced(UP), UP * 2)
    assert torch.equal(traced(DOWN), DOWN * 2)
    assert scripted.facts() == {"kind": "torchscript", "mode": "script"}
    assert traced.facts()["mode"] == "trace"


def test_a_traced_model_is_traced_once_a_session(open_runner):
    """Cases of the same model share the archive."""
    model = torch.nn.Linear(3, 2).eval()
    for _ in range(2):
        runner = open_runner("torchscript", model, identity="one")
        runner(UP)
    assert [path.name for path in (open_runner.folder / "artefacts").glob("*/model.pt")] == ["model.pt"]


def test_a_batch_size_that_was_frozen_is_a_finding(open_runner):
    """Planted fault: a size is read as a number."""

    class Frozen(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(int(x.shape[0]), -1) / float(x.shape[0])

    runner = open_runner("torchscript", Frozen().eval())
    runner(UP)
    assert any("axis 0" in finding.what for finding in runner.findings())


def test_what_cannot_be_scripted_is_told_with_the_other_way(open_runner):
    """The module and what torch says of it."""

    class Unscriptable(torch.nn.Module):
        def forward(self, *values):
            return values[0]

    with pytest.raises(ExportError, match=r"cannot be scripted: .*; mode: trace records a call instead"):
        open_runner("torchscript", Unscriptable(), options={"mode": "script"})
    for mode in ("trace", "script"):
        with pytest.raises(ExportError, match=r"expected the factory to return a torch\.nn\.Module"):
            open_runner("torchscript", lambda x: x, options={"mode": mode})(UP)


def open_archive(folder: Path, options: Mapping[str, Any], **fields: Any) -> Any:
    """Open an archive without a model."""
    runtime = find_runtime("torchscript", options)
    assert not runtime.needs_model
    return runtime.open(None, RunRequest(case="toy[shipped]", options=options, root=folder, **fields))


def test_an_archive_is_run_in_eval_mode(tmp_path):
    """Also one that was saved in train mode, whose dropout would draw."""
    file = save(Branching().train(), tmp_path / "model.pt")
    runner = open_archive(tmp_path, {"path": "model.pt"})
    assert torch.equal(runner(UP), UP * 2)
    assert runner.findings() == ()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert runner.facts() == {"kind": "torchscript", "mode": "file", "sha256": digest}


def test_a_frozen_archive_has_no_mode(tmp_path):
    """What torch.jit.freeze returned is in eval mode for ever."""
    frozen = torch.jit.freeze(torch.jit.script(Branching().eval()))
    torch.jit.save(frozen, str(tmp_path / "model.pt"))
    runner = open_archive(tmp_path, {"path": "model.pt"})
    assert torch.equal(runner(UP), UP * 2)
    assert runner.findings() == ()


def test_forward_gets_the_module_of_the_archive(tmp_path):
    """With its methods: some archives are reset by one."""

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.n: int = 0

        @torch.jit.export
        def reset(self) -> None:
            self.n = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.n += 1
            return x * self.n

    save(Counting().eval(), tmp_path / "model.pt")

    def forward(model: Any, batch: Any) -> Any:
        model.reset()
        model(batch)
        return model(batch)

    runner = open_archive(tmp_path, {"path": "model.pt"}, forward=forward)
    assert torch.equal(runner(UP), UP * 2)
    assert torch.equal(runner(UP), UP * 2)


def test_a_file_that_is_no_archive_is_told(tmp_path):
    """A state dict, and bytes of another kind."""
    torch.save({"w": UP}, tmp_path / "state.pt")
    (tmp_path / "noise.pt").write_bytes(b"noise")
    for name in ("state.pt", "noise.pt"):
        with pytest.raises(ExportError, match=rf"{name}: expected an archive of torch.jit.save, got: "):
            open_archive(tmp_path, {"path": name})


def test_an_archive_computes_in_its_own_numbers(tmp_path):
    """Nobody has cast it here; limits would be those of another dtype."""
    save(Branching().eval(), tmp_path / "model.pt")
    with pytest.raises(RuntimeUnavailable, match="expected a module in float16, got none"):
        open_archive(tmp_path, {"path": "model.pt"}, dtype="float16")


@pytest.mark.parametrize(
    ("options", "faults"),
    [
        ({"mode": "script"}, []),
        (
            {"mode": "scripted"},
            [("mode", "expected one of trace, script, got 'scripted' (did you mean script?)")],
        ),
        (
            {"mode": "script", "dynamic": {"x": {0: "n"}}},
            [("dynamic", "expected none for mode script, where every axis may vary; take it out")],
        ),
        (
            {"path": "model.pt", "mode": "trace"},
            [("mode", "expected none beside path, whose archive is run as it is; take it out")],
        ),
        (
            {"path": "modle.pt"},
            [("path", "expected the path of a file, got 'modle.pt' (no such file) (did you mean model.pt?)")],
        ),
    ],
)
def test_options_that_do_not_go_together_are_told_when_a_suite_is_read(tmp_path, options, faults):
    """Without importing torch."""
    (tmp_path / "model.pt").write_bytes(b"")
    assert list_builtin_faults("torchscript", options, tmp_path) == faults
