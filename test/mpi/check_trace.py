"""Reads a file of ALLREDUCE_TRACE as a viewer would, and says what is wrong with it.

usage: check_trace.py FILE [NAME=VALUE...]

Always: each event has what its kind needs; the slices of a track nest; a round is inside its call; an arrow leads from
one rank to another, from slice to slice, and forward in time but for the clocks' error.  The ranks' calls of one number
overlap.  Also, as asked for:
  bytes=N     what the next two are about: calls of so many bytes
  rounds=N    each segment has N rounds on the rank that has most of them
  messages=N  each call has so many arrows of messages
  calls=N     so many calls of ranks are in the file, and those that were left out make up the rest
  lost=yes    some were left out
  only=N      calls of this number alone
  error=yes   the clocks differ; else they must be one
"""
import collections
import json
import sys
from decimal import Decimal

NEEDS = {"M": ("name", "args"), "X": ("ts", "dur", "name", "cat", "args"), "s": ("ts", "id", "name"), "f": ("ts", "id", "name", "bp")}
wrong = []


def complain(text):
    wrong.append(text)


def ns(us):
    return int(Decimal(us) * 1000)


def call_of(event):
    return event["args"]["comm"], event["args"]["call"]


def check_events(events):
    for e in events:
        missing = [name for name in ("pid", "tid") + NEEDS.get(e["ph"], ("a known phase",)) if name not in e]
        if missing:
            complain(f"without {missing}: {e}")


def check_nesting(slices):
    tracks = collections.defaultdict(list)
    for e in slices:
        tracks[e["pid"], e["tid"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"]))
    for track in tracks.values():
        around = []
        for begin, end, name in sorted(track, key=lambda s: (s[0], -s[1])):
            while around and around[-1][1] <= begin:
                around.pop()
            if around and end > around[-1][1]:
                complain(f"{name} at {begin} crosses {around[-1]}")
            around.append((begin, end, name))


def check_parts(slices):
    calls = {(e["pid"],) + call_of(e): e for e in slices if e["cat"] == "call"}
    for e in slices:
        call = calls.get((e["pid"],) + call_of(e))
        if not call:
            complain(f"of no call: {e}")
        elif ns(e["ts"]) < ns(call["ts"]) or ns(e["ts"]) + ns(e["dur"]) > ns(call["ts"]) + ns(call["dur"]):
            complain(f"outside its call: {e}")
    return calls.values()


def check_overlap(calls, error):
    ranks = collections.defaultdict(list)
    for e in calls:
        ranks[call_of(e)].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    for call, spans in ranks.items():
        if max(begin for begin, _ in spans) > min(end for _, end in spans) + 2 * error:
            complain(f"the ranks' calls {call} do not overlap: {spans}")


def check_arrows(events, slices, error):
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    if begins.keys() != ends.keys():
        complain("arrows without a begin or an end")
    rounds = collections.defaultdict(list)
    for e in slices:
        if e["cat"] == "round":
            rounds[e["pid"], e["tid"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    for number in begins.keys() & ends.keys():
        begin, end = begins[number], ends[number]
        if begin["pid"] == end["pid"]:
            complain(f"an arrow to its own rank: {begin}")
        if ns(begin["ts"]) > ns(end["ts"]) + 2 * error:
            complain(f"an arrow back in time: {begin} {end}")
        for e in begin, end:
            if not any(b <= ns(e["ts"]) <= t for b, t in rounds[e["pid"], e["tid"]]):
                complain(f"an arrow's end in no round: {e}")
    return collections.Counter(call_of(e) for e in begins.values())


def most_rounds(slices, calls):
    rounds = collections.Counter()
    for e in slices:
        if e["cat"] == "round":
            rounds[(e["pid"], e["args"]["schedule"], e["args"]["segment"]) + call_of(e)] += 1
    most = collections.Counter()
    for key, n in rounds.items():
        if key[3:] not in calls:
            continue
        most[key[1:]] = max(most[key[1:]], n)
    return set(most.values())


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file, parse_float=Decimal)
    asked = dict(word.split("=") for word in sys.argv[2:])
    events, about = trace["traceEvents"], trace["otherData"]
    error = ns(about["clock_error_us"] or 0)
    slices = [e for e in events if e["ph"] == "X"]
    check_events(events)
    check_nesting(slices)
    calls = check_parts(slices)
    check_overlap(calls, error)
    arrows = check_arrows(events, slices, error)
    if not calls:
        complain("no calls")
    if (error > 0) != (asked.get("error") == "yes"):
        complain(f"clock_error_us is {about['clock_error_us']}")
    told = {call_of(e) for e in calls if e["args"]["bytes"] == int(asked.get("bytes", 0))}
    rounds = most_rounds(slices, told)
    if "rounds" in asked and rounds != {int(asked["rounds"])}:
        complain(f"{rounds} rounds")
    if "messages" in asked and {arrows[call] for call in told} != {int(asked["messages"])}:
        complain(f"messages: {arrows}")
    if "calls" in asked and len(calls) + about["calls_lost"] != int(asked["calls"]):
        complain(f"{len(calls)} calls, and {about['calls_lost']} left out")
    if (about["calls_lost"] > 0) != (asked.get("lost") == "yes"):
        complain(f"{about['calls_lost']} calls left out")
    if "only" in asked and {e["args"]["call"] for e in calls} != {int(asked["only"])}:
        complain("other calls")
    for text in wrong[:10]:
        print(text)
    return 1 if wrong else 0


sys.exit(main())
