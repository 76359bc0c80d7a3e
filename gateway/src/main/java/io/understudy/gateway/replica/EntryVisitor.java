package io.understudy.gateway.replica;

import io.understudy.vocabulary.KeyValue;

/** Sees entries one by one. */
@FunctionalInterface
public interface EntryVisitor {

    /** Returns whether to go on. */
    boolean visit(KeyValue entry);
}
