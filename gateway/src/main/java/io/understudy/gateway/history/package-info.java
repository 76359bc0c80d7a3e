/**
 * What watchers need of the past and the replica doesn't have, read from the source: {@linkplain
 * io.understudy.gateway.history.SourceHistory commits} from before the log, and {@linkplain
 * io.understudy.gateway.history.SourceEntries how keys stood} before a commit.
 */
@NullMarked
package io.understudy.gateway.history;

import org.jspecify.annotations.NullMarked;
