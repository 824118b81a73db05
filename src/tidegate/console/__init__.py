"""The pages that operators see."""
