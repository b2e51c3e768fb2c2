"""HARs as a browser saves them."""

import json
from datetime import datetime, timedelta, timezone
from urllib.parse import urlencode

BEGAN = datetime(2026, 6, 1, 9, 0, tzinfo=timezone.utc)


def entry(
    url, method="GET", at_s=0.0, status=200, page="page_1", body=None, json_body=None, **more
):
    """A request and its answer. body: pairs of a form. more: headers, answer (text, or what JSON
    says), mime, answer_headers, kind."""
    headers = [{"name": k, "value": v} for k, v in more.get("headers", {}).items()]
    request = {"method": method, "url": url, "headers": headers}
    if body is not None:
        mime = "application/x-www-form-urlencoded"
        request["postData"] = {"mimeType": mime, "text": urlencode(body)}
        headers.append({"name": "Content-Type", "value": mime})
    if json_body is not None:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(json_body)}
        headers.append({"name": "Content-Type", "value": "application/json"})
    answer = more.get("answer", "")
    is_text = isinstance(answer, str)
    mime = more.get("mime") or ("text/plain" if is_text else "application/json")
    text = answer if is_text else json.dumps(answer)
    answered = [{"name": k, "value": v} for k, v in more.get("answer_headers", {}).items()]
    response = {
        "status": status,
        "headers": answered,
        "content": {"mimeType": mime, "text": text, "size": len(text)},
    }
    began = BEGAN + timedelta(seconds=at_s)
    found = {
        **{"startedDateTime": began.isoformat().replace("+00:00", "Z"), "time": 20.0},
        **{"pageref": page, "request": request, "response": response},
    }
    return found | ({"_resourceType": more["kind"]} if "kind" in more else {})


def har(path, *entries):
    """Write a recording; returns its path."""
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}))
    return path
