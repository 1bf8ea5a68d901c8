"""What a batch of a sweep costs beside the simulation: bytes that are sent and stored, processor time, memory.

usage: python distributed_overhead.py FOLDER [lanes|alone|stored|sent ...], with pip install isocloth[sweep]

Processor time, so that programs beside it change little. The scene is an A3 sheet of 9 x 9 nodes, 3 keys vary.
"""

import json
import pathlib
import sys
import time

import isocloth
from isocloth._sweep_folder import Worker, claim, missing_batches
from isocloth._sweep_plan import make_plan

SCENE = pathlib.Path(__file__).parents[3] / "bench" / "scenes" / "paper_fast_9x9.json"


def plan_of(cases, steps, batch, **options):
    scene = json.loads(SCENE.read_text()) | {"duration": round(steps * 0.01, 9), "frame_interval": 0.05}
    count = cases // 10
    vary = {"fabric.mass_damping": {"from": 0, "to": 5, "count": count},
            "fabric.gravity_density": {"from": 0.1, "to": 1, "count": 5},
            "fabric.bending_stiffness": [0, 1e-5]}
    return make_plan(scene, vary, batch=batch, check=False, **options)


def lanes(folder):
    """Cases per second of one thread by the size of a batch."""
    for batch in (1, 8, 32, 128):
        plan = plan_of(10 * max(1, batch // 10 + 1), 400, batch)
        worker = Worker(claim(folder / f"lanes-{batch}", plan), plan, threads=1)
        begin = time.process_time()
        done = worker.run(0)
        seconds = time.process_time() - begin
        print(f"batch of {batch}: {done['cases'] / seconds:.3g} cases of 4 s per second of one core")


def alone(folder):
    """A batch of one step in this process, and reading many back."""
    plan = plan_of(2010, 1, 10)
    folder = claim(folder / "alone", plan)
    worker = Worker(folder, plan, threads=1)
    worker.run(0)  # loads what writes Parquet
    begin, wall = time.process_time(), time.perf_counter()
    done = [worker.run(number) for number in range(1, 201)]
    written = 5 * sum(d["written_seconds"] for d in done)
    print(f"a batch of 10 cases of one step: {5 * (time.process_time() - begin):.3g} ms of processor, "
          f"{5 * (time.perf_counter() - wall):.3g} ms on the clock, of these {written:.3g} ms to write "
          f"{done[0]['table_bytes']} bytes")
    begin, wall = time.process_time(), time.perf_counter()
    missing_batches(folder, plan)
    print(f"to look at a batch that is there: {5 * (time.process_time() - begin):.3g} ms")
    begin = time.process_time()
    isocloth.read_sweep(folder)
    print(f"to look at it and read it: {5 * (time.process_time() - begin):.3g} ms")


def stored(folder):
    plan = plan_of(1280, 100, 128, frames=True)
    worker = Worker(claim(folder / "stored", plan), plan, threads=1)
    done = worker.run(0)
    frames = 21
    print(f"128 cases: table {done['table_bytes']} bytes ({done['table_bytes'] / 128:.3g} a case), frames of 81 nodes "
          f"{done['frames_bytes'] / 128 / frames / 81:.4g} bytes per node and frame; plan.json "
          f"{(folder / 'stored' / 'plan.json').stat().st_size} bytes")


def nothing(number, folder, digest, functions, threads):
    return {"batch": number, "cases": 1, "failed": 0}


def sent(folder):
    """Bytes and processor time of the process that has scheduler and client, per batch that does nothing."""
    import distributed.comm.tcp as tcp
    import isocloth._distributed

    isocloth._distributed.run_number = nothing

    counted = {"write": 0, "messages": 0}
    write = tcp.TCP.write

    async def counting(self, message, **options):
        size = await write(self, message, **options)
        counted["write"] += size if isinstance(size, int) else 0
        counted["messages"] += 1
        return size

    tcp.TCP.write = counting
    for cases in (20, 420):
        plan = plan_of(cases, 1, 1)
        begin, wall, before = time.process_time(), time.perf_counter(), dict(counted)
        isocloth.run_plan(plan, folder / f"sent-{cases}", workers=2, threads=1, quiet=True)
        figures = (time.process_time() - begin, time.perf_counter() - wall, counted["write"] - before["write"],
                   counted["messages"] - before["messages"], cases)
        if cases == 20:
            few = figures
            print(f"start and end of two processes: {figures[1]:.3g} s")
    processor, wall, size, messages, batches = (b - a for a, b in zip(few, figures))
    print(f"a batch by scheduler and client: {1000 * processor / batches:.3g} ms of their processor, "
          f"{size / batches:.0f} bytes sent in {messages / batches:.2g} messages and {batches / wall:.3g} a second "
          "on the clock here")


def main():
    folder = pathlib.Path(sys.argv[1])
    measures = {function.__name__: function for function in (lanes, alone, stored, sent)}
    for name in sys.argv[2:] or measures:
        measures[name](folder)


if __name__ == "__main__":
    main()
