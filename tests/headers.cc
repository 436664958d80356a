// Empty: a precompiled header needs a target with a source. This one is shared by all tests.
