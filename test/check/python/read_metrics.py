"""Prints the metrics on stdin as prometheus_client reads them: for each name its type and its samples."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

families = text_string_to_metric_families(sys.stdin.read())
print(
    json.dumps(
        {
            family.name: {
                "type": family.type,
                "samples": [
                    {"labels": sample.labels, "value": sample.value}
                    for sample in family.samples
                ],
            }
            for family in families
        }
    )
)
