import json

import pytest

from tollgate import pm2

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("declared", "limit"),
    [
        ("512M", 512 * MIB),
        ("1G", 1024 * MIB),
        ("300K", 300 * 1024),
        ("1048576", MIB),
        (1048576, MIB),
        (None, None),
        ("half a gigabyte", None),  # PM2 refuses it, and sets no limit
    ],
)
def test_the_memory_limit_is_what_pm2_makes_of_it(tmp_path, monkeypatch, declared, limit):
    app = {"name": "nap", "script": "nap.js", "env": {"PORT": 4000}, "max_memory_restart": declared}
    ecosystem = tmp_path / "ecosystem.config.js"
    ecosystem.write_text(f"module.exports = {{ apps: [{json.dumps(app)}] }};")
    monkeypatch.setattr(pm2, "ECOSYSTEM", ecosystem)
    assert pm2.declared_apps() == {"nap": pm2.App("nap", 4000, "fork", 1, limit)}
