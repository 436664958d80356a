// Nothing: a precompiled header wants a target with a source. This one is shared by all commands.
