"""How often a simulation is repeated, and which of its counts are in accord with a share."""

from dataclasses import dataclass

from scipy import stats

#: The part of the repetitions that is made where all of them were not asked for.
PART = 10
#: How often a part of the repetitions may refuse what all of them would only just accept.
RISK = 0.001
#: A count is whole, and a share of it may lie below by what floats lose.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Repetitions:
    """`made` repetitions of the `whole`: the first ones of the same seeded sequence."""

    made: int
    whole: int

    @classmethod
    def of(cls, whole, makes_all):
        return cls(whole if makes_all else -(-whole // PART), whole)

    def __iter__(self):
        return iter(range(self.made))

    def most(self, share):
        """The largest count in accord with a share of at most so much. Of all repetitions the share
        itself is the limit; of a part, what the binomial distribution adds to it."""
        if self.made == self.whole:
            return share * self.whole + ROUNDING
        return stats.binom.isf(RISK, self.made, share)

    def least(self, share):
        """The smallest count in accord with a share of at least so much, likewise."""
        return self.made - self.most(1 - share)
