"""Executes the notebooks and compares their outputs with the committed ones; --write renews those.

    python notebooks/execute.py [--write] [NOTEBOOK …]

Texts and tables must be equal, pictures nearly so (another processor may round a pixel otherwise). The
command is found as retrylab.py finds it. Exit code 1 when an output differs or a cell fails.
"""

import argparse
import base64
import difflib
import io
import os
import pathlib
import shutil
import sys
import time

import nbformat
import numpy as np
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

import retrylab

HERE = pathlib.Path(__file__).resolve().parent

# Pictures: how many pixels their sides may differ by, and marks may move by.
SIDE_PIXELS = 3
MOVED_PIXELS = 2
# A pixel has no counterpart when none so near is as bright but for this (of full brightness); so large a
# share may have none.
BRIGHTNESS = 0.25
WITHOUT_COUNTERPART = 0.0002


def executed(path):
    """The notebook, executed afresh, without anything that depends on the moment or the machine."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # Cells run in the folder of the notebooks, and write only into folders that they remove.
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        # What a cell prints comes in as many pieces as the moment has it.
        coalesce_streams=True,
        resources={"metadata": {"path": str(HERE)}},
        # Without the warning that its sockets, on the loopback interface, are not encrypted.
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    client.execute()
    return normal(notebook)


def normal(notebook):
    """Drops versions of Python and what else a kernel leaves behind."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
    nbformat.validate(notebook)
    return notebook


def differences(committed, fresh):
    """What the outputs of two executions of a notebook disagree about, in lines."""
    if [cell.id for cell in committed.cells] != [cell.id for cell in fresh.cells]:
        yield "other cells"
        return
    for old, new in zip(committed.cells, fresh.cells):
        if new.cell_type != "code":
            continue
        if old.execution_count != new.execution_count or len(old.outputs) != len(new.outputs):
            yield f"cell {new.id}: {len(old.outputs)} outputs committed, {len(new.outputs)} made"
            continue
        for before, after in zip(old.outputs, new.outputs):
            yield from (f"cell {new.id}: {line}" for line in output_differences(before, after))


def output_differences(before, after):
    before_parts, after_parts = parts(before), parts(after)
    if before_parts.keys() != after_parts.keys():
        yield f"{sorted(before_parts)} committed, {sorted(after_parts)} made"
        return
    for kind, old in before_parts.items():
        new = after_parts[kind]
        if kind == "image/png":
            yield from picture_differences(old, new)
        elif old != new:
            lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "committed", "made", lineterm="", n=0)
            yield f"{kind} differs\n  " + "\n  ".join(lines)


def parts(output):
    """The representations of one output, by their kind."""
    if output.output_type == "stream":
        return {output.name: output.text}
    if output.output_type == "error":
        return {"error": output.evalue}
    return dict(output.data)


def picture_differences(old, new):
    old, new = (np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("L"), float) / 255 for png in (old, new))
    if max(abs(a - b) for a, b in zip(old.shape, new.shape)) > SIDE_PIXELS:
        yield f"a picture of {new.shape} in place of {old.shape} pixels"
        return
    height, width = np.minimum(old.shape, new.shape)
    old, new = old[:height, :width], new[:height, :width]
    share = max(without_counterpart(old, new), without_counterpart(new, old))
    if share > WITHOUT_COUNTERPART:
        yield f"{share:.2%} of a picture is in one of the two only"


def without_counterpart(one, other):
    """The share of the pixels of one picture that the other does not have nearby."""
    reach = range(-MOVED_PIXELS, MOVED_PIXELS + 1)
    near = np.stack([np.roll(other, (down, right), axis=(0, 1)) for down in reach for right in reach])
    missing = (one < near.min(axis=0) - BRIGHTNESS) | (one > near.max(axis=0) + BRIGHTNESS)
    return missing.mean()


def check(path, write):
    """Executes one notebook; True when it is as committed, or was written."""
    before = time.monotonic()
    try:
        fresh = executed(path)
    except CellExecutionError as failed:
        print(f"{path.name}: {failed}")
        return False
    seconds = time.monotonic() - before
    if write:
        nbformat.write(fresh, path)
        print(f"{path.name}: written, {seconds:.1f} s")
        return True
    found = list(differences(nbformat.read(path, as_version=4), fresh))
    print(f"{path.name}: " + ("\n".join(found) if found else f"as committed, {seconds:.1f} s"))
    return not found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the outputs instead of comparing them")
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path, help="all by default")
    args = parser.parse_args()
    # Kernels run in another folder than this one.
    os.environ["RETRYLAB"] = os.path.abspath(shutil.which(retrylab.command()) or retrylab.command())
    paths = args.notebooks or sorted(HERE.glob("*.ipynb"))
    return 0 if all([check(path, args.write) for path in paths]) else 1


if __name__ == "__main__":
    sys.exit(main())
