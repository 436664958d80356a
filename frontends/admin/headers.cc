// Nothing: a precompiled header wants a target with a source.
