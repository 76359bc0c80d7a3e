package io.understudy.gateway.hub;

import io.understudy.vocabulary.KeyRange;

/**
 * What a watcher receives.
 *
 * @param startRevision of the first commit; 0 for the first one after now
 * @param previous whether events include the previous entry
 * @param noPuts omits puts
 * @param noDeletes omits deletes
 */
public record WatchSpec(KeyRange range, long startRevision, boolean previous, boolean noPuts, boolean noDeletes) {}
