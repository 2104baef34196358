"""What tests have in common: the command next to the package, and a sample project with embeddings.

`cargo xtask test --only python` sets DISSENSUS_BIN (the command), DISSENSUS_MODELS and DISSENSUS_DATA, and puts the package on the path.
"""

import json
import os
import shutil
import subprocess
import tempfile

os.environ["DISSENSUS_HOME"] = tempfile.mkdtemp(prefix="dissensus-home-")

import pytest

import dissensus


def command(*arguments):
    """What the command prints with --json."""
    done = subprocess.run([os.environ["DISSENSUS_BIN"], *map(str, arguments), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def encoded(tmp_path_factory):
    """The sample project with embeddings; not to be changed."""
    project = dissensus.Project.sample(tmp_path_factory.mktemp("sample") / "sample.dissensus")
    project.encode()
    return project


@pytest.fixture
def project(encoded, tmp_path):
    """A copy of it, to be changed."""
    path = tmp_path / "copy.dissensus"
    shutil.copy(encoded.path, path)
    return dissensus.Project(path)


@pytest.fixture(scope="session")
def popquorn():
    """The POPQUORN file, where this machine has it."""
    path = os.path.join(os.environ.get("DISSENSUS_DATA", ""), "popquorn_offensiveness.csv")
    if not os.path.isfile(path):
        pytest.skip(f"NOT RUN: {path} is not there")
    return path


def pytest_sessionfinish():
    shutil.rmtree(os.environ["DISSENSUS_HOME"], ignore_errors=True)
