"""Takes the chat templates, and TRL's rollout worker, out of the packages that ship them: `chat_templates.py REQUIREMENTS FOLDER`.

The packages are downloaded and not installed: of one only the source distribution has the templates, and it would be compiled.
"""
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

requirements, folder = sys.argv[1], Path(sys.argv[2])


def keep(package: str, name: str, content: bytes) -> None:
    target = folder / package / Path(name).name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


with tempfile.TemporaryDirectory() as downloads:
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "llama-cpp-python",
         "--dest", downloads, "--requirement", requirements],
        check=True,
    )
    [wheel] = Path(downloads).glob("trl-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("trl/chat_templates/") and name.endswith(".jinja"):
                keep("trl", name, archive.read(name))
            if name == "trl/experimental/async_grpo/async_rollout_worker.py":
                keep("trl-source", name, archive.read(name))
    [source] = Path(downloads).glob("llama_cpp_python-*.tar.gz")
    with tarfile.open(source) as archive:
        for member in archive:
            if "/vendor/llama.cpp/models/templates/" in member.name and member.name.endswith(".jinja"):
                keep("llama-cpp-python", member.name, archive.extractfile(member).read())
