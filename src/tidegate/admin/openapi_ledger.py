"""Payments and the ledger in the OpenAPI document."""

from tidegate.admin.openapi_parts import (
    AMOUNT,
    FLAG,
    LIMIT,
    POSITIVE,
    TEXT,
    TIME,
    Schema,
    body,
    closed,
    content,
    in_path,
    or_null,
    page_of,
    problems,
    query,
    structure,
)

_PLACES = {"enum": ["available", "held", "income", "outside"]}
_DOLLARS: Schema = {
    "type": "string",
    "pattern": r"^\d{1,10}(\.\d{1,9})?$",
    "description": "US dollars, above zero.",
}
_ALL = "US dollars, above zero and at most what is left of the charge; absent: all that is left."
_REFERENCE: Schema = {
    "type": "string",
    "maxLength": 200,
    "description": "Its own name; absent: one is made.",
}


def paths() -> Schema:
    """The routes."""
    return {
        "/admin/v1/accounts/{name}/credit": {
            "post": {
                "summary": "Add a payment to an account; the same reference is never credited twice",
                "operationId": "creditAccount",
                "parameters": [in_path("name")],
                "requestBody": body("Payment"),
                "responses": _credited(),
            }
        },
        "/admin/v1/requests/{id}/refund": {
            "post": {
                "summary": "Pay back what a request was charged; the same reference is never paid twice",
                "operationId": "refundRequest",
                "parameters": [in_path("id")],
                "requestBody": body("RefundOrder"),
                "responses": _refunded(),
            }
        },
        "/admin/v1/ledger": {
            "get": {
                "summary": "Postings, newest first",
                "operationId": "listPostings",
                "parameters": [
                    query("account", TEXT),
                    query("limit", LIMIT, "How many rows at most."),
                    query("before", TEXT, "`next` of an earlier answer: only older rows."),
                ],
                "responses": _listed(),
            }
        },
    }


def _credited() -> Schema:
    refused = problems("400", "401", "404", "409", "413", "422", "503")
    return {"200": content("What came of it.", "Credit"), **refused}


def _refunded() -> Schema:
    refused = problems("400", "401", "409", "413", "422", "503")
    return {"200": content("What came of it.", "Refund"), **refused}


def _listed() -> Schema:
    return {"200": content("A page.", "PostingPage"), **problems("400", "401", "503")}


def schemas() -> Schema:
    """What goes in and out."""
    return {
        "Payment": _payment(),
        "Credit": _credit(),
        "RefundOrder": closed({"amount": {**_DOLLARS, "description": _ALL}, "reference": _REFERENCE}),
        "Refund": _refund(),
        "Posting": _posting(),
        "PostingPage": page_of("Posting", "before"),
    }


def _payment() -> Schema:
    return closed({"amount": _DOLLARS, "reference": _REFERENCE}, required=("amount",))


def _credit() -> Schema:
    return structure(
        {
            "account": TEXT,
            "reference": TEXT,
            "credited": {**FLAG, "description": "False: this reference was credited before."},
            "balance": AMOUNT,
            "held": AMOUNT,
        }
    )


def _refund() -> Schema:
    return structure(
        {
            "request": TEXT,
            "account": TEXT,
            "reference": TEXT,
            "refunded": {**FLAG, "description": "False: this reference was paid back before."},
            "amount": AMOUNT,
            "balance": AMOUNT,
            "held": AMOUNT,
        }
    )


def _posting() -> Schema:
    return structure(
        {
            "number": POSITIVE,
            "at": TIME,
            "kind": {"enum": ["credit", "hold", "settle", "release", "refund"]},
            "reference": TEXT,
            "account": TEXT,
            "key": or_null(TEXT),
            "source": _PLACES,
            "target": _PLACES,
            "amount": AMOUNT,
            "note": or_null(TEXT, "Of a refund: the request's id."),
        }
    )
