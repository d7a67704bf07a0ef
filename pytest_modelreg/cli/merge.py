"""``modelreg merge``: the runs of all shards as the one run that they are; nothing is run or judged again."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_modelreg.cli.command import Exit
from pytest_modelreg.domain.errors import RunFolderError, UsageFault

if TYPE_CHECKING:
    from pytest_modelreg.engine.sharding.merged_run import MergedRun
    from pytest_modelreg.engine.sharding.part import Part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run folder of a shard, also one downloaded from CI; the id of a run; a folder of such folders",
    )
    parser.add_argument("--json", metavar="PATH", help="write the report as JSON, a record a case")
    parser.add_argument(
        "--markdown", metavar="PATH", help="write a summary in GitHub-flavoured Markdown, for a pull request"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder of the merged run, new or empty (default: .modelreg/runs/<id> of the project)",
    )
    parser.add_argument(
        "--durations",
        metavar="FILE",
        help="write how long each case took; committed as modelreg-durations.json in the project's folder, "
        "it makes shards take equally long",
    )
    parser.add_argument("--strict", action="store_true", help="fail where a golden has no case any more")


def run(arguments: argparse.Namespace) -> int:
    """Merge, print what does not pass and a line of counts.

    Raises
    ------
    UsageFault
        When the runs are not one whole run together, naming what is missing, twice or does not belong.
    """
    from pytest_modelreg.engine.review import find_run
    from pytest_modelreg.engine.run import find_project_root
    from pytest_modelreg.engine.sharding.durations import write_durations
    from pytest_modelreg.engine.sharding.merged_run import merge_parts
    from pytest_modelreg.engine.sharding.part import find_parts, read_parts
    from pytest_modelreg.engine.sharding.union import require_whole
    from pytest_modelreg.report import dump_json, write_report

    here = Path.cwd()
    root = find_project_root(here)
    folders = find_parts(find_run(name, here, root) for name in arguments.runs)
    targets = {
        flag: here / value
        for flag, value in (
            ("--json", arguments.json),
            ("--markdown", arguments.markdown),
            ("--durations", arguments.durations),
        )
        if value is not None
    }
    out = None if arguments.out is None else here / arguments.out
    _require_own_places(targets, out, folders)
    parts = read_parts(folders)
    require_whole(parts)
    merged = merge_parts(parts, is_strict=arguments.strict)
    folder, document = _keep(merged, parts, root, out)
    if "--json" in targets:
        dump_json(document, targets["--json"])
    if "--markdown" in targets:
        write_report(_render_summary(merged, document), targets["--markdown"])
    if "--durations" in targets:
        write_durations(merged.durations_s, targets["--durations"])
    _show(merged, parts)
    print(f"merged run: {folder}")
    if merged.has_errors:
        return Exit.COULD_NOT_RUN
    return Exit.DIFFERS if merged.differs else Exit.OK


def _show(merged: MergedRun, parts: Sequence[Part]) -> None:
    """Print a line a case that does not pass, one of counts, and what is wrong with the run as a whole."""
    from pytest_modelreg.domain.verdict import Verdict
    from pytest_modelreg.report.table import printable
    from pytest_modelreg.report.text import summary_counts

    n_cases = len(parts[0].share.all_cases)
    print(f"{len(parts)} of {parts[0].share.shard.of} shards, {n_cases} of {n_cases} cases")
    for record in merged.records.values():
        if record["verdict"] != Verdict.MATCH.value:
            line = f"{record['id']}: {record['verdict']}: {record['message']}"
            print(printable(f"{line} (expected to fail)" if record["id"] in merged.expected else line))
    print(summary_counts([Verdict(record["verdict"]) for record in merged.records.values()]) or "no case")
    for warning in merged.warnings:
        print(printable(f"warning: {warning}"))
    for problem in merged.problems:
        print(printable(f"error: {problem}"))


def _keep(
    merged: MergedRun, parts: Sequence[Part], root: Path, out: Path | None
) -> tuple[Path, dict[str, Any]]:
    """Write the merged run's folder, the report last; return it with the report's document."""
    from pytest_modelreg.engine.kept_run import KEPT, REPORT_FILE, list_kept_folders
    from pytest_modelreg.engine.run import new_run_id, open_run_folder
    from pytest_modelreg.engine.sharding.merged_run import write_merged
    from pytest_modelreg.report import RunFacts, choose_fullest, report_document, seal_json

    run_id = new_run_id()
    dirty = [part.is_dirty for part in parts if part.is_dirty is not None]
    facts = RunFacts(
        id=run_id,
        started=min(part.started for part in parts),
        duration_s=sum(part.duration_s for part in parts),
        git_commit=parts[0].commit,
        git_dirty=any(dirty) if dirty else None,
        partial=False,
    )
    environment = choose_fullest(
        [part.environment for part in parts if part.records] or [parts[0].environment]
    )
    document = report_document(facts, environment, merged.records.values())
    with (
        _held(parts),
        open_run_folder(root, run_id, chosen=out) as run_folder,
        _whole_or_not(run_folder.folder),
    ):
        folder = run_folder.folder
        write_merged(merged, parts, folder)
        seal_json({**document, KEPT: list_kept_folders(folder)}, folder / REPORT_FILE)
    return folder, document


@contextlib.contextmanager
def _held(parts: Sequence[Part]) -> Iterator[None]:
    """Keep the shards' folders from being deleted as old runs by the one that is made of them."""
    from pytest_modelreg.store.lock import FolderLock

    locks = [FolderLock(part.folder, shared=True) for part in parts]
    try:
        for lock in locks:
            with contextlib.suppress(OSError):  # a folder that cannot be opened is deleted by nobody
                lock.acquire(timeout_s=0.0)
        yield
    finally:
        for lock in locks:
            lock.release()


@contextlib.contextmanager
def _whole_or_not(folder: Path) -> Iterator[None]:
    """Remove what was written when it cannot be finished: half of a run would be taken for all of one."""
    import shutil

    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _render_summary(merged: MergedRun, document: dict[str, Any]) -> str:
    from pytest_modelreg.report import render_markdown

    return render_markdown(
        document,
        commands=merged.commands,
        notes=merged.notes,
        problems=[*merged.problems, *merged.warnings],
        expected=merged.expected,
    )


def _require_own_places(targets: dict[str, Path], out: Path | None, folders: Sequence[Path]) -> None:
    """Refuse to write into what is read, or two files into one, or among what is there already."""
    from pytest_modelreg.report.report_file import require_writable

    seen: dict[Path, str] = {}
    for flag, target in [*targets.items(), *([("--out", out)] if out is not None else [])]:
        other = seen.setdefault(target.resolve(), flag)
        if other != flag:
            raise UsageFault(f"{flag} {target}: expected another place than {other}, got the same one")
        for folder in folders:
            if target.resolve().is_relative_to(folder.resolve()):
                raise UsageFault(f"{flag} {target}: expected a place outside of {folder}, which is read")
    for flag, target in targets.items():
        if out is not None and target.resolve().is_relative_to(out.resolve()):
            raise UsageFault(f"{flag} {target}: expected a place outside of the merged run's folder {out}")
        require_writable(target)
    if out is not None and (
        out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir())))
    ):
        raise RunFolderError(f"--out {out}: expected a new or empty folder, got one that holds something")
