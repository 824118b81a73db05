from tidegate.admin.health_api import health_json
from tidegate.admin.ports import ChannelHealth, ModelHealth, NodeHealth


def test_the_node_is_told_with_its_channels() -> None:
    model = ModelHealth(upstream_model="m", state="cooling", why="left alone", until=1_700_000_000.25)
    channel = ChannelHealth(name="a", state="cooling", open_requests=2, models=(model,))
    node = NodeHealth(
        version="1",
        started_at=1_700_000_000.0,
        workers=2,
        database="ok",
        redis="none",
        spool_rows=0,
        open_requests=2,
        channels=(channel,),
    )
    assert health_json(node) == {
        "version": "1",
        "started_at": "2023-11-14T22:13:20.000Z",
        "workers": 2,
        "database": "ok",
        "redis": "none",
        "spool_rows": 0,
        "open_requests": 2,
        "channels": [
            {
                "name": "a",
                "state": "cooling",
                "open_requests": 2,
                "models": [
                    {
                        "upstream_model": "m",
                        "state": "cooling",
                        "why": "left alone",
                        "until": "2023-11-14T22:13:20.250Z",
                    }
                ],
            }
        ],
    }
