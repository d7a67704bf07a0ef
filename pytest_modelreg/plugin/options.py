"""Flags and ini settings: declared here, read here, nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_modelreg.engine.sharding.shard import Shard

MODES = ("missing", "changed", "all")
DIAGNOSE_MODES = ("auto", "off", "full")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line and the ini file ask for, under their flags' names."""

    json: Path | None
    html: Path | None
    markdown: Path | None
    run_dir: Path | None
    regen: str | None
    reason: str | None
    allow_ci: bool
    strict: bool
    keep_outputs: bool
    diagnose: str
    github: bool
    shard: Shard | None


def add_options(parser: pytest.Parser) -> None:
    """Declare every flag and ini setting of this plugin."""
    group = parser.getgroup("modelreg", "model-behaviour regression testing")
    group.addoption(
        "--modelreg",
        action="store_true",
        default=False,
        help="collect modelreg.yaml suites and compare models with their goldens",
    )
    group.addoption("--modelreg-json", metavar="PATH", default=None, help="write the report as JSON")
    group.addoption(
        "--modelreg-html",
        metavar="PATH",
        default=None,
        help="write the report as one HTML file that opens on what is wrong (needs pytest-modelreg[html])",
    )
    group.addoption(
        "--modelreg-markdown",
        metavar="PATH",
        default=None,
        help="write a summary in GitHub-flavoured Markdown, for a pull request",
    )
    group.addoption(
        "--modelreg-run-dir",
        metavar="DIR",
        default=None,
        help="where the report, the measures of every sample and the observations of cases that are not a "
        "match are kept (default: .modelreg/runs/<id>, of which the last ten stay)",
    )
    group.addoption(
        "--modelreg-keep-outputs",
        action="store_true",
        default=False,
        help="keep the observations of cases that are a match too, so that `modelreg rejudge` can judge them "
        "with other limits",
    )
    group.addoption(
        "--modelreg-diagnose",
        choices=DIAGNOSE_MODES,
        default=None,
        help="say why a case drifted, by replaying it on a few samples with one thing changed at a time: "
        "within a minute a case (auto, the default), not at all (off), or for as long as it takes (full)",
    )
    group.addoption(
        "--modelreg-regen",
        choices=MODES,
        default=None,
        help="record goldens: where there is none (missing), also where the case drifted or is stale "
        "(changed), or everything (all)",
    )
    group.addoption(
        "--modelreg-reason",
        metavar="TEXT",
        default=None,
        help="why goldens are replaced; kept in golden.json",
    )
    group.addoption(
        "--modelreg-allow-ci",
        action="store_true",
        default=False,
        help="regenerate although CI or BUILD_NUMBER is set; stamped into the golden",
    )
    group.addoption(
        "--modelreg-shard",
        metavar="I/N",
        default=None,
        help="run only the I-th of N parts of the cases, so that N machines share them; `modelreg merge` "
        "makes one run of theirs. Tests that are no cases run in every part, unless -m modelreg leaves them "
        "out",
    )
    group.addoption(
        "--modelreg-strict",
        action="store_true",
        default=False,
        help="fail where a run would only warn, as when no case was collected",
    )
    parser.addini("modelreg", "turn --modelreg on for the project", type="bool", default=False)
    parser.addini("modelreg_strict", "turn --modelreg-strict on for the project", type="bool", default=False)
    parser.addini(
        "modelreg_github",
        "in a GitHub Actions job: append the Markdown summary to the job's, annotate the suite files",
        type="bool",
        default=True,
    )


def is_enabled(config: pytest.Config) -> bool:
    """Whether suites are collected in this run."""
    return bool(config.getoption("--modelreg") or config.getini("modelreg"))


def is_selected_by_ini(config: pytest.Config) -> bool:
    """Whether the ini file alone turned comparing on, and the command line names what to run."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return named and not config.getoption("--modelreg")


def require_enabled(config: pytest.Config) -> None:
    """Refuse flags that would silently do nothing.

    Raises
    ------
    pytest.UsageError
        When a ``--modelreg-...`` flag is given while the plugin is off.
    """
    flags = (
        *("--modelreg-json", "--modelreg-html", "--modelreg-markdown", "--modelreg-run-dir"),
        *("--modelreg-regen", "--modelreg-reason", "--modelreg-diagnose", "--modelreg-shard"),
    )
    given = [flag for flag in flags if config.getoption(flag) is not None]
    switches = ("--modelreg-keep-outputs", "--modelreg-allow-ci", "--modelreg-strict")
    given += [flag for flag in switches if config.getoption(flag)]
    if given:
        raise pytest.UsageError(
            f"{', '.join(given)}: needs --modelreg (or the ini setting modelreg = true), which is off; "
            "nothing would be compared"
        )


def read_options(config: pytest.Config) -> Options:
    """Return the options; paths are taken relative to where pytest was started.

    Raises
    ------
    pytest.UsageError
        When one report would overwrite another, or a path is empty.
    """

    def path(flag: str) -> Path | None:
        value = config.getoption(flag)
        if value is not None and not value.strip():
            raise pytest.UsageError(f"{flag}: expected a path, got empty text")
        return None if value is None else config.invocation_params.dir / value

    report, page, summary, run_dir = map(
        path, ("--modelreg-json", "--modelreg-html", "--modelreg-markdown", "--modelreg-run-dir")
    )
    junit = config.getoption("xmlpath", None)
    _require_distinct(
        {
            "--modelreg-json": report,
            "--modelreg-html": page,
            "--modelreg-markdown": summary,
            "--junitxml": Path(os.path.expanduser(os.path.expandvars(junit))) if junit else None,
            "the report of --modelreg-run-dir": None if run_dir is None else run_dir / "report.json",
        }
    )
    return Options(
        json=report,
        html=page,
        markdown=summary,
        run_dir=run_dir,
        regen=config.getoption("--modelreg-regen"),
        reason=config.getoption("--modelreg-reason"),
        allow_ci=bool(config.getoption("--modelreg-allow-ci")),
        strict=bool(config.getoption("--modelreg-strict") or config.getini("modelreg_strict")),
        keep_outputs=bool(config.getoption("--modelreg-keep-outputs")),
        diagnose=_choose_diagnosis(config),
        github=bool(config.getini("modelreg_github")),
        shard=_read_shard(config),
    )


def _read_shard(config: pytest.Config) -> Shard | None:
    """Return the part of the cases that this run is of; None for all of them.

    Raises
    ------
    pytest.UsageError
        When there is no such part, or goldens are to be recorded by one.
    """
    text = config.getoption("--modelreg-shard")
    if text is None:
        return None
    from pytest_modelreg.domain.errors import UsageFault
    from pytest_modelreg.engine.sharding.shard import parse_shard

    try:
        shard = parse_shard(text)
    except UsageFault as error:
        raise pytest.UsageError(f"--modelreg-shard: {error}") from error
    if config.getoption("--modelreg-regen") is not None:
        raise pytest.UsageError(
            f"--modelreg-shard {shard}: expected a run that compares, got --modelreg-regen: goldens are "
            "recorded by one run, since variants are held against what their reference leaves; leave one out"
        )
    return shard


def _choose_diagnosis(config: pytest.Config) -> str:
    """Return whether drifts are explained; those that the run accepts need it only where it was asked for."""
    accepts = config.getoption("--modelreg-regen") in ("changed", "all")
    return str(config.getoption("--modelreg-diagnose") or ("off" if accepts else "auto"))


def _require_distinct(targets: Mapping[str, Path | None]) -> None:
    """Refuse two reports in one file; the JSON report in the run folder is the same one twice."""
    seen: dict[str, str] = {}
    for flag, target in targets.items():
        if target is None:
            continue
        other = seen.setdefault(os.path.normcase(os.path.realpath(target)), flag)
        if other != flag and {flag, other} != {"--modelreg-json", "the report of --modelreg-run-dir"}:
            raise pytest.UsageError(f"{flag} {target}: expected another file than {other}, got the same one")
