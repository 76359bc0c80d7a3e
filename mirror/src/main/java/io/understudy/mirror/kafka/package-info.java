/**
 * Mirrors into Kafka: every change is one record of a topic, written once, in transactions. See {@link
 * io.understudy.feed.kafka.RecordFormat} for the records.
 */
@NullMarked
package io.understudy.mirror.kafka;

import org.jspecify.annotations.NullMarked;
