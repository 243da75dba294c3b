"""Workers that share a job: how they are named, what is sent to them, and what happens when one dies.

naming.py   what `executor=` may be: a number of processes, a Dask client or address, any concurrent.futures.Executor
shared.py   values that are sent once to each worker
crew.py     sends tasks and collects results; tasks of a worker that died are given to another
"""

from ugraphemb.workers.crew import Crew, crew_of
from ugraphemb.workers.naming import Workers, client_of
from ugraphemb.workers.shared import Kept, Shared

__all__ = ["Crew", "Kept", "Shared", "Workers", "client_of", "crew_of"]
