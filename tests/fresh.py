"""A fresh environment with the wheels of this library and of the template of a package."""

import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "examples" / "package"


def environment(folder: Path) -> Path:
    """Its Python, in a folder of its own; nothing is downloaded."""
    wheels = [wheel_of(ROOT, folder / "ours"), wheel_of(TEMPLATE, folder / "template")]
    called(sys.executable, "-m", "venv", "--without-pip", "fresh", folder=folder)
    python = folder / "fresh" / "bin" / "python"
    site = called(python, "-c", "import site; print(site.getsitepackages()[0])", folder=folder)
    # What both depend on is taken from here.
    Path(site.strip(), "beside.pth").write_text(sysconfig.get_path("purelib"))
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps")
    called(*pip, *wheels, folder=folder)
    return python


def called(*words, folder: Path) -> str:
    """What a command prints, in a folder of its own; it has to succeed."""
    done = subprocess.run([*map(str, words)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


BUILD = "import sys; from setuptools import build_meta; build_meta.build_{}(sys.argv[1])"


def wheel_of(project: Path, folder: Path) -> Path:
    """The wheel of what the sdist of a project holds; nothing is downloaded."""
    folder.mkdir()
    source = shutil.copytree(project, folder / "source", ignore=_not_source)
    called(sys.executable, "-c", BUILD.format("sdist"), folder, folder=source)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    called(sys.executable, "-c", BUILD.format("wheel"), folder, folder=unpacked)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _not_source(folder: str, names: list[str]) -> set[str]:
    left = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "runs", "__pycache__")
    return left(folder, names)
