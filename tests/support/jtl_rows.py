"""JTLs as JMeter 5.6.3 under Taurus writes them."""

START_MS = 1_700_000_000_000
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,"
    "allThreads,Latency,Hostname,Connect"
)


def row(
    at_ms=0,
    elapsed=5,
    label="search",
    code="200",
    message="OK",
    thread="TG 1-1",
    ok=True,
    size=120,
):
    """One line of a JTL without its newline; fields are put in as they are."""
    success = "true" if ok is True else "false" if ok is False else ok
    start = START_MS + at_ms if isinstance(at_ms, int) else at_ms
    return f"{start},{elapsed},{label},{code},{message},{thread},{success},{size},2,3,{elapsed},h,1"


def jtl(*rows, header=HEADER, newline="\n"):
    """The text of a JTL, each line ended by a newline."""
    return "".join(line + newline for line in (header, *rows))


def quoted(field, delimiter=","):
    """A field as JMeter 5.6.3 writes it, see CSVSaveService.quoteDelimiters."""
    if any(special in field for special in (delimiter, '"', "\r", "\n")):
        return '"' + field.replace('"', '""') + '"'
    return field


def lines(rows, delimiter=",", header=HEADER):
    """The bytes of a JTL with these fields."""
    head = header.replace(",", delimiter)
    text = "".join(
        delimiter.join(quoted(str(field), delimiter) for field in row) + "\n" for row in rows
    )
    return f"{head}\n{text}".encode()


def fields(number, message="OK", label="search", thread=None, code="200", elapsed=7):
    """One sample of an open model under the columns of jtl_rows: a thread name each."""
    thread = f"{label} 1-{number + 1}" if thread is None else thread
    start, ok = START_MS + 10 * number, "true" if code == "200" else "false"
    return (start, elapsed, label, code, message, thread, ok, 120, 2, 3, elapsed, "h", 1)


def usual(count, message='said "no",\nand went'):
    """A JTL of so many samples, one in ten of them failed with this message."""
    return lines(
        fields(number, message, code="500", elapsed=number % 37)
        if number % 10 == 3
        else fields(number, label=("search", "sum")[number % 2], elapsed=number % 41)
        for number in range(count)
    )


def elapsed(store):
    """The elapsed of a store's samples, in the order of the file."""
    return [took for (took,) in store.rows("SELECT elapsed_ms FROM samples")]
