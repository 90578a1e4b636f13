"""From replies to numbers: judging, aggregation, intervals and metrics."""
