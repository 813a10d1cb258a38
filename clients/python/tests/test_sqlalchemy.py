"""The primary key for SQLAlchemy, on SQLite."""

from __future__ import annotations

import asyncio
import threading

from sqlalchemy import Engine, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session
from sqlalchemy.util import greenlet_spawn

from snowlane import IdRun, PrefetchBuffer
from snowlane.sqlalchemy import id_column
from snowlane.testing import FakeIdClient


def model_of(ids: PrefetchBuffer) -> tuple[type[DeclarativeBase], Engine]:
    class Base(DeclarativeBase):
        pass

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[int] = id_column(ids)
        article: Mapped[str]

    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    return Order, engine


def test_entities_get_different_ids_when_they_are_flushed() -> None:
    with FakeIdClient([IdRun(100, 1_000, 1)]) as client:
        order, engine = model_of(client.prefetch())
        with Session(engine) as session:
            session.add_all([order(article="tea") for _ in range(200)])
            session.commit()
            found = list(session.scalars(select(order.__table__.c.id)))
        assert len(set(found)) == 200
        assert all(100 <= id < 1_100 for id in found)


def test_an_entity_that_has_an_id_keeps_it() -> None:
    with FakeIdClient([IdRun(100, 1_000, 1)]) as client:
        ids = client.prefetch()
        order, engine = model_of(ids)
        with Session(engine) as session:
            session.add(order(id=7, article="tea"))
            session.commit()
            assert list(session.scalars(select(order.__table__.c.id))) == [7]
        assert ids.stats().handed_out == 0


class SlowSource:
    """Answers when the event loop has run meanwhile: a wait that held the loop would last until the deadline."""

    def __init__(self) -> None:
        self.is_loop_alive = threading.Event()

    def reserve(self, count: int, timeout_s: float | None = None) -> list[IdRun]:
        assert self.is_loop_alive.wait(60)
        return [IdRun(100, count, 1)]


def test_a_wait_in_an_async_session_does_not_hold_the_event_loop() -> None:
    source = SlowSource()
    order, engine = model_of(PrefetchBuffer(source, timeout_s=60))

    def save() -> int:
        with Session(engine) as session:
            saved = order(article="tea")
            session.add(saved)
            session.flush()
            return int(saved.id)  # type: ignore[attr-defined]

    async def main() -> int:
        # As AsyncSession runs a Session.
        saving = asyncio.ensure_future(greenlet_spawn(save))
        await asyncio.sleep(0)
        source.is_loop_alive.set()
        return await saving

    assert asyncio.run(main()) >= 100
