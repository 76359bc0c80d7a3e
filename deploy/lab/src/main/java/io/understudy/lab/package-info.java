/**
 * The lab: everything real, on one machine. Starts a core cluster with a read-replica learner, a DR cluster, Kafka, a
 * gateway and a mirror, checks itself by sending a write through every path, and keeps it all running until stopped.
 *
 * <p>Reading order: {@code Lab} is one run from start to end; {@code ports} and {@code directory} are what must be
 * right before anything starts; {@code plan} starts the parts; {@code progress} shows it; {@code check} sends the
 * write.
 */
@NullMarked
package io.understudy.lab;

import org.jspecify.annotations.NullMarked;
