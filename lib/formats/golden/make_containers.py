"""Writes containers.json: tables in Parquet and Arrow files, with the rows that pyarrow reads from them.

    python -m pip install pyarrow==26.0.1
    python lib/formats/golden/make_containers.py
"""

import base64
import datetime
import io
import json
import pathlib

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
too_large = io.BytesIO()
pq.write_table(pa.table({"token_ids": pa.array([[1], [2**60]], pa.list_(pa.int64()))}), too_large)

golden = {
    "rows": [plain(row) for row in pq.read_table(io.BytesIO(files["none.parquet"])).to_pylist()],
    "files": {name: base64.b64encode(content).decode() for name, content in files.items()},
    "tooLarge": base64.b64encode(too_large.getvalue()).decode(),
}
path = pathlib.Path(__file__).parent / "containers.json"
path.write_text(json.dumps(golden, indent=1) + "\n")
