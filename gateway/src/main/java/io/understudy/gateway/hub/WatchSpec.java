package io.understudy.gateway.hub;

import io.understudy.vocabulary.KeyRange;

/**
 * What a watcher wants to be told.
 *
 * @param startRevision of the first commit; 0 for the first one after now
 * @param previous whether with the keys as they stood before
 * @param noPuts leaves puts out
 * @param noDeletes leaves deletes out
 */
public record WatchSpec(KeyRange range, long startRevision, boolean previous, boolean noPuts, boolean noDeletes) {}
