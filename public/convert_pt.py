#!/usr/bin/env python3
"""Converts .pt files of rollouts, as slime and miles write them, to JSON lines that Rollscope opens.

    python convert_pt.py FILE.pt… [--out FILE] [--force]

Writes FILE.jsonl beside each FILE.pt. A file with a list, or with a list `samples`, becomes one line for each sample; any other file
becomes one line. Tensors become lists of numbers. The files are loaded with torch.load(weights_only=True), which executes nothing in them. Needs
torch, and numpy for files with its arrays and numbers. The exit status is 2 if a file could not be converted.
"""
import argparse
import json
import pickle
import sys
import warnings
from pathlib import Path

import torch

try:
    import numpy
except ImportError:
    numpy = None


class Refused(Exception):
    """A file that cannot be converted. The message says why, and what to do."""


def plain(value, place):
    """Returns a value with lists in place of tensors. `place` is its path, for an error."""
    if isinstance(value, torch.Tensor):
        return numbers(value, place)
    if numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray)):
        return plain(value.tolist(), place)
    if isinstance(value, dict):
        return {str(key): plain(inner, f"{place}.{key}") for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner, f"{place}[{index}]") for index, inner in enumerate(value)]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise Refused(f"{place or 'the file'} is {type(value).__name__}, which JSON does not have")


def numbers(tensor, place):
    """Returns the numbers of a tensor as a list. A sparse tensor gets its zeros."""
    if tensor.is_complex():
        raise Refused(f"{place or 'the file'} is a tensor of complex numbers, which JSON does not have")
    try:
        return (tensor if tensor.layout == torch.strided else tensor.to_dense()).tolist()
    except RuntimeError as error:
        raise Refused(f"{place or 'the file'} is a tensor whose numbers cannot be read ({error})") from error


def records(value):
    """Yields the records of a file, each with the path to it."""
    samples = value.get("samples") if isinstance(value, dict) else value
    if isinstance(samples, (list, tuple)):
        for index, sample in enumerate(samples):
            yield sample, f"{'samples' if isinstance(value, dict) else ''}[{index}]"
    else:
        yield value, ""


def numpy_globals():
    """Returns what the arrays and numbers of numpy need to be loaded, under the names of numpy 1 and 2. None of it runs code of a file."""
    if numpy is None:
        return []
    module = getattr(numpy, "_core", None) or numpy.core
    functions = {"scalar": module.multiarray.scalar, "_reconstruct": module.multiarray._reconstruct}
    named = [(function, f"numpy.{core}.multiarray.{name}") for core in ("core", "_core") for name, function in functions.items()]
    return [*named, numpy.ndarray, numpy.dtype, *{type(numpy.dtype(code)) for code in "?bhilqBHILQefdgU"}]


def load(file):
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals(numpy_globals()):
            warnings.simplefilter("ignore")
            return torch.load(file, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise Refused("there is no such file") from None
    except pickle.UnpicklingError as error:
        if "Unsupported operand" in str(error):
            raise Refused(
                "it is a pickle of protocol 4 or later, which torch does not load without running it. In the program that writes the "
                "file, use torch.save(value, file) with its own protocol, 2"
            ) from error
        unsafe = str(error).split("Unsupported global: GLOBAL ")
        if len(unsafe) == 1:
            raise Refused(f"it is not a file of torch.save, or it is damaged ({error})") from error
        raise Refused(
            f"it contains an object of {unsafe[1].split(' ')[0]}, which could run code when it is loaded. In the program that writes "
            "the file, save dicts, lists and tensors, for example sample.to_dict()"
        ) from error
    except Exception as error:  # The reader of torch raises many kinds of errors for other files, such as KeyError.
        raise Refused(f"it is not a file of torch.save, or it is damaged ({error})") from error


def convert(file, out, force):
    """Writes the converted file, completely or not at all. Returns the number of its records."""
    if out.exists() and not force:
        raise Refused(f"{out} exists already: choose another name with --out, or overwrite it with --force")
    part = out.with_name(f"{out.name}.part")
    count = 0
    try:
        # A lone surrogate, which UTF-8 does not have, becomes its escape in JSON.
        with part.open("w", encoding="utf-8", errors="backslashreplace") as opened:
            for record, place in records(load(file)):
                opened.write(json.dumps(plain(record, place), ensure_ascii=False) + "\n")
                count += 1
        part.replace(out)
    except RecursionError:
        raise Refused("it contains itself, or its lists are nested too deeply") from None
    finally:
        part.unlink(missing_ok=True)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, help="name of the new file, for a single FILE")
    parser.add_argument("--force", action="store_true", help="overwrite a file that exists")
    arguments = parser.parse_args()
    if arguments.out is not None and len(arguments.files) > 1:
        parser.error("--out needs a single FILE")
    status = 0
    for file in arguments.files:
        out = arguments.out or file.with_suffix(".jsonl")
        try:
            print(f"{out}: {convert(file, out, arguments.force)} records")
        except Refused as refusal:
            print(f"{file}: {refusal}", file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
