"""Closed forms beside what the engine makes of them: one table.

    python bench/truth [CHECK ...]

A check is a function of statics.py, motion.py or friction.py; all by default, in two minutes. Nothing in them is fitted
to what they are compared with. bench/closed_forms.md has the table and says where ours is wrong, and why.
"""

import argparse
import warnings

import friction
import isocloth
import motion
import statics
from check import HEADER

CHECKS = {check.__name__: check for check in (
    statics.heavy_column, statics.lateral_buckling, statics.elastic_catenary, statics.pure_bending,
    statics.round_membrane, statics.square_membrane, statics.mylar_balloon, motion.clamped_strip, motion.drum,
    motion.folded_chain, motion.hoop, motion.impact, motion.terminal_velocity, friction.capstan, friction.table_static,
    friction.table_dynamic)}


def main():
    parser = argparse.ArgumentParser(prog="python bench/truth", description="closed forms beside the engine")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="; ".join(CHECKS))
    names = parser.parse_args().checks or list(CHECKS)
    if unknown := [name for name in names if name not in CHECKS]:
        parser.error(f"CHECK: found {unknown[0]}, expected one of {', '.join(CHECKS)}")
    warnings.simplefilter("ignore", isocloth.SceneWarning)  # of garments that are moved before they step
    print("|", " | ".join(HEADER), "|")
    print("|---" * len(HEADER) + "|")
    for name in names:
        print("|", " | ".join(CHECKS[name]().cells()), "|", flush=True)


if __name__ == "__main__":
    main()
