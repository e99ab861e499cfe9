"""What a runner says of counting kernels on its nodes, from the word of each node's doctor."""

from runner.cluster.counting import census_of
from runner.cluster.record import NodeRecord
from runner.health.checks import doubt, good
from runner.settings import RunnerSettings
from runner_client.wire import Finding, Level, System

WITHOUT = doubt("census", "not available: no gcc", "install gcc")
WITH = good("census", "kernels are counted")


def record(name: str, census: Finding | None) -> NodeRecord:
    return NodeRecord(RunnerSettings(), System(gpu="H200", hostname=name), census)


def test_all_nodes_count() -> None:
    found = census_of([record("a", WITH), record("b", WITH)])
    assert (found.check, found.level) == ("census", Level.OK)
    assert found.text == "kernels are counted, on 2 of 2 nodes tried"


def test_one_node_cannot() -> None:
    found = census_of([record("a", WITH), record("b", WITHOUT), record("c", None)])
    assert found.level is Level.WARNING
    assert found.text == "1 of 3 nodes count no kernels; b: not available: no gcc"
    assert found.mend == "install gcc"


def test_nodes_that_joined_unchecked_are_believed() -> None:
    found = census_of([record("a", None), record("b", WITH)])
    assert found.level is Level.OK
    assert found.text == "kernels are counted, on 1 of 2 nodes tried"
