"""The GPUs of a cluster as slots of the queue: as many as there are, whichever node they are on."""

from runner.cluster.link import Node


def kind_of(nodes: tuple[Node, ...], wanted: str) -> str:
    """Return the kind of GPU that this runner takes jobs for; empty where that is not clear."""
    kinds = {node.gpu for node in nodes}
    if not wanted:
        return kinds.pop() if len(kinds) == 1 else ""
    # Ray compares names letter by letter.
    return next((kind for kind in kinds if kind.casefold() == wanted.casefold()), wanted)


def slots_of(nodes: tuple[Node, ...], gpu: str) -> tuple[str, ...]:
    """Return a name for each GPU of the kind; Ray decides which one a benchmark gets."""
    return tuple(
        f"{node.id[:8]}-{number}"
        for node in nodes
        if node.gpu == gpu
        for number in range(node.count)
    )


def problem_of(nodes: tuple[Node, ...], wanted: str) -> str:
    """Return why no job can run, as a sentence, or nothing."""
    gpu = kind_of(nodes, wanted)
    if gpu and slots_of(nodes, gpu):
        return ""
    if not nodes:
        return "no node of the cluster offers a GPU: start one with `ncubot node`"
    offered = ", ".join(sorted({node.gpu for node in nodes}))
    if gpu:
        return f"no node of the cluster offers a {gpu}, only {offered}"
    return f"the cluster offers {offered}: say with --gpu which of them this runner is for"
