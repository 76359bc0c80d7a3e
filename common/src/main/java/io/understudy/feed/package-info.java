/**
 * A feed: a consistent snapshot of a key range, then every later commit. Commits come in order, each once, with
 * progress marks; it ends only in an explicit error or a gap.
 *
 * <p>{@link io.understudy.feed.Feed} is pulled by its one consumer: nothing is read from the source faster than it is
 * consumed.
 */
@NullMarked
package io.understudy.feed;

import org.jspecify.annotations.NullMarked;
