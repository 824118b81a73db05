"""Settings from file and environment, checked as a whole."""

from tidegate.config.loading import build_catalog, load
from tidegate.config.problems import ConfigError, Problem, Severity
from tidegate.config.settings import Config

__all__ = ["Config", "ConfigError", "Problem", "Severity", "build_catalog", "load"]
