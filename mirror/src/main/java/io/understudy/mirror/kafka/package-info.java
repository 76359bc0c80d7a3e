/**
 * Mirrors into a Kafka topic: every change is one record, {@link io.understudy.mirror.kafka.RecordFormat} says how it
 * looks.
 */
@NullMarked
package io.understudy.mirror.kafka;

import org.jspecify.annotations.NullMarked;
