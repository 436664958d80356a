#!/usr/bin/env python3
"""Sums what a ctest run did: one case for each GoogleTest case, one for each other test.

usage: count_results.py JUNIT.xml GTEST_XML_FOLDER
Prints "PASSED FAILED SKIPPED", then one line for each failure, with the beginning of its message.
"""
import os
import sys
import xml.etree.ElementTree as ElementTree

SAID_MAX = 400  # characters of a failure's text


def gtest_cases(path):
    """Passed, failed names, skipped of one binary; None when it left no report."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    passed, failed, skipped = 0, [], 0
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        failure = case.find("failure")
        if failure is not None:
            said = " | ".join(line.strip() for line in failure.get("message", "").splitlines() if line.strip())
            failed.append(f"{name}: {said[:SAID_MAX]}")
        elif case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    junit, folder = sys.argv[1:3]
    passed, failures, skipped = 0, [], 0
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        name = test.get("name")
        status = test.get("status")  # run, fail, notrun, disabled
        broken = status == "fail" or test.find("failure") is not None
        cases = gtest_cases(os.path.join(folder, name + ".xml"))
        if cases is not None:
            passed += cases[0]
            failures += [f"{name}: {case}" for case in cases[1]]
            skipped += cases[2]
            if broken and not cases[1]:
                failures.append(f"{name}: ended badly after its cases")
        elif broken:
            failures.append(name)
        elif status == "disabled":
            skipped += 1
        elif status == "notrun":
            # A test that says so by its exit code is skipped; one that could not be started is not.
            why = test.find("skipped")
            if why is not None and "SKIP_" in why.get("message", ""):
                skipped += 1
            else:
                failures.append(f"{name}: not run")
        else:
            passed += 1
    print(passed, len(failures), skipped)
    for failure in failures:
        print(failure)


main()
