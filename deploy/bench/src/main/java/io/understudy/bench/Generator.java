package io.understudy.bench;

/** What may send the requests. */
public enum Generator {
    /** h2load where it is on PATH, else our own. */
    AUTO,
    H2LOAD,
    OWN
}
