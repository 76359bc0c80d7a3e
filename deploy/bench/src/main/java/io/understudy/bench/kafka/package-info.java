/**
 * The mirror into Kafka, and a second one from there to another cluster, all real and on one machine. In reading order:
 * {@link io.understudy.bench.kafka.KafkaWork} says what is measured and what is to be reached, {@code Servers} are what it
 * takes, {@code TopicView} reads the topic, {@code KafkaMeasurements} take the figures, {@link
 * io.understudy.bench.kafka.KafkaBench} puts them in order.
 */
@NullMarked
package io.understudy.bench.kafka;

import org.jspecify.annotations.NullMarked;
