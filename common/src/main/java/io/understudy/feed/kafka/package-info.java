/**
 * A feed from the topics that a mirror writes, and what their records look like: {@link
 * io.understudy.feed.kafka.RecordFormat}.
 */
@NullMarked
package io.understudy.feed.kafka;

import org.jspecify.annotations.NullMarked;
