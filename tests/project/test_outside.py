"""What people outside meet first: workflows and templates name only what exists."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.places import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_only_jobs_of_run_and_needs_no_secret(path):
    jobs = yaml.safe_load(path.read_text())["jobs"]
    text = "\n".join(step["run"] for job in jobs.values() for step in job["steps"] if "run" in step)
    words = re.findall(r"^    ([a-z]+)\)$", (ROOT / "run").read_text(), re.MULTILINE)
    used = re.findall(r"sh run ([a-z]+)", text)

    assert used and set(used) <= set(words)
    assert "secrets" not in path.read_text()


def test_the_workflows_pythons_are_those_that_the_package_claims():
    jobs = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text())["jobs"]
    claimed = set(re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text()))

    assert claimed <= set(jobs["check"]["strategy"]["matrix"]["python"])
