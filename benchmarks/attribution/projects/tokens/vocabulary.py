"""The words that have an id of their own, in the order of their ids."""

# fmt: off
WORDS = (
    "the", "a", "my", "your", "this", "that", "one", "two", "red", "blue", "old", "new", "small",
    "large", "quiet", "loud", "cat", "dog", "bird", "fish", "house", "river", "road", "train",
    "door", "lamp", "book", "letter", "sings", "sleeps", "runs", "falls", "opens", "burns", "waits",
    "turns", "slowly", "today", "again", "alone", "under", "over", "behind", "near", "with",
    "without", "and", "but", "when", "because",
)
# fmt: on
