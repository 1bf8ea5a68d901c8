"""Batches of a sweep on many processes, by Dask."""

import collections
import os

from . import _core
from ._sweep_folder import Worker, read_plan
from .errors import DeviceError, Error, FileError

_LOSSES = 3  # workers that a batch may take with it before it is given up


def run_distributed(folder, plan, missing, workers, threads, devices, progress):
    """Runs batches on the workers of a Dask cluster: a number of processes of this machine, the address of a scheduler,
    a client or a cluster. What is sent for a batch is its number; what it gives goes into the folder."""
    try:
        import cloudpickle
        import distributed
    except ImportError:
        raise ImportError("sweep: found no distributed, which runs other processes; pip install isocloth[sweep], or "
                          "workers=1, or worker=(i, n)") from None
    functions = cloudpickle.dumps(plan.functions)
    with _client(distributed, workers, threads, devices) as client:
        count = len(client.scheduler_info(n_workers=-1)["workers"])
        threads = threads or (max(1, len(os.sched_getaffinity(0)) // workers) if isinstance(workers, int) else 0)
        names = collections.deque(missing)
        arguments = (str(folder), plan.digest, functions, threads)

        def submit(number):
            # A lost worker's batch is run again by another; those that it had done are in the folder.
            return client.submit(run_number, number, *arguments, key=f"batch-{number}-{plan.digest[:8]}", pure=False)

        # As many at once as keep workers busy; a scheduler that knows all of a million batches takes gigabytes.
        futures = [submit(names.popleft()) for _ in range(min(len(names), 2 * max(count, 1) + 8))]
        lost = []
        running = distributed.as_completed(futures)
        del futures
        for future in running:
            try:
                progress.add(future.result(), workers=len(client.scheduler_info(n_workers=-1)["workers"]))
            except distributed.KilledWorker:
                lost.append(int(future.key.split("-")[1]))
            except (Error, OSError) as error:
                raise _told(error) from None
            if names:
                running.add(submit(names.popleft()))
    if lost:
        batch = plan.batches()[lost[0]]
        raise DeviceError(f"sweep: {len(lost)} batches ended {_LOSSES + 1} workers each and were left out, the first "
                          f"is number {lost[0]}, cases {batch[0]} to {batch[-1]}; too little memory? try a smaller "
                          "batch, or run one of its cases alone; the other batches are whole")


def _told(error):
    return error if str(error) else type(error)("a worker failed without a message")


_own = {}


def run_number(number, folder, digest, functions, threads):
    """Runs a batch in a worker, which keeps the plan from batch to batch."""
    if (folder, digest) not in _own:
        import cloudpickle

        plan = read_plan(folder, cloudpickle.loads(functions))
        if plan.digest != digest:
            raise FileError(f"{folder}: found another plan than that of this sweep")
        simd = plan.content["execution"]["simd"]
        order = ("baseline", "avx2", "avx512")
        if simd and order.index(simd) > order.index(_core.widest_simd()):
            raise DeviceError(f"simd: found {_core.widest_simd()} on a worker, expected {simd}, which the plan was "
                              f"made with; say simd=\"{_core.widest_simd()}\", or leave this machine out")
        _own.clear()
        _own[folder, digest] = Worker(folder, plan, threads)
    return _own[folder, digest].run(number)


class _client:
    """A client of a cluster, and the cluster itself where it is made here."""

    def __init__(self, distributed, workers, threads, devices):
        self.distributed, self.workers, self.threads, self.devices = distributed, workers, threads, devices

    def __enter__(self):
        import dask

        self.closing = []
        self.config = dask.config.set({"distributed.scheduler.allowed-failures": _LOSSES,
                                       "distributed.admin.large-graph-warning-threshold": "1GB",
                                       "distributed.scheduler.worker-saturation": 1.0})
        self.config.__enter__()
        try:
            if isinstance(self.workers, self.distributed.Client):
                return self.workers
            cluster = self.workers
            if isinstance(self.workers, int):
                cluster = self._local(self.workers)
                self.closing.append(cluster)
            client = self.distributed.Client(cluster)
            self.closing.insert(0, client)
            if isinstance(self.workers, int):
                client.wait_for_workers(self.workers)
            return client
        except BaseException as error:  # Ctrl-C while processes start, too
            self.__exit__()
            if not isinstance(error, OSError):
                raise
            raise FileError(f"workers: {self.workers}: {error}, expected a number of processes, or a Dask scheduler "
                            "that runs there") from None

    def _local(self, count):
        devices = [str(d) for d in self.devices or ()]
        if devices and len(devices) != count:
            raise DeviceError(f"devices: found {len(devices)} for {count} processes, expected one for each")
        # One thread takes batches; the engine has its own.
        options = {"nthreads": 1, "memory_limit": 0, "dashboard_address": None, "silence_logs": 50}
        workers = {i: {"cls": self.distributed.Nanny,
                       "options": options | ({"env": {"CUDA_VISIBLE_DEVICES": devices[i]}} if devices else {})}
                   for i in range(count)}
        return self.distributed.SpecCluster(
            workers=workers, scheduler={"cls": self.distributed.Scheduler,
                                        "options": {"host": "127.0.0.1", "dashboard": False,
                                                                                "dashboard_address": "127.0.0.1:0"}},
            silence_logs=50)

    def __exit__(self, *error):
        for part in self.closing:
            try:
                part.close(timeout=10)
            except Exception:  # workers that were interrupted themselves; what they had done is in the folder
                pass
        self.config.__exit__(None, None, None)
