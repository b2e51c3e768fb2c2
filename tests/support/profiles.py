"""What a profile may say, with names that would be markup."""

from dataclasses import replace

from tollgate.compare.cpu import COMPUTING
from tollgate.compare.profile import model
from tollgate.compare.profile.model import MORE, SAME, Flame, Function, ProfileChange

CPU = ProfileChange(2000.0, 2800.0, 800.0, 700.0, 900.0, MORE)
NAMES = ("`first`|", "second", "third", "fourth")


def function(name, moved):
    return Function(name, "app/x.js", 7, replace(CPU, moved=moved), 1.0, 2.0)


COUNTS = {"level": 0.01, "blocks": 16, "answered": 900, "cpu": CPU}
WHY = model.Why(
    **{"version": model.VERSION, "problem": "", "outcome": COMPUTING, **COUNTS},
    functions=(*(function(name, MORE) for name in NAMES), function("<script>", SAME)),
    flame=(
        Flame("all", "", 0, 0.0, 10.0, 9.0, 10.0, SAME),
        Flame("<script>x</script>", "app/x.js:7", 1, 0.0, 9.0, 8.0, 9.0, MORE),
    ),
)
