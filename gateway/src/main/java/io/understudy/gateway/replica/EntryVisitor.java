package io.understudy.gateway.replica;

/** Sees entries one by one. */
@FunctionalInterface
public interface EntryVisitor {

    /** Returns whether to go on. */
    boolean visit(Entry entry);
}
