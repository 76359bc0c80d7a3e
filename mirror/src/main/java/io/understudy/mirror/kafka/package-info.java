/**
 * Mirrors into Kafka: every change is one record of a topic, written once, in transactions; {@link
 * io.understudy.feed.kafka.RecordFormat} says how records look.
 */
@NullMarked
package io.understudy.mirror.kafka;

import org.jspecify.annotations.NullMarked;
