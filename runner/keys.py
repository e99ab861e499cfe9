"""The typed keys under which the application keeps its parts."""

from aiohttp import web

from runner.engine import Engine
from runner.scheduler import Scheduler
from runner.settings import RunnerSettings
from runner.store import Store

ENGINE: web.AppKey[Engine] = web.AppKey("engine")
SCHEDULER: web.AppKey[Scheduler] = web.AppKey("scheduler")
SETTINGS: web.AppKey[RunnerSettings] = web.AppKey("settings")
STORE: web.AppKey[Store] = web.AppKey("store")
