"""What channels have besides their settings: pause, drain, resume, and a test."""

import asyncio
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus

from aiohttp import web

from tidegate.admin.answers import json_answer
from tidegate.admin.authors import author_of
from tidegate.admin.bodies import read_object
from tidegate.admin.catalog_api import PREFIX, CatalogApi
from tidegate.admin.catalog_json import Json, entry_json
from tidegate.admin.failed_tries import Tell
from tidegate.admin.parameters import read_known
from tidegate.admin.ports import (
    CatalogDesk,
    ChannelTester,
    Entry,
    Fault,
    Invalid,
    NoSuchModel,
    Settings,
)
from tidegate.admin.problems import Problem
from tidegate.admin.resources import iso_time
from tidegate.doctor.report import report_json
from tidegate.routing.catalog import Channel, Duty
from tidegate.storage.audit import Deed
from tidegate.storage.catalog import Kind

_DUTIES = {"pause": Duty.PAUSED, "drain": Duty.DRAINING, "resume": Duty.ACTIVE}


class ChannelsApi:
    """The routes of channels."""

    def __init__(self, desk: CatalogDesk, tester: ChannelTester | None, tell: Tell) -> None:
        """Without a tester no channel can be tested. `tell` puts into the audit log that one was."""
        self._tell = tell
        self._desk = desk
        self._tester = tester
        self._catalog = CatalogApi(Kind.CHANNELS, desk, self._duties)

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        self._catalog.add_to(app)
        app.router.add_post(f"{PREFIX}/channels/{{name}}/test", self.test)
        for word, duty in _DUTIES.items():
            app.router.add_post(f"{PREFIX}/channels/{{name}}/{word}", partial(self.set_duty, duty))

    async def set_duty(self, duty: Duty, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        _demand_nothing(await _read_body(request))
        entry = await self._desk.by(author_of(request)).set_duty(request.match_info["name"], duty)
        return json_answer(entry_json(entry, self._desk.doubts(entry)) | duty_json(entry.name, self._desk))

    async def test(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        model = _read_model(await _read_body(request))
        entry = await self._catalog.wanted(request)
        if self._tester is None:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "this process calls no channels")
        if not isinstance(entry.value, Channel):
            raise Problem(HTTPStatus.CONFLICT, f"the channel {entry.problem}")
        try:
            report = await self._tester.test(entry.value, model)
        except NoSuchModel as error:
            raise Invalid((Fault("model", str(error), "name one that the channel serves"),)) from error
        except asyncio.CancelledError:  # who asked has left, but the upstream was called all the same
            self._tell(author_of(request), tested(entry.name, model, ok=None))
            raise
        self._tell(author_of(request), tested(entry.name, report.model, ok=report.ok))
        return json_answer(report_json(report))

    async def _duties(self, entries: Sequence[Entry]) -> Sequence[Json]:
        return [duty_json(entry.name, self._desk) for entry in entries]


def duty_json(channel: str, desk: CatalogDesk) -> Json:
    """What is wanted of a channel at present; null where nobody ever said anything."""
    duty = desk.duty(channel)
    if duty is None:
        return {"state": Duty.ACTIVE.value, "state_changed_at": None, "state_changed_by": None}
    return {
        "state": duty.duty.value,
        "state_changed_at": iso_time(duty.changed_at),
        "state_changed_by": duty.changed_by,
    }


def tested(channel: str, model: str | None, *, ok: bool | None) -> Deed:
    """That a channel was tested; `ok` None: nobody waited for what was found."""
    changes = {"model": (None, model), "ok": (None, ok)}
    return Deed(action="test", kind=Kind.CHANNELS.value, name=channel, changes=changes)


async def _read_body(request: web.Request) -> Settings:
    """The object that was sent; nothing at all stands for an empty one."""
    return await read_object(request) if request.can_read_body else {}


def _demand_nothing(settings: Settings) -> None:
    for name in settings:
        raise Invalid((Fault(ascii(name[:50]), "is not known here", "send no body"),))


def _read_model(settings: Settings) -> str | None:
    for name in settings:
        if name != "model":
            raise Invalid((Fault(ascii(name[:50]), "is not known here", "leave it out"),))
    model = settings.get("model")
    if model is None or (isinstance(model, str) and model):
        return model
    raise Invalid((Fault("model", "must be a text that is not empty", "name a public model"),))
