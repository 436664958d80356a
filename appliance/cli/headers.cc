// Nothing: a precompiled header wants a target with a source. This one is shared by all that read command lines.
