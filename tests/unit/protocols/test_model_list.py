"""The list of models as the official clients read it."""

import json

import anthropic.types
import openai.types

from tidegate.protocols.model_list import anthropic_list, anthropic_model, openai_list, openai_model

CREATED = 1_700_000_000


def test_openai_shape() -> None:
    listed = json.loads(openai_list(["a", "b*"], CREATED))
    assert listed == {"object": "list", "data": [openai_model("a", CREATED), openai_model("b*", CREATED)]}
    assert listed["data"][0] == {"id": "a", "object": "model", "created": CREATED, "owned_by": "tidegate"}
    openai.types.Model.model_validate(listed["data"][0], strict=True)


def test_anthropic_shape() -> None:
    listed = json.loads(anthropic_list(["a", "b"], CREATED))
    assert (listed["has_more"], listed["first_id"], listed["last_id"]) == (False, "a", "b")
    assert listed["data"] == [anthropic_model("a", CREATED), anthropic_model("b", CREATED)]
    model = anthropic.types.ModelInfo.model_validate(listed["data"][0])
    assert (model.id, model.type, model.display_name) == ("a", "model", "a")
    assert model.created_at.timestamp() == CREATED


def test_no_models() -> None:
    assert json.loads(openai_list([], CREATED)) == {"object": "list", "data": []}
    listed = json.loads(anthropic_list([], CREATED))
    assert listed == {"data": [], "has_more": False, "first_id": None, "last_id": None}
