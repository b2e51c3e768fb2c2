"""The study: one process against several, five published systems measured again."""
