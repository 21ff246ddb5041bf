#!/usr/bin/env python3
"""The ROS 2 client cases. `run.py --list` prints the table, `run.py NAME` runs one case.

A case is a function under cases/ with @case on it; its name says the behaviour it shows. It runs real processes of
rclpy on whatever RMW the environment selects (`cargo xtask env`), and prints its figures in one last line.
Exit status: 0 it holds, 1 it does not, 77 this machine cannot show it. SHOAL_TEST_SCALE (1.0) scales the rounds."""
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from support import case  # noqa: E402


def main():
    for name in sorted(os.listdir(os.path.join(HERE, "cases"))):
        if name.endswith(".py"):
            importlib.import_module("cases." + name[:-3])
    if sys.argv[1:] == ["--list"]:
        for c in case.TABLE.values():
            print(c.name, c.limit * max(1.0, case.SCALE))
        return 0
    if len(sys.argv) != 2 or sys.argv[1] not in case.TABLE:
        print(__doc__)
        return 2
    return case.run(case.TABLE[sys.argv[1]])


if __name__ == "__main__":
    sys.exit(main())
