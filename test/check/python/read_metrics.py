"""Prints the metrics on stdin as prometheus_client reads them: for each name its type and its samples.

An assertion that fails ends it with 1: the parser takes series that are there twice, and buckets that fall.
"""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families


def key(name, labels):
    return (name, *sorted(labels.items()))


families = list(text_string_to_metric_families(sys.stdin.read()))
samples = [sample for family in families for sample in family.samples]
values = {key(sample.name, sample.labels): sample.value for sample in samples}
assert len(values) == len(samples), "a series is there twice"

buckets = {}
for sample in samples:
    if sample.name.endswith("_bucket"):
        labels = {name: value for name, value in sample.labels.items() if name != "le"}
        series = key(sample.name.removesuffix("_bucket"), labels)
        buckets.setdefault(series, []).append((float(sample.labels["le"]), sample.value))
assert buckets
for (name, *labels), counts in buckets.items():
    assert counts == sorted(counts), (name, counts)
    assert [value for _, value in counts] == sorted(value for _, value in counts), (name, counts)
    assert counts[-1] == (float("inf"), values[(f"{name}_count", *labels)]), (name, counts)

print(
    json.dumps(
        {
            family.name: {
                "type": family.type,
                "samples": [
                    {"labels": sample.labels, "value": sample.value} for sample in family.samples
                ],
            }
            for family in families
        }
    )
)
