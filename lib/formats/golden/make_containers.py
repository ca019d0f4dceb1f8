"""Writes containers.json: tables in Parquet and Arrow files, with the rows that pyarrow reads from them.

    python -m pip install pyarrow==26.0.1 polars==2.1.0
    python lib/formats/golden/make_containers.py
"""

import base64
import datetime
import io
import json
import pathlib

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = [
    {
        "token_ids": [1, 2, 2**40 + index],
        "loss_mask": [0, 1, 1],
        "logprobs": [None, -0.5, -1.25],
        "text": f"row {index} é",
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None}],
        "reward": None if index == 2 else index / 4,
        "at": datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.timezone.utc),
        "flag": index % 2 == 0,
        "small": index - 1,
        "bytes": bytes([0, 255, index]),
        "kind": "same",
    }
    for index in range(3)
]
SCHEMA = pa.schema(
    {
        "token_ids": pa.list_(pa.int64()),
        "loss_mask": pa.list_(pa.int8()),
        "logprobs": pa.list_(pa.float32()),
        "text": pa.string(),
        "messages": pa.list_(pa.struct({"role": pa.string(), "content": pa.string()})),
        "reward": pa.float64(),
        "at": pa.timestamp("ms", tz="UTC"),
        "flag": pa.bool_(),
        "small": pa.int16(),
        "bytes": pa.binary(3),
        "kind": pa.dictionary(pa.int32(), pa.string()),
    }
)


def plain(value: object) -> object:
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return value


table = pa.Table.from_pylist(ROWS, schema=SCHEMA)
files: dict[str, bytes] = {}
for codec in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression=codec, row_group_size=2)
    files[f"{codec}.parquet"] = sink.getvalue()
sink = io.BytesIO()
pq.write_table(table, sink, data_page_version="2.0", use_dictionary=False, compression="snappy")
files["v2.parquet"] = sink.getvalue()
for name, compression in [("plain", None), ("zstd", "zstd"), ("lz4", "lz4")]:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    for kind, opened in [("arrow", pa.ipc.new_file), ("arrows", pa.ipc.new_stream)]:
        sink = io.BytesIO()
        with opened(sink, SCHEMA, options=options) as writer:
            writer.write_table(table, max_chunksize=2)
        files[f"{name}.{kind}"] = sink.getvalue()
def stream(*batches: pa.RecordBatch) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


MORE = pa.schema(
    {
        "counts": pa.map_(pa.string(), pa.int64()),
        "pair": pa.list_(pa.int32(), 2),
        "view": pa.list_view(pa.int64()),
        "large": pa.large_list(pa.float64()),
    }
)
more = pa.RecordBatch.from_pylist(
    [
        {"counts": [("a", 1), ("b", 2)], "pair": [1, 2], "view": [1, 2, 3], "large": [0.5]},
        {"counts": [], "pair": [3, 4], "view": [], "large": None},
        {"counts": [("c", 3)], "pair": [5, 6], "view": [4], "large": [1.5, 2.5]},
    ],
    schema=MORE,
)
deep = pa.int32()
for _ in range(60):
    deep = pa.list_(deep)
union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
# The batch without rows has no field for its length.
streams = {
    "more": stream(more.slice(0, 0), more),
    "deep": stream(pa.RecordBatch.from_arrays([pa.array([None], deep)], ["deep"])),
    "union": stream(pa.RecordBatch.from_arrays([union], ["union"])),
}
# Pages of few values: lists of one row are in several pages, and pages of different columns end at different rows.
spread = pa.Table.from_pylist(
    [
        {
            "id": f"row {index}",
            "token_ids": None if index % 9 == 8 else [index * 100 + token for token in range(index * 7 % 40)],
            "messages": [
                {"role": "user", "calls": [{"name": "x" * call} for call in range(turn)]} for turn in range(index % 4)
            ],
            "reward": None if index % 3 == 0 else index / 4,
        }
        for index in range(30)
    ],
    schema=pa.schema(
        {
            "id": pa.string(),
            "token_ids": pa.list_(pa.int64()),
            "messages": pa.list_(
                pa.struct({"role": pa.string(), "calls": pa.list_(pa.struct({"name": pa.string()}))})
            ),
            "reward": pa.float64(),
        }
    ),
)
spread_file = io.BytesIO()
pq.write_table(spread, spread_file, row_group_size=12, write_batch_size=8, data_page_size=64)
too_large = io.BytesIO()
pq.write_table(pa.table({"token_ids": pa.array([[1], [2**60]], pa.list_(pa.int64()))}), too_large)

too_long = io.BytesIO()
pq.write_table(pa.table({"token_ids": pa.array([[0] * 4_300_000], pa.list_(pa.int64()))}), too_long, compression="zstd")

golden = {
    "rows": [plain(row) for row in pq.read_table(io.BytesIO(files["none.parquet"])).to_pylist()],
    "files": {name: base64.b64encode(content).decode() for name, content in files.items()},
    "more": [plain(row) | {"counts": dict(row["counts"])} for row in more.to_pylist()],
    "streams": {name: base64.b64encode(content).decode() for name, content in streams.items()},
    "spread": {"rows": spread.to_pylist(), "file": base64.b64encode(spread_file.getvalue()).decode()},
    "tooLong": base64.b64encode(too_long.getvalue()).decode(),
    "tooLarge": base64.b64encode(too_large.getvalue()).decode(),
}
path = pathlib.Path(__file__).parent / "containers.json"
path.write_text(json.dumps(golden, indent=1) + "\n")

polars = pl.DataFrame(
    {
        "input_ids": [[1, 2], [3]],
        "labels": [[-100, 2], [3]],
        "kind": pl.Series(["a", "b"], dtype=pl.Categorical),
        "messages": [[{"role": "user", "content": "a text that is longer than twelve bytes"}], []],
    }
)
polars.write_ipc(path.parent / "foreign" / "polars.arrow", compression="zstd")
