"""One run split over several machines, and put together again.

What belongs here: which cases each shard has (``assignment``, by ``durations`` where they are known), what
a run leaves for the merge (``share``), whether some runs are all shards of one (``union``), and the run that
they are together (``merged_run``). Asking pytest which cases there are is ``plugin``'s.
"""
