#!/usr/bin/env bash
# The voices of hibari-tts do not all have the same graph: the 8-bit weights of fenrir have a scale for each column, and
# those of the other voices one scale for each matrix.
#
# One would guess: "every voice is a complete model with the same architecture, size and speed" (README of the package) means
# that another voice is the same file with other numbers, so that whoever computes one voice computes all.
# Version: hibari-tts 0.2.1 (PyPI), onnx 1.23.2.
# Seen: voices.json gives fenrir 8,031,158 bytes, and every other voice 7,936,868. The file of the voice in the package has
# exactly 8,031,158 bytes when each of its 45 matrices gets a scale and a zero point for each column, as
# `quantize_dynamic(per_channel=True)` of ONNX Runtime writes them.
# Not seen: the file of fenrir itself, which is not on PyPI.
# Why it matters to foley: a kernel that multiplies with one scale would speak noise. The kernels take a scale for each
# column (assembly/network.ts), and engines/hibari/weights.mjs refuses any other network.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2
"$folder/venv/bin/pip" install --quiet --no-deps --target "$folder/hibari" hibari-tts==0.2.1
"$folder/venv/bin/python" - "$folder/hibari/hibari/assets" <<'PYTHON'
import json
import pathlib
import sys

import onnx
from onnx import TensorProto, helper

assets = pathlib.Path(sys.argv[1])
voices = json.loads((assets / "voices.json").read_text())
model = onnx.load(assets / "hibari.onnx")
tensors = {tensor.name: tensor for tensor in model.graph.initializer}
matrices = [name for name in tensors if name.endswith("_quantized")]
for name in matrices:
    columns = tensors[name].dims[1]
    for kind, type_ in (("scale", TensorProto.FLOAT), ("zero_point", TensorProto.INT8)):
        old = name.replace("_quantized", f"_{kind}")
        values = [0.5 if kind == "scale" else 0] * columns
        tensors[old].CopyFrom(helper.make_tensor(old, type_, [columns], values))
size = len(model.SerializeToString())
sizes = {name: voice["bytes"] for name, voice in voices.items()}
print(f"{len(matrices)} matrices; with a scale for each column: {size} bytes; published: {sizes}")
assert size == sizes.pop("fenrir"), "fenrir has another size than a file with a scale for each column"
assert set(sizes.values()) == {(assets / "hibari.onnx").stat().st_size}
PYTHON
