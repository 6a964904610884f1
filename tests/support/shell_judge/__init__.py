"""A judge of shell programs for tests: it takes a program apart and finds whether every command in it only reads."""

from tests.support.shell_judge.judge import fault_of_program

__all__ = ["fault_of_program"]
