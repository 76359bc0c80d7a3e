/**
 * The mirror into Kafka, and a second one from there to another cluster, all real and on one machine.
 *
 * <p>Reading order: {@link io.understudy.bench.kafka.KafkaWork} defines the works and their targets, {@code Servers}
 * are what it takes, {@code TopicView} reads the topic, {@code KafkaMeasurements} take the figures, {@link
 * io.understudy.bench.kafka.KafkaBench} orders them.
 */
@NullMarked
package io.understudy.bench.kafka;

import org.jspecify.annotations.NullMarked;
