"""What a session may still send after its answers."""

from checks.model.hypothesis import Place
from checks.model.investigation import By, Price, Risk, SessionRecord, SessionStep, StepAnswer, StepSaid
from checks.model.settings import InvestigateSettings, Settings
from checks.run.step_packets import SessionBudget


def answer(by: By, packets: int, seconds: float) -> StepAnswer:
    step = SessionStep(key="s", declared="s", by=by, place=Place(), price=Price(risk=Risk.PROBE))
    return StepAnswer(step=step, said=StepSaid.DONE, at=0.0, packets=packets, seconds=seconds)


def test_what_was_sent_is_gone_and_what_people_took_is_not() -> None:
    settings = Settings(investigate=InvestigateSettings(seconds=60.0, datagrams=1000))
    answers = answer(By.ITSELF, 600, 20.0), answer(By.COMMAND, 80, 2.0), answer(By.HANDS, 0, 300.0)
    record = SessionRecord(started_at=0.0, cluster="prod", run_at=0.0, answers=answers)
    left = SessionBudget.left(settings, record)
    assert (left.seconds, left.datagrams, left.is_spent) == (38.0, 320, False)
    assert SessionBudget(0.0, 10).is_spent
    assert SessionBudget(1.0, 0).is_spent
    assert not SessionBudget.left(settings, None).is_spent
