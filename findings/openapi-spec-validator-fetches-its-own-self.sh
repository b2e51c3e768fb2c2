#!/bin/sh
# openapi-spec-validator 0.9.0 with jsonschema-path 0.5.0: a document of OpenAPI 3.2 that refers to
# itself by its `$self` is fetched from there, though it is at hand.
#
# Guessed, as the specification has it (3.2, "Establishing the Base URI"): `$self` is the document's
# own address, so that a reference to it leads back into the document. Seen:
#
#   without an error; asked for: https://shop.example/openapi.json
#
# So the result depends on what a server answers, and without a network the check fails.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install \
  openapi-spec-validator==0.9.0 jsonschema-path==0.5.0

cat >"$work/check.py" <<'PYTHON'
from jsonschema_path import SchemaPath
from openapi_spec_validator import OpenAPIV32SpecValidator

item = {"schema": {"$ref": "https://shop.example/openapi.json#/components/schemas/Item"}}
answer = {"description": "An item.", "content": {"application/json": item}}
document = {
    "openapi": "3.2.0",
    "$self": "https://shop.example/openapi.json",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/item": {"get": {"responses": {"200": answer}}}},
    "components": {"schemas": {"Item": {"type": "object"}}},
}
asked = set()


def fetch(address):
    """What the server would answer."""
    asked.add(address)
    return document


read = SchemaPath.from_dict(document, handlers={"https": fetch})
assert [*OpenAPIV32SpecValidator(read).iter_errors()] == []
print("without an error; asked for:", *asked)
assert asked == {"https://shop.example/openapi.json"}, asked
PYTHON
"$work/venv/bin/python" "$work/check.py"
