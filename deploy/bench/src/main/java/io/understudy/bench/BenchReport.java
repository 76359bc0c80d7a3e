package io.understudy.bench;

/** What the user gets. */
public interface BenchReport {

    /** For people. */
    String toText();

    /** For programs: the same facts. */
    String toJson();
}
