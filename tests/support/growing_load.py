"""A JMeter of numbers: it sends the arrivals of a growing file to a queue, and writes samples."""

import heapq

from tollgate.capacity.arrivals import ROW

HEADER = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
HEADER += "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect,"
HEADER += '"TESTSTART.MS","trial","arrival","due"'
#: What a request to a server that does nothing takes, in ms.
NOTHING_MS = 0.2


class GrowingLoad:
    """service: (when it is sent, in ms; what is asked) -> (when the answer comes, in ms; whether it
    is right). sends: arrivals a second at most that it can send. timeout_ms: of a request."""

    def __init__(self, arrivals, jtl, service, threads=200, sends=400.0, timeout_ms=5000.0):
        self.arrivals, self.jtl, self.service = arrivals, jtl, service
        self.free = [(0.0, number) for number in range(1, threads + 1)]
        self.gap_ms, self.sent_ms, self.timeout_ms = 1000 / sends, 0.0, timeout_ms
        self.read, self.pending, self.has_ended = ROW, [], False
        jtl.write_text(HEADER + "\n")

    def go_on(self, now_ms):
        """Send what is new in the file, and write what was answered by now."""
        with self.arrivals.open("rb") as file:
            file.seek(self.read)
            new = file.read()
        self.read += len(new)
        for line in new.decode().splitlines():
            trial, arrival, due, of, _ = line.split(",")
            if of == "end":
                self.has_ended = True
                break
            self._send(trial, arrival, int(due), of)
        with self.jtl.open("a") as file:
            while self.pending and self.pending[0][0] <= now_ms:
                file.write(heapq.heappop(self.pending)[1])

    def _send(self, trial, arrival, due, of):
        free_ms, thread = heapq.heappop(self.free)
        start = self.sent_ms = max(due, free_ms, self.sent_ms + self.gap_ms)
        does_nothing = of == "nothing"
        end, is_right = (start + NOTHING_MS, True) if does_nothing else self.service(start, of)
        if end > start + self.timeout_ms:
            end, is_right = start + self.timeout_ms, False
        heapq.heappush(self.free, (end, thread))
        ok, code = ("true", "200") if is_right else ("false", "500")
        elapsed = round(end) - round(start)
        row = (
            f"{round(start)},{elapsed},{of},{code},,capacity 1-{thread},text,{ok},,9,9,1,1,"
            f"http://127.0.0.1/,{elapsed},0,0,1,{trial},{arrival},{due}\n"
        )
        heapq.heappush(self.pending, (end, row))


def queue(service_ms, workers=1):
    """Workers that take requests in the order in which they come."""
    free = [0.0] * workers

    def answer(start_ms, _of):
        end = max(start_ms, heapq.heappop(free)) + service_ms()
        heapq.heappush(free, end)
        return end, True

    return answer
