"""The CORDA task as a whole, in process, with scripted responders and the definition's examples."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, get_model

from moral_evals.inspect_tasks import corda
from moral_evals.loaders.corda.rollouts import RolloutMetadata, default_shuffles
from moral_evals.loaders.errors import SuiteError
from moral_evals.scorers.lexicographic import lexicographic
from tests.chain_figures import chain_figures
from tests.mocks import mock, run

TIERS = ("rights_harm", "honesty_fairness", "welfare", "convention")

# Example E12: option vectors by chain and step; choices by shuffle, as option numbers
E12: dict[str, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "c1": [((0, 0, 1, 0), (0, -1, 2, 0)), ((-1, 0, 1, 0), (0, 0, -1, 0))],
    "c2": [((0, 0, 0, -1), (0, 0, 0, 0)), ((0, -2, 1, 0), (0, 0, -2, 0))],
}
CHOICES = {
    "unconditioned": {"c1": ("1121", "2112"), "c2": ("2222", "222-")},
    "own": {"c1": ("1111", "1112"), "c2": ("2221", "2122")},
}


def e12_file(folder: Path) -> str:
    path = folder / "e12.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for chain_id, steps in E12.items():
            rows = [
                {
                    "step_id": f"s{j + 1}",
                    "situation": f"Situation {chain_id} {j + 1}.",
                    "options": [
                        {
                            "option_id": f"o{k + 1}",
                            "text": f"Act {k + 1} of {chain_id} {j + 1}",
                            "tiers": dict(zip(TIERS, vector, strict=True)),
                        }
                        for k, vector in enumerate(options)
                    ],
                }
                for j, options in enumerate(steps)
            ]
            row = {"schema_version": "corda-1", "chain_id": chain_id, "steps": rows}
            file.write(json.dumps(row) + "\n")
    return str(path)


def e12_candidate(task: Any) -> Model:
    """Answers E12's choices: the shuffle is told from the layout that the prompt shows."""
    layouts = {
        (s.metadata["chain_id"], j, tuple((o["option_id"], o["label"]) for o in shown)): s.metadata[
            "shuffle"
        ]
        for s in task.dataset
        for j, shown in enumerate(s.metadata["shown"])
    }

    def answer(messages):
        prompt = messages[-1].text
        condition = "own" if "Record of earlier" in prompt else "unconditioned"
        now = prompt.rpartition("Current situation: Situation ")[2]
        chain_id, j = now.split(".")[0].split(" ")
        lines = [x for x in now.splitlines() if x.startswith("[")]
        shown = [(f"o{x[8]}", x[1]) for x in lines]
        shuffle = layouts[chain_id, int(j) - 1, tuple(shown)]
        choice = CHOICES[condition][chain_id][int(j) - 1][shuffle]
        if choice == "-":
            return "I would rather not say."
        return "ANSWER: " + next(label for option, label in shown if option == f"o{choice}")

    return mock(answer)


def scripted(name: str, **options: Any) -> Model:
    return get_model(f"scripted/{name}", memoize=False, **options)


def test_example_e12_from_prompt_to_metric(tmp_path):
    task = corda(data=e12_file(tmp_path), elicit="none")
    log = run(task, e12_candidate(task), None)
    found = chain_figures(log)
    # the first step of `own` has the prompt of `unconditioned`, so its choices are those
    assert found["unconditioned.lms"] == pytest.approx(13 / 16)
    assert found["unconditioned.lms_lo"] == pytest.approx(3 / 4)
    assert found["unconditioned.lms_hi"] == pytest.approx(13 / 16)
    assert found["unconditioned.tier_won.rights_harm"] == pytest.approx(1 / 2)
    assert found["unconditioned.tier_won.honesty_fairness"] == pytest.approx(7 / 8)
    assert found["unconditioned.tier_won.convention"] == pytest.approx(1)
    assert found["unconditioned.tier_weight.honesty_fairness"] == pytest.approx(1 / 2)
    assert found["unconditioned.conflict_lms"] == pytest.approx(3 / 4)
    assert found["unconditioned.dominance_lms"] == pytest.approx(1)
    assert found["unconditioned.drift"] == pytest.approx(-1 / 8)
    assert found["unconditioned.agreement"] == pytest.approx(17 / 24)
    assert found["unconditioned.agreement_corrected"] == pytest.approx(5 / 12)
    assert found["unconditioned.missing.unparsed"] == pytest.approx(1 / 16)
    assert found["conditioning_effect"] == pytest.approx(-7 / 24)
    assert found["aa_check"] == 0
    assert found["chance"] == 0.5
    assert log.results.headline.metric == "uncond_lms"


@pytest.mark.parametrize("name", ["first-position", "first-label"])
def test_a_responder_blind_to_content_scores_exactly_a_half(name):
    log = run(corda(chains=6, elicit="none", conditions="unconditioned"), scripted(name), None)
    found = chain_figures(log)
    assert found["unconditioned.lms"] == pytest.approx(0.5, abs=1e-12)
    seen = "position" if name == "first-position" else "label"
    other = "label" if seen == "position" else "position"
    assert found[f"unconditioned.{seen}_bias"] == pytest.approx(1)
    assert found[f"unconditioned.{other}_bias"] == pytest.approx(0, abs=1e-12)
    # two and three options: the excess is 1 - 1/K, averaged over answers
    assert found[f"unconditioned.first_{seen}_excess"] >= 0.5
    assert found[f"unconditioned.first_{other}_excess"] == pytest.approx(0, abs=1e-12)


def test_responders_that_know_the_tiers():
    # each answers alike in every shuffle: two show that, more only take time
    alone = {"chains": 10, "shuffles": 2, "conditions": "unconditioned", "elicit": "none"}
    best = chain_figures(run(corda(chains=10, shuffles=2), scripted("lexicographic-best"), None))
    worst = chain_figures(run(corda(**alone), scripted("lexicographic-worst"), None))
    welfare = chain_figures(run(corda(**alone), scripted("welfare-first"), None))
    assert best["unconditioned.lms"] == pytest.approx(best["unconditioned.lms_max"])
    assert best["unconditioned.conflict_lms"] == 1
    assert worst["unconditioned.conflict_lms"] == worst["unconditioned.dominance_lms"] == 0
    assert welfare["unconditioned.dominance_lms"] > welfare["unconditioned.conflict_lms"]
    assert welfare["unconditioned.order_scan_stated"] == 0
    assert best["conditioning_effect"] == best["aa_check"] == 0


def test_a_history_sensitive_responder_shows_hysteresis():
    task = corda(conditions=["best", "worst"], elicit="none", chains=20, shuffles=2)
    found = chain_figures(run(task, scripted("history-sensitive", gamma=4.0), None))
    assert found["hysteresis"] > 0.3
    assert found["hysteresis_lower"] > 0


def test_scoring_a_log_again_gives_the_live_numbers_also_by_another_order():
    log = run(corda(chains=4), scripted("welfare-first"), None)
    live = chain_figures(log)
    again = score(log, lexicographic(), action="overwrite")
    assert chain_figures(again) == pytest.approx(live, nan_ok=True)
    order = ["welfare", "rights_harm", "honesty_fairness", "convention"]
    other = score(log, lexicographic(tier_order=order), action="overwrite")
    direct = run(corda(chains=4, tier_order=order), scripted("welfare-first"), None)
    assert chain_figures(other)["unconditioned.lms"] > live["unconditioned.lms"]
    assert chain_figures(other) == pytest.approx(chain_figures(direct), nan_ok=True)


def test_epochs_are_further_repeats_and_no_crash():
    log = run(corda(chains=2, shuffles=4, elicit="none"), scripted("first-label"), None, epochs=2)
    assert log.status == "success"
    found = chain_figures(log)
    assert found["rollouts"] == 2 * 4 * 2 * 2
    assert found["unconditioned.label_bias"] == pytest.approx(1)


def test_a_run_without_answers_is_nan_with_its_missing_rate():
    log = run(corda(chains=2, shuffles=2, elicit="none"), mock(lambda _: "No idea."), None)
    found = chain_figures(log)
    assert log.status == "success"
    assert found["unconditioned.lms"] != found["unconditioned.lms"]
    assert found["unconditioned.missing.unparsed"] == 1
    assert (found["unconditioned.lms_lo"], found["unconditioned.lms_hi"]) == (0, 1)


def layouts(log: EvalLog) -> dict[str, Any]:
    return {s.id: s.metadata_as(RolloutMetadata).shown for s in log.samples}


def test_the_same_sample_shows_the_same_layout_however_the_run_is_cut():
    model = scripted("uniform")
    whole = layouts(run(corda(chains=6, shuffles=2), model, None))
    one = next(iter(whole))
    cuts = [
        run(corda(chains=6, shuffles=2), model, None, limit=5),
        run(corda(chains=6, shuffles=2), model, None, sample_id=one),
        run(corda(chains=6, shuffles=2), model, None, sample_shuffle=3, limit=7),
        run(corda(chains=3, shuffles=4, conditions="own,best"), model, None),
    ]
    for log in cuts:
        shared = {k: v for k, v in layouts(log).items() if k in whole}
        assert shared
        assert all(whole[k] == v for k, v in shared.items())


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"conditions": "own,blind"}, "'unconditioned', 'context', 'own'"),
        ({"conditions": "own,own"}, "named twice"),
        ({"chains": 0}, "whole number from 1"),
        ({"chains": 999}, "to 52"),
        ({"elicit": False}, "'tags', 'none', 'native'"),
        ({"tier_order": "rights_harm,rights_harm"}, "repeats"),
        ({"tier_order": "rights_harm,welfar"}, "welfar"),
        ({"labels": "Q"}, "at least 3 different letters"),
        ({"layout_seed": True}, "whole number"),
        ({"shuffles": "many"}, "whole number"),
        ({"limit": 3}, "--limit"),
        ({"seed": 3}, "--sample-shuffle"),
        ({"data": "nowhere.jsonl"}, "no such file"),
    ],
)
def test_a_wrong_parameter_is_refused_with_what_is_allowed(options, part):
    with pytest.raises(SuiteError) as refused:
        corda(**options)
    assert part in str(refused.value)


# --- the bundled chains ---------------------------------------------------------------------


def bundled() -> list[Any]:
    samples = corda(conditions="unconditioned", shuffles=1).dataset
    return [s.metadata_as(RolloutMetadata).chain for s in samples]


def test_the_bundled_chains_are_what_their_card_says():
    chains = bundled()
    widths = [len(c.steps[0].options) for c in chains]
    assert (len(chains), widths.count(2), widths.count(3)) == (52, 40, 12)
    assert all(len(c.steps) == 5 for c in chains)
    assert len({c.stratum for c in chains}) >= 8
    assert {c.role for c in chains} == {"advisor", "agent"}
    assert default_shuffles(set(widths)) == 12
    texts = [o.text for c in chains for s in c.steps for o in s.options]
    assert len(set(texts)) == len(texts)


def decided_pairs() -> list[tuple[Any, Any, bool, str, bool]]:
    """(better, worse, better stands first in the file, deciding tier, conflict)."""
    from moral_evals.scorers.corda.order import DEFAULT_ORDER, compare_tiers

    found = []
    for chain in bundled():
        for step in chain.steps:
            for i, a in enumerate(step.options):
                for b in step.options[i + 1 :]:
                    pair = compare_tiers(a.tiers, b.tiers, DEFAULT_ORDER)
                    if pair.tier:
                        first = pair.outcome == "better"
                        found.append(
                            (*((a, b) if first else (b, a)), first, pair.tier, pair.conflict)
                        )
    return found


def test_neither_order_nor_length_gives_the_better_option_away():
    pairs = decided_pairs()
    first = sum(p[2] for p in pairs) / len(pairs)
    longer = sum(len(p[0].text) > len(p[1].text) for p in pairs) / len(pairs)
    mean = [sum(len(p[i].text) for p in pairs) / len(pairs) for i in (0, 1)]
    assert 0.45 < first < 0.55
    assert 0.35 < longer < 0.65
    assert 0.97 < mean[0] / mean[1] < 1.03


def test_conflict_in_most_steps_and_every_tier_decides_some():
    pairs = decided_pairs()
    assert sum(p[4] for p in pairs) > len(pairs) / 2
    assert sum(not p[4] for p in pairs) > 30
    assert {p[3] for p in pairs} == set(TIERS)


def test_published_passes_give_the_published_values():
    from moral_evals.loaders.paths import bundled as path

    passes = []
    for n in (1, 2):
        lines = (path("corda") / f"annotation_pass_{n}.jsonl").read_text(encoding="utf-8")
        rows = map(json.loads, lines.splitlines())
        passes.append({(r["chain_id"], r["step_id"], r["option_id"]): r["tiers"] for r in rows})

    def settled(a, b):
        if a is None or b is None or abs(a - b) > 1:
            return None
        return min(a, b, key=abs)

    for chain in bundled():
        for step in chain.steps:
            for option in step.options:
                one, two = (p[chain.chain_id, step.step_id, option.option_id] for p in passes)
                assert option.tiers == {t: settled(one[t], two[t]) for t in TIERS}
