"""The judgement: what a signal from upstream means for the client."""
