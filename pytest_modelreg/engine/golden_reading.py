"""Reading the golden that a case is held against, its bytes verified first."""

from __future__ import annotations

from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.engine.outcome import Place
from pytest_modelreg.engine.regeneration import Mode, Regeneration
from pytest_modelreg.store import read_golden, verify_files


def read_trusted_golden(
    place: Place, regeneration: Regeneration | None = None
) -> tuple[Golden | None, str | None]:
    """Read and verify a golden before the forward pass, so that a broken one costs none.

    Returns
    -------
    golden : Golden or None
        None where there is none.
    fault : str or None
        Why one that is there cannot be read, where all goldens are replaced.

    Raises
    ------
    GoldenError
        When it is broken, and is not going to be replaced anyway.
    GoldenFormatError
        When a newer release wrote it, whatever is going to be replaced.
    """
    try:
        golden = read_golden(place.found, golden_root=place.golden_root)
        if golden is not None:
            verify_files(place.found, golden)
    except GoldenFormatError:
        raise  # a newer release's is whole: replacing it would lose what that release knows
    except GoldenError as error:
        if regeneration is not None and regeneration.mode is Mode.ALL:
            return None, str(error)
        raise
    return golden, None
