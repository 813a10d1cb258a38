"""An entity of SQLAlchemy with an ID of Snowlane. Saves one order, then prints each order with the time in its ID."""

import os
from datetime import timezone

from snowlane import IdClient
from sqlalchemy import BigInteger, Text, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

client = IdClient(os.environ["SNOWLANE_URL"])
ids = client.prefetch()


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders_sqlalchemy"
    # Without the lambda, SQLAlchemy would hand its context to next_id, which would take it for a time to wait.
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False, default=lambda: ids.next_id())
    article: Mapped[str] = mapped_column(Text)


engine = create_engine(os.environ["DATABASE_URL"].replace("postgres://", "postgresql+psycopg://"))
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add(Order(article="tea"))
    session.commit()
    for order in session.scalars(select(Order).order_by(Order.id)):
        made = client.parse(order.id).create_time.astimezone(timezone.utc)
        print(order.id, made.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
client.close()
