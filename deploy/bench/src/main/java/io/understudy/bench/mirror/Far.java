package io.understudy.bench.mirror;

/** Which cluster is a round trip away from the mirror; load and looks are always near to theirs. */
public enum Far {
    SOURCE,
    TARGET
}
