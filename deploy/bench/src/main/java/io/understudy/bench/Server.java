package io.understudy.bench;

/** A process of a role. */
record Server(Role role, long pid) {}
