import json

import pytest

from support.openapi_documents import document
from tollgate.intake.openapi import read_openapi
from tollgate.intake.source import load


@pytest.fixture
def draft(tmp_path):
    """Of a document, which is written as JSON."""

    def read(paths, *named, **more):
        path = tmp_path / "openapi.json"
        path.write_text(json.dumps(document(paths, **more)))
        return read_openapi(load(str(path)), "shop", named)

    return read
