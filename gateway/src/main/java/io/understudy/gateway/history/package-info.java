/**
 * Past data that watchers need and the replica lacks, read from the source. It consists of {@linkplain
 * io.understudy.gateway.history.SourceHistory commits} from before the log, and {@linkplain
 * io.understudy.gateway.history.SourceEntries previous entries} of a commit.
 */
@NullMarked
package io.understudy.gateway.history;

import org.jspecify.annotations.NullMarked;
