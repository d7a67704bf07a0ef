"""What the cases of a session share: done once, and never by way of another's faults."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.case import CheckpointRef, RuntimeSpec
from pytest_modelreg.observe import SharedWork, observe_case

PREP = """
import numpy as np

CALLS = {path!r}

def prepare(x):
    with open(CALLS, "a") as file:
        file.write("x")
    return {result}
"""


@pytest.fixture
def shared(tmp_path):
    """Shared work of one session."""
    work = SharedWork(tmp_path / "work")
    yield work
    work.close()
    assert not (tmp_path / "work").exists()


class Session:
    """Cases of one suite observed one after the other."""

    def __init__(self, case, shared, result="x * 2"):
        self.case, self.shared = case, shared
        self.calls_file = case.root / "calls"
        case.write("prep.py", PREP.format(path=str(self.calls_file), result=result))

    def spec(self, variant, **changes):
        """Return a case that has the preprocessing of all others."""
        return self.case.spec(variant=variant, preprocess="prep:prepare", **changes)

    def observe(self, spec):
        """Observe a case into a folder of its own."""
        self.case.folder = self.case.root / f"out-{spec.variant}"
        return observe_case(spec, self.case.folder, shared=self.shared)

    @property
    def n_calls(self):
        """How often preprocess was called so far."""
        return len(self.calls_file.read_text()) if self.calls_file.exists() else 0


def test_preprocessing_is_done_once(toy_case, shared):
    """The second case, of another batch size, prepares one sample to compare and gets the same bits."""
    session = Session(toy_case, shared)
    one, two = session.spec("one"), session.spec("two", batch_size=3)
    shared.expect([one, two])
    first = session.observe(one)
    n_calls = session.n_calls
    assert n_calls == 5 + 2  # the first and one more are prepared again
    second = session.observe(two)
    assert session.n_calls == n_calls + 1
    assert second.samples == first.samples
    assert second.outputs["output"].values.sha256 == first.outputs["output"].values.sha256
    assert (second.stages, second.checklist, second.habits) == (first.stages, first.checklist, first.habits)


def test_facts_of_a_pipeline_are_shared(toy_case, shared):
    """Stages and their digests are on record in every case."""
    toy_case.write("prep.py", "stages = [lambda x: x + 1, lambda x: x * 2]\n")
    specs = [toy_case.spec(variant=name, preprocess="prep:stages") for name in ("one", "two")]
    shared.expect(specs)
    first, second = (observe_case(spec, toy_case.root / spec.variant, shared=shared) for spec in specs)
    assert len(first.stages) == 2
    assert second.stages == first.stages


def test_channels_last_inputs_stay_channels_last(torch_case, shared):
    """A replayed batch has the strides of a fresh one."""
    torch_case.write(
        "model.py",
        """
        import torch

        def prepare(x):
            return torch.from_numpy(x).reshape(1, 1, 3).expand(2, 2, 3).contiguous().permute(2, 0, 1)

        def build():
            return lambda x: {"steps": torch.tensor(x.stride()).expand(len(x), 4)}
        """,
    )
    specs = [torch_case.spec(variant=name, preprocess="model:prepare") for name in ("one", "two")]
    shared.expect(specs)
    first, second = (observe_case(spec, torch_case.root / spec.variant, shared=shared) for spec in specs)
    assert second.outputs == first.outputs


def test_nothing_is_kept_that_nobody_waits_for(toy_case, shared, tmp_path):
    """One case, or cases of which each preprocesses in its own way, write no inputs."""
    session = Session(toy_case, shared)
    spec = session.spec("one")
    other = toy_case.spec(variant="other", preprocess="prep:other")
    shared.expect([spec, other])
    session.observe(spec)
    assert not (tmp_path / "work").exists()


def test_inputs_are_removed_after_the_last_case(toy_case, shared, tmp_path):
    """A session of many suites does not fill the disk; being told twice changes nothing."""
    session = Session(toy_case, shared)
    specs = [session.spec(name) for name in ("one", "two")]
    shared.expect(specs)
    shared.expect(specs)
    session.observe(specs[0])
    assert len(list((tmp_path / "work/inputs").iterdir())) == 1
    session.observe(specs[1])
    assert list((tmp_path / "work/inputs").iterdir()) == []


@pytest.mark.parametrize(
    "changes",
    [{"loader": "prep:load"}, {"preprocess": "prep:other"}, {"threads": 1}, {"deterministic": True}],
)
def test_what_inputs_depend_on_is_not_shared(toy_case, shared, changes):
    """Another loader, preprocess, number of threads or algorithms: prepared anew."""
    session = Session(toy_case, shared)
    toy_case.write(
        "prep.py",
        (toy_case.root / "prep.py").read_text()
        + "\ndef load(path):\n    return np.load(path)\n\nother = prepare\n",
    )
    one, same = session.spec("one"), session.spec("same")
    two = toy_case.spec(**{"variant": "two", "preprocess": "prep:prepare", **changes})
    shared.expect([one, same, two])
    session.observe(one)
    n_calls = session.n_calls
    session.observe(two)
    assert session.n_calls == 2 * n_calls


def test_another_sample_set_is_not_shared(toy_case, shared):
    """Inputs of other samples are other inputs."""
    session = Session(toy_case, shared)
    one, same = session.spec("one"), session.spec("same")
    toy_case.add_sample("f.npy", (toy_case.samples_folder / "a.npy").read_bytes())
    two = session.spec("two")
    shared.expect([one, same, two])
    session.observe(one)
    assert len(session.observe(two).samples) == 6


def test_form_of_the_inputs_is_not_shared(torch_case, shared):
    """A module gets tensors and a callable arrays; both are as they would be alone."""
    torch_case.write(
        "model.py",
        """
        import pathlib, numpy as np, torch

        def build():
            return plain if (pathlib.Path(__file__).parent / "one").exists() else torch.nn.Identity()

        def plain(x):
            assert isinstance(x, np.ndarray)
            return x
        """,
    )
    specs = [torch_case.spec(variant="two"), torch_case.spec(variant="one")]
    shared.expect(specs)
    for spec in specs:
        observe_case(spec, torch_case.root / spec.variant, shared=shared)


def test_interrupted_case_leaves_nothing(toy_case, shared, tmp_path):
    """The first case fails in its second batch: the second prepares its own, whole."""
    toy_case.write(
        "model.py",
        """
        def build():
            return lambda x: x

        def forward(model, x):
            if x[0, 0] > 5:
                raise KeyboardInterrupt
            return model(x)
        """,
    )
    session = Session(toy_case, shared)
    one, two = session.spec("one", forward="model:forward"), session.spec("two")
    shared.expect([one, two])
    with pytest.raises(KeyboardInterrupt):
        session.observe(one)
    assert list((tmp_path / "work/inputs").iterdir()) == []
    n_calls = session.n_calls
    assert len(session.observe(two).samples) == 5
    assert session.n_calls == n_calls + 7


def test_stateful_preprocessing_is_not_shared(toy_case, shared):
    """Every case meets the habit by itself: sharing would hide it."""
    session = Session(toy_case, shared, result="x + len(open(CALLS).read())")
    specs = [session.spec(name) for name in ("one", "two")]
    shared.expect(specs)
    for spec in specs:
        (habit,) = session.observe(spec).habits
        # State that stands in a file looks like chance: nothing of the process remembers it.
        assert habit.habit == "unseeded"
        assert "a file that changes" in habit.summary
    assert session.n_calls == 18


def test_random_preprocessing_is_shared_with_its_habit(toy_case, shared):
    """Seeded per sample it is the same alone and shared, and the second case says so too."""
    session = Session(toy_case, shared, result="x + np.float32(np.random.rand())")
    specs = [session.spec(name) for name in ("one", "two")]
    shared.expect(specs)
    first, second = map(session.observe, specs)
    assert [habit.habit for habit in second.habits] == ["random"]
    assert second.samples == first.samples
    alone = observe_case(specs[1], toy_case.root / "alone")
    assert alone.samples == second.samples
    assert alone.outputs == second.outputs


def test_what_a_model_does_to_its_inputs_reaches_no_other_case(toy_case, shared):
    """A model that works in place, and a preprocess that changes its argument."""
    toy_case.write(
        "model.py",
        """
        def build():
            def model(x):
                x += 100
                return x
            return model
        """,
    )
    session = Session(toy_case, shared, result="np.add(x, 1, out=x)")
    specs = [session.spec(name) for name in ("one", "two", "three")]
    shared.expect(specs)
    outputs = [session.observe(spec).outputs for spec in specs]
    assert outputs[0] == outputs[1] == outputs[2]


def test_an_edit_between_two_cases_is_seen(toy_case, shared):
    """What was prepared by the old source is not replayed for the new one."""
    session = Session(toy_case, shared)
    specs = [session.spec(name) for name in ("one", "two")]
    shared.expect(specs)
    session.observe(specs[0])
    toy_case.write("prep.py", PREP.format(path=str(session.calls_file), result="x * 30"))
    session.observe(specs[1])
    assert toy_case.rows(session.observe(specs[1]), "output")[0].tolist() == [0, 60, 120]


def test_identity_knows_what_the_model_is_made_of(torch_case, shared, monkeypatch):
    """An artefact of one model is never taken for another's: each part moves the identity."""
    identities = []

    class Spy:
        name = "spy"

        def open(self, model, request):
            identities.append(request.identity)
            assert request.artefacts is shared.artefacts
            assert request.resolve("model:build")().training
            assert str(request.root) == str(torch_case.root)
            from pytest_modelreg.runtimes.eager import EagerRuntime

            return EagerRuntime().open(model, request)

    monkeypatch.setattr("pytest_modelreg.observe.case.find_runtime", lambda kind, options: Spy())
    torch_case.write(
        "model.py",
        """
        import torch

        def build(width=4):
            return torch.nn.Linear(3, width)

        def other(width=4):
            return torch.nn.Linear(3, width)

        def same(model):
            return model

        def forward(model, batch):
            return model(batch)
        """,
    )
    variants = [
        {},
        {"batch_size": 5},
        {"model": "model:other"},
        {"model_args": {"width": 5}},
        {"runtime": RuntimeSpec(transform="model:same")},
        {"forward": "model:forward"},
        {"dtype": "float64"},
        {"device": "cpu"},
        {"memory_format": "contiguous"},
        {"checkpoint": CheckpointRef(path=str(torch_case.root / "w.pt"))},
        {"checkpoint": CheckpointRef(path=str(torch_case.root / "ema.pt"), key="ema")},
    ]
    import torch

    state = torch.nn.Linear(3, 4).state_dict()
    torch.save(state, torch_case.root / "w.pt")
    torch.save({"ema": state}, torch_case.root / "ema.pt")
    for index, changes in enumerate(variants):
        spec = torch_case.spec(variant=f"v{index}", **changes)
        observe_case(spec, torch_case.root / spec.variant, shared=shared)
    assert identities[0] == identities[1]
    assert len(set(identities)) == len(identities) - 1
    path = torch_case.root / "model.py"
    path.write_text(path.read_text() + "\nCHANGED = True\n")
    observe_case(torch_case.spec(variant="edited"), torch_case.root / "edited", shared=shared)
    assert identities[-1] not in identities[:-1]


def test_identity_of_plain_callables_is_the_case(toy_case, shared, monkeypatch):
    """Nothing is known of their weights, so that they share nothing."""
    from pytest_modelreg.observe.identity import identify_model

    one, two = (
        identify_model(toy_case.spec(variant=name), weights_digest=None, is_digest_whole=False, n_edits=0)
        for name in ("one", "two")
    )
    assert one != two


def test_a_case_alone_shares_nothing(toy_case):
    """Without shared work nothing is written beside the observation."""
    toy_case.observe()
    assert {path.suffix for path in toy_case.folder.iterdir()} == {".npy"}


def test_samples_are_digested_once(toy_case, shared):
    """Twenty variants of a large set do not digest its rows twenty times."""
    spec = toy_case.spec()
    shared.expect([spec] * 3)
    assert len(shared._set_digests) == 1


def test_random_collate_is_the_same_replayed(toy_case, shared):
    """What collate draws does not depend on who prepared the samples."""
    toy_case.write(
        "glue.py", "import numpy as np\n\ndef collate(rows):\n    return np.stack(rows) + np.random.rand()\n"
    )
    session = Session(toy_case, shared, result="x + np.random.rand()")
    specs = [session.spec(name, collate="glue:collate") for name in ("one", "two")]
    shared.expect(specs)
    first, second = map(session.observe, specs)
    assert first.outputs == second.outputs


def test_inputs_that_cannot_be_kept_are_prepared_anew(torch_case, shared):
    """Tensors of a class of their own go to each case as its own preprocessing made them."""
    torch_case.write("model.py", "def build():\n    return lambda x: x\n")
    torch_case.write(
        "prep.py",
        """
        import torch

        def prepare(x):
            return torch.from_numpy(x).requires_grad_()
        """,
    )
    specs = [torch_case.spec(variant=name, preprocess="prep:prepare") for name in ("one", "two")]
    shared.expect(specs)
    first, second = (observe_case(spec, torch_case.root / spec.variant, shared=shared) for spec in specs)
    assert second.samples == first.samples


CONFIGURED = """
import conf

def build({parameter}):
    conf.SIZE = {size}
    return lambda x: x
"""


def test_what_a_factory_sets_is_not_shared(toy_case, shared):
    """Planted fault: the argument of the factory decides what preprocess makes of a later sample."""
    toy_case.write("conf.py", "SIZE = 1\n")
    toy_case.write("model.py", CONFIGURED.format(parameter="size=1", size="size"))
    # The first sample is the same either way: only the key tells the cases apart.
    toy_case.write("prep.py", "import conf\n\ndef prepare(x):\n    return x * conf.SIZE if x[0] else x\n")
    one, same = (toy_case.spec(variant=name, preprocess="prep:prepare") for name in ("one", "same"))
    two = toy_case.spec(variant="two", preprocess="prep:prepare", model_args={"size": 2})
    shared.expect([one, same, two])
    observe_case(one, toy_case.root / "out-one", shared=shared)
    observed = observe_case(two, toy_case.root / "out-two", shared=shared)
    assert observed.samples == observe_case(two, toy_case.root / "alone").samples


def test_a_first_sample_that_differs_is_a_case_of_its_own(toy_case, shared):
    """Planted fault: the runtime's model sets what preprocess reads, and no key can know."""
    toy_case.write("conf.py", "SIZE = 1\n")
    toy_case.write(
        "model.py",
        """
        import conf

        def build():
            return lambda x: x

        def transform(model):
            conf.SIZE = 2
            return model
        """,
    )
    toy_case.write("prep.py", "import conf\n\ndef prepare(x):\n    return x * conf.SIZE\n")
    one = toy_case.spec(variant="one", preprocess="prep:prepare")
    two = toy_case.spec(
        variant="two", preprocess="prep:prepare", runtime=RuntimeSpec(transform="model:transform")
    )
    shared.expect([one, two])
    observe_case(one, toy_case.root / "out-one", shared=shared)
    toy_case.folder = toy_case.root / "out-two"
    observed = observe_case(two, toy_case.folder, shared=shared)
    assert toy_case.rows(observed, "output")[1].tolist() == [6, 8, 10]
    assert observed.samples == observe_case(two, toy_case.root / "alone").samples


def test_models_of_unknown_state_share_nothing(torch_case, shared, monkeypatch):
    """Planted fault: what a module keeps beside its tensors can be of a type that nobody can digest."""
    from pytest_modelreg.observe import subject

    identities = []
    real = subject.identify_model

    def spy(spec, **facts):
        identities.append(real(spec, **facts))
        return identities[-1]

    monkeypatch.setattr(subject, "identify_model", spy)
    torch_case.write(
        "model.py",
        """
        import torch

        class Model(torch.nn.Linear):
            def get_extra_state(self):
                return object()

        def build():
            torch.manual_seed(0)
            return Model(3, 4)
        """,
    )
    for name in ("one", "two"):
        observe_case(torch_case.spec(variant=name), torch_case.root / name, shared=shared)
    assert identities[0] != identities[1]
