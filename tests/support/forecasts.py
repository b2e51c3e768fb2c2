"""Forecasts, and executions that kept to one or did not, for tests."""

from tollgate.forecast.model import Forecast, ForecastFacts, ForecastStep, LoadStep, StepFacts

SHARES = {"search": 0.75, "pi": 0.25}
HEADER = "hour,tps,search,pi"


def csv_text(rows=None, header=HEADER, newline="\n"):
    """A forecast file; by default 24 hours at 10 TPS."""
    rows = [f"{hour},10,75,25" for hour in range(24)] if rows is None else rows
    return "".join(line + newline for line in (header, *rows))


def day(*rates, shares=SHARES, step_s=None):
    """A forecast of so many equal steps as there are rates."""
    steps = tuple(ForecastStep(f"s{number}", tps, shares) for number, tps in enumerate(rates))
    return Forecast("data/forecast.csv", step_s or 86_400 / len(rates), steps)


def steps_of(*rates, length_s=2.5, from_s=5.0, shares=SHARES):
    """The steps of a run, one after the other."""
    return tuple(
        LoadStep(f"s{i}", from_s + i * length_s, from_s + (i + 1) * length_s, tps, shares)
        for i, tps in enumerate(rates)
    )


def facts(*sent, tps=20.0, reached=None, shares=SHARES, length_s=2.5):
    """What was sent of each label in steps of 50 requests; reached: how many steps were."""
    steps = steps_of(*[tps] * len(sent), shares=shares, length_s=length_s)
    reached = len(sent) if reached is None else reached
    pairs = enumerate(zip(steps, sent, strict=True))
    kept = tuple(StepFacts(step, counts, i < reached) for i, (step, counts) in pairs)
    timeline = ((20.0, 19.0), (20.0, 21.0))
    return ForecastFacts("data/forecast.csv", 1.0, 1440.0, kept, 1.0, timeline)


def at_rates(*rates, **steps):
    """What keeps to a forecast of these rates: the requests of each step as they were asked for."""
    made = steps_of(*rates, **{"from_s": 0.0, **steps})
    sent = [round(step.tps * (step.to_s - step.from_s)) for step in made]
    kept = tuple(StepFacts(step, mixed(count)) for step, count in zip(made, sent, strict=True))
    return ForecastFacts("data/forecast.csv", 1.0, 1.0, kept, 1.0, ())


def mixed(count):
    """So many requests, dealt out by SHARES."""
    return {"search": count - count // 4, "pi": count // 4}


def target_of(number, text):
    """The target of visitor `number`, as the expression in the plan takes it from mix_text's text,
    word by word; None behind the last visitor."""
    place = (number * 0.6180339887498949) % 1
    for step in text.split(";"):
        words = step.split(" ")
        if number <= float(words[0]):
            for word in words:
                share = word.split(":")
                if len(share) == 2 and place < float(share[1]):
                    return share[0]
    return None
