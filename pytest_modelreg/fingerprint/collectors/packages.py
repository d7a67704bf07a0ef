"""Versions of the packages that decode, preprocess, convert and run.

A version is that of the installed distribution, loaded or not, so that it does not
depend on what happened to be imported before. Only where a loaded package is another
release than the distribution (a path in front of it), the loaded one is the fact.
Versions of packages that are not loaded are recorded as neutral: they moved nothing.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache

from pytest_modelreg.fingerprint.collectors.loaded import loaded_package
from pytest_modelreg.fingerprint.fact import Unknown, fact


@fact("numpy.version")
def read_numpy_version() -> str:
    """Of the distribution ``numpy``. Example: ``2.4.6``."""
    return read_installed_version("numpy")


@fact("torchvision.version", module="torchvision")
def read_torchvision_version() -> str:
    """Of the distribution ``torchvision``. Example: ``0.29.1``."""
    return read_installed_version("torchvision")


@fact("pillow.version", module="PIL")
def read_pillow_version() -> str:
    """Of the distribution ``pillow``. Example: ``13.0.0``."""
    return read_installed_version("PIL", "pillow")


@fact("pillow.libjpeg_turbo")
def read_pillow_libjpeg_turbo() -> str:
    """From ``PIL.features``, the decoder behind JPEG, once Pillow is loaded. Example: ``3.1.4``."""
    return _ask_pillow("libjpeg_turbo")


@fact("pillow.zlib", neutral=True)
def read_pillow_zlib() -> str:
    """From ``PIL.features``, the library behind PNG, once Pillow is loaded. Example: ``1.3.1``.

    Neutral: DEFLATE is lossless, every correct decoder gives the same pixels.
    """
    return _ask_pillow("zlib")


@fact("opencv.version", module="cv2")
def read_opencv_version() -> str:
    """Of whichever distribution brings ``cv2``. Example: ``4.12.0.88``."""
    return read_installed_version(
        "cv2",
        "opencv-python",
        "opencv-python-headless",
        "opencv-contrib-python",
        "opencv-contrib-python-headless",
    )


@fact("onnx.version", module="onnx")
def read_onnx_version() -> str:
    """Of the distribution ``onnx``. Example: ``1.23.2``."""
    return read_installed_version("onnx")


@fact("onnxscript.version", module="onnxscript")
def read_onnxscript_version() -> str:
    """Of the distribution ``onnxscript``. Example: ``0.7.2``."""
    return read_installed_version("onnxscript")


@fact("onnxruntime.version", module="onnxruntime")
def read_onnxruntime_version() -> str:
    """Of whichever distribution brings ``onnxruntime``. Example: ``1.32.0``."""
    return read_installed_version(
        "onnxruntime", "onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino"
    )


@fact("safetensors.version", module="safetensors")
def read_safetensors_version() -> str:
    """Of the distribution ``safetensors``. Example: ``0.8.0``."""
    return read_installed_version("safetensors")


@fact("transformers.version", module="transformers")
def read_transformers_version() -> str:
    """Of the distribution ``transformers``. Example: ``5.1.0``."""
    return read_installed_version("transformers")


@fact("tokenizers.version", module="tokenizers")
def read_tokenizers_version() -> str:
    """Of the distribution ``tokenizers``. Example: ``0.22.1``."""
    return read_installed_version("tokenizers")


def read_installed_version(module: str, *distributions: str) -> str:
    """Return the version of a package, whether it is loaded or not.

    Parameters
    ----------
    module : str
        The name under which it is imported.
    *distributions : str
        The names under which it is installed, most common first; ``module`` when none is given.

    Raises
    ------
    Unknown
        If it is neither installed nor loaded.
    """
    names = distributions or (module,)
    installed = _find_distribution_version(names)
    package = sys.modules.get(module)
    loaded = getattr(package, "__version__", None) if package is not None else None
    if isinstance(loaded, str) and (installed is None or not _is_same_release(loaded, installed)):
        return str(loaded)
    if installed is None:
        raise Unknown("not installed")
    return installed


@cache
def _find_distribution_version(distributions: tuple[str, ...]) -> str | None:
    # Cached: every look-up lists the folders of sys.path.
    from importlib import metadata

    for name in distributions:
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return None


def _is_same_release(loaded: str, installed: str) -> bool:
    """Whether two versions agree but for what a build (``+cu130``) or a packager (``.88``) appended."""
    release, other = loaded.partition("+")[0], installed.partition("+")[0]
    return other == release or other.startswith(f"{release}.")


def _ask_pillow(library: str) -> str:
    # PIL.features imports PIL.Image: with only the package loaded, asking would load the decoder.
    loaded_package("PIL.Image", called="Pillow")
    from PIL import features

    version = features.version(library)
    if version is None:
        raise Unknown(f"this Pillow was built without {library}")
    return str(version)
