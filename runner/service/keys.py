"""The typed keys under which the application keeps its parts."""

from aiohttp import web

from runner.engine import Engine
from runner.health.doctor import Doctor
from runner.health.faults import FaultStreak
from runner.health.metrics import Metrics
from runner.jobs.scheduler import Scheduler
from runner.jobs.store import Store
from runner.settings import RunnerSettings

DOCTOR: web.AppKey[Doctor] = web.AppKey("doctor")
FAULTS: web.AppKey[FaultStreak] = web.AppKey("faults")
ENGINE: web.AppKey[Engine] = web.AppKey("engine")
METRICS: web.AppKey[Metrics] = web.AppKey("metrics")
SCHEDULER: web.AppKey[Scheduler] = web.AppKey("scheduler")
SETTINGS: web.AppKey[RunnerSettings] = web.AppKey("settings")
STORE: web.AppKey[Store] = web.AppKey("store")
