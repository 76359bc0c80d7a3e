package io.understudy.bench;

/** A process of a role. */
record Server(ProcessRole role, long pid) {}
