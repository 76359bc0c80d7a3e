/**
 * A real Kafka broker on this machine.
 *
 * <p>{@link io.understudy.local.kafka.LocalKafka} is one broker that is its own controller. Its classes are in a folder
 * of their own and run in a JVM of their own, never in this one.
 */
@NullMarked
package io.understudy.local.kafka;

import org.jspecify.annotations.NullMarked;
