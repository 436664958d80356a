"""Medians, same-round ratios and what they say about targets.toml."""
import statistics
import tomllib
from pathlib import Path

TARGETS = tomllib.loads((Path(__file__).resolve().parent.parent / "targets.toml").read_text())


def good(runs):
    return [run for run in runs if run is not None and "failed" not in run and run["operations"] > 0]


def derive(run):
    """Adds figures that are made of two others."""
    if run.get("first_tenth_ops_per_s"):
        run["last_to_first"] = run["last_tenth_ops_per_s"] / run["first_tenth_ops_per_s"]
    if run.get("first_page_p50_us"):
        run["last_to_first_page"] = run["last_page_p50_us"] / run["first_page_p50_us"]
    if run.get("load") == "rest" and "client_cpu_s" in run:
        run["client_cpu_percent"] = 100 * run["client_cpu_s"] / run["seconds"]
    return run


def median(runs, metric):
    values = [run[metric] for run in good(runs) if metric in run]
    return statistics.median(values) if values else None


def ratios(ours, theirs, metric):
    """One value for each round in which both were measured."""
    pairs = zip(ours, theirs)
    return [a[metric] / b[metric] for a, b in pairs
            if "failed" not in a and "failed" not in b and a.get(metric) and b.get(metric)]


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "rounds": len(values)} if values else None


def judge(suite, results):
    """[{what, load, metric, peer, target, got, met}], met None when it could not be measured."""
    targets = TARGETS[suite]
    verdicts = []

    def add(what, load, metric, peer, target, got, met):
        verdicts.append({"what": what, "load": load, "metric": metric, "peer": peer, "target": target, "got": got, "met": met})

    def rate(load, peer, least):
        if load not in results:
            return
        got = spread(ratios(results[load].get("stoa", []), results[load].get(peer, []), "rate"))
        add(f"{load}: rate against {peer}", load, "rate", peer, f">= {least}", got, got["median"] >= least if got else None)

    for load, least in targets["rate_ratio_min"].items():
        rate(load, targets["peer"], least)
    for peer, loads in targets.get("other_peers", {}).items():
        for load, least in loads.items():
            rate(load, peer, least)
    for load, own in targets.get("own_rate_ratio_min", {}).items():
        if load not in results or own["of"] not in results:
            continue
        got = spread(ratios(results[load].get("stoa", []), results[own["of"]].get("stoa", []), "rate"))
        add(f"{load}: rate against Stoa's own {own['of']}", load, "rate", "stoa", f">= {own['min']}", got,
            got["median"] >= own["min"] if got else None)
    if "cpu_ratio_metric" in targets:
        metric = targets["cpu_ratio_metric"]
        for load in results:
            most = targets.get("cpu_ratio_max_of", {}).get(load, targets.get("cpu_ratio_max"))
            if most is None or not results[load].get(targets["peer"]):
                continue
            got = spread(ratios(results[load].get("stoa", []), results[load].get(targets["peer"], []), metric))
            add(f"{load}: server CPU per operation against {targets['peer']}", load, metric, targets["peer"], f"<= {most}", got,
                got["median"] <= most if got else None)
    for item in targets.get("absolute", []):
        if item["load"] not in results:
            continue
        values = [run[item["metric"]] for run in good(results[item["load"]].get("stoa", [])) if item["metric"] in run]
        got = spread(values)
        met = None
        if got:
            met = got["median"] <= item["max"] if "max" in item else got["median"] >= item["min"]
        limit = f"<= {item['max']}" if "max" in item else f">= {item['min']}"
        add(item["what"], item["load"], item["metric"], None, limit, got, met)
    return verdicts
