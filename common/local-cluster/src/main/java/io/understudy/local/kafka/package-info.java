/**
 * A real Kafka broker on this machine, and Kafka's MirrorMaker 2.
 *
 * <p>{@link io.understudy.local.kafka.LocalKafka} is one broker that is its own controller, {@link
 * io.understudy.local.kafka.LocalMirrorMaker} copies from one to another. Their classes are in folders of their own and
 * run in JVMs of their own, never in this one.
 */
@NullMarked
package io.understudy.local.kafka;

import org.jspecify.annotations.NullMarked;
